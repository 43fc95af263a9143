"""What an intervention alters, outputs of heads and cells before the softmax, and its pass."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from core.model.capture.forward import recorded
from core.model.errors import UnsupportedModelError
from core.model.refusal import refusing_to

if TYPE_CHECKING:
    import torch

    from core.model.capture import Change
    from core.model.interventions.measures import Measured
    from core.model.running.loaded import LoadedModel


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


@refusing_to("run")
def run(
    model: LoadedModel,
    /,
    way: Measured,
    change: Change,
    copies: int = 1,
    network: Callable[..., Any] | None = None,
    **options: bool,
) -> Any:  # noqa: ANN401 - whatever the network gives
    """The output under a change of so many copies of what is measured, by `way`'s network.

    Or by another `network` around the model's. Raises `UnsupportedModelError` when it attends in a
    way that cannot be followed on this input.
    """
    from torch.overrides import TorchFunctionMode

    forbids = isinstance(change, Intervention) and change.cells
    # The fast function takes no mask of its own making.
    attends = "exact" if model.way == "fast" and forbids else model.way
    mode = change if isinstance(change, TorchFunctionMode) else nullcontext()
    with mode, recorded(attends, copies, {way.tokens}, change=change, keeps=False) as recorder:
        output = (network or way.network)(**way.inputs(copies), **options)
    if recorder.missed or recorder.count != model.layers:
        raise UnsupportedModelError(
            "{name} cannot be intervened on: its attention cannot be followed on this input.",
            "Use a shorter text, or another model.",
        )
    return output
