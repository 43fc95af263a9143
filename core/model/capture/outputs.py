"""Find the module that multiplies the heads' outputs in a layer: the output projection W_O.

It is the first linear map whose input is exactly the output of attention. Where something comes in
between (a gate, a norm), a layer has no such map, and a head's contribution is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch.overrides import TorchFunctionMode

from core.model.capture.calls import Check

if TYPE_CHECKING:
    from transformers import PreTrainedModel


_INPUT = {"linear": 0, "addmm": 1}  # which argument is the input; the weights follow it
_SUMS = {"add", "add_", "__add__", "__radd__", "__iadd__"}


def output_modules(
    network: PreTrainedModel, run: Callable[[Check], object]
) -> tuple[str, ...] | None:
    """The name of the W_O module in each layer that attends; None if any layer has none.

    `run` makes a forward pass, recorded with the check passed to it.
    """
    with _OutputMaps() as maps:
        run(lambda _call, output, _weights: maps.follow(output))
    names = {id(weight): name for name, weight in network.named_parameters()}
    modules = [names.get(id(weight), "").removesuffix(".weight") for weight in maps.weights]
    return tuple(modules) if all(modules) else None


def adds_outputs(network: PreTrainedModel, names: Sequence[str], run: Callable[[], object]) -> bool:
    """Whether the output of each of these W_O modules is added to something unchanged.

    It is not where a norm or a factor comes in between. `run` makes the pass.
    """
    weights = [network.get_submodule(name).weight for name in dict.fromkeys(names)]
    with _Additions({id(weight) for weight in weights}) as additions:
        run()
    return additions.given > 0 and additions.added == additions.given


class _Additions(TorchFunctionMode):
    """Counts how often some weights are multiplied by, and how often the product is added."""

    def __init__(self, weights: set[int]) -> None:
        super().__init__()
        self.given = self.added = 0
        self._weights = weights
        self._product: torch.Tensor | None = None

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401 - whatever the function returns
        """Compute as usual; look for the product of a weight, then for its sum with anything."""
        result = func(*args, **(kwargs or {}))
        name = getattr(func, "__name__", "")
        place = _INPUT.get(name)
        if place is not None and len(args) > place + 1 and id(args[place + 1]) in self._weights:
            self.given += 1
            self._product = result
        elif name in _SUMS and any(map(self._is_product, args[:2])):
            self.added += 1
            self._product = None
        return result

    def _is_product(self, value: object) -> bool:
        product = self._product
        if product is None or not isinstance(value, torch.Tensor):
            return False
        return value.numel() == product.numel() and torch.equal(value.flatten(), product.flatten())


class _OutputMaps(TorchFunctionMode):
    """Collects, for each attention call of this thread, the weights that multiply its output."""

    def __init__(self) -> None:
        super().__init__()
        self.weights: list[torch.Tensor | None] = []  # None where there are none
        self._output: torch.Tensor | None = None

    def follow(self, output: torch.Tensor) -> None:
        """Look out for the output of a call, (batch, token, head, dim)."""
        self._output = output.flatten(2)
        self.weights.append(None)

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401 - whatever the function returns
        """Compute as usual, and compare the input of linear maps with the awaited output."""
        place = _INPUT.get(getattr(func, "__name__", ""))
        if self._output is not None and place is not None and len(args) > place + 1:
            states, weight = args[place : place + 2]
            same = states.numel() == self._output.numel()
            if same and torch.equal(states.reshape(self._output.shape), self._output):
                self.weights[-1], self._output = weight, None
        return func(*args, **(kwargs or {}))
