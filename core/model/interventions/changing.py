"""What an intervention alters: outputs of heads, and cells before the softmax."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import torch


class Replacement(NamedTuple):
    """A head's new output, (token, dim) or what broadcasts to it; `row` is its row in the batch."""

    layer: int
    head: int
    values: torch.Tensor | float
    row: int = 0


@dataclass(frozen=True, eq=False)
class Intervention:
    """A :class:`core.model.capture.calls.Change`; layers are attention calls of the pass, from 0.

    Attributes
    ----------
    replaced : heads whose output before W_O is replaced.
    cells : by layer, True where a query must not attend to a key (Geva et al. 2023, section 3):
        broadcasts to (batch, head, query, key). Weights of the other keys grow accordingly.
        PyTorch's own function takes no such mask: the model's `way` must not be "fast".
    """

    replaced: Sequence[Replacement] = ()
    cells: Mapping[int, torch.Tensor] = field(default_factory=dict)

    def forbidden(self, number: int) -> torch.Tensor | None:
        """The cells of a layer."""
        return self.cells.get(number)

    def output(self, number: int, output: torch.Tensor) -> torch.Tensor:
        """The outputs of a layer, (batch, token, head, dim), with the replacements."""
        replacements = [each for each in self.replaced if each.layer == number]
        if not replacements:
            return output
        changed = output.clone()
        for each in replacements:
            changed[each.row, :, each.head] = each.values
        return changed


UNCHANGED = Intervention()
