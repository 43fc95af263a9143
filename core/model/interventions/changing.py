"""What an intervention alters: outputs of heads before W_O, and cells before the softmax."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import torch


class Replacement(NamedTuple):
    """What a head gives instead, (token, dim) or what broadcasts to it; `row` is of the batch."""

    row: int
    head: int
    values: torch.Tensor | float


@dataclass(frozen=True, eq=False)
class Intervention:
    """A :class:`core.model.capture.Change`; layers are attention calls of the pass, from 0.

    Attributes
    ----------
    replaced : by layer, the heads whose output before W_O is another.
    cells : by layer, True where a query must not attend to a key (Geva et al. 2023, section 3):
        broadcasts to (batch, head, query, key). Weights of the other keys grow accordingly.
    """

    replaced: Mapping[int, Sequence[Replacement]] = field(default_factory=dict)
    cells: Mapping[int, torch.Tensor] = field(default_factory=dict)

    def forbidden(self, number: int) -> torch.Tensor | None:
        """The cells of a layer."""
        return self.cells.get(number)

    def output(self, number: int, output: torch.Tensor) -> torch.Tensor:
        """The outputs of a layer, (batch, token, head, dim), with those that are replaced."""
        own = self.replaced.get(number)
        if not own:
            return output
        changed = output.clone()
        for row, head, values in own:
            changed[row, :, head] = values
        return changed
