"""Which module multiplies what the heads of a layer give: the output projection W_O.

It is the first linear map whose input is the very output of attention. Where something comes in
between (a gate, a norm), a layer has no such map, and the contribution of a head cannot be told.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch.overrides import TorchFunctionMode

from core.model.capture.calls import Check

if TYPE_CHECKING:
    from transformers import PreTrainedModel


_INPUT = {"linear": 0, "addmm": 1}  # which argument is multiplied by the weights after it


def output_modules(
    network: PreTrainedModel, run: Callable[[Check], object]
) -> tuple[str, ...] | None:
    """The name of the module that is W_O in each layer that attends; None if one has none.

    `run` is a forward pass, recorded with the check that it is given.
    """
    with _OutputMaps() as maps:
        run(lambda _call, output, _weights: maps.follow(output))
    names = {id(weight): name for name, weight in network.named_parameters()}
    found = [names.get(id(weight), "").removesuffix(".weight") for weight in maps.weights]
    return tuple(found) if all(found) else None


class _OutputMaps(TorchFunctionMode):
    """Collects, for each attention call of this thread, the weights that its output meets."""

    def __init__(self) -> None:
        super().__init__()
        self.weights: list[torch.Tensor | None] = []  # None where the output meets none
        self._output: torch.Tensor | None = None

    def follow(self, output: torch.Tensor) -> None:
        """Wait for the output of a call, (batch, token, head, dim)."""
        self._output = output.flatten(2)
        self.weights.append(None)

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401 - whatever the function returns
        """Compute as usual, and compare the input of linear maps with the output waited for."""
        place = _INPUT.get(getattr(func, "__name__", ""))
        if self._output is not None and place is not None and len(args) > place + 1:
            given, weight = args[place : place + 2]
            same = given.numel() == self._output.numel()
            if same and torch.equal(given.reshape(self._output.shape), self._output):
                self.weights[-1], self._output = weight, None
        return func(*args, **(kwargs or {}))
