"""What follows the passes of one network over one input: the first is recorded, others use it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from core.model.interventions.changing import UNCHANGED, Intervention

# What is made of each copy by itself, its batch in the first axis; experts get tokens of several.
_ROWWISE = {functional.linear, functional.layer_norm, functional.rms_norm, functional.gelu}
_FLAT = {torch.addmm}  # of all tokens of a batch in one axis, as GPT-2's maps are


class Follower(TorchFunctionMode):
    """A :class:`core.model.capture.Change` that is also told of the functions of its passes."""

    def __init__(self) -> None:
        super().__init__()
        self.change = UNCHANGED
        self.copies = 0
        self.records = True  # in the first pass

    def begin(self, network: Any, change: Intervention, copies: int) -> Any:  # noqa: ANN401 - a network
        """The network to run in place of this one, before each pass."""
        self.records, self.change, self.copies = self.copies == 0, change, copies
        return network

    def forbidden(self, number: int) -> torch.Tensor | None:
        """The cells of a layer."""
        return self.change.forbidden(number)

    def output(self, number: int, output: torch.Tensor) -> torch.Tensor:
        """The outputs of a layer, (batch, token, head, dim), with those that are replaced."""
        return self.change.output(number, output)

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401 - whatever the function returns
        """Compute as usual."""
        return func(*args, **(kwargs or {}))


class _Made(NamedTuple):
    function: Callable[..., Any]
    shape: torch.Size  # of what it was given
    result: torch.Tensor


class SharedPrefix(Follower):
    """What all copies share before the first layer that is changed is computed once.

    Up to there each map gives what it gave in the recorded pass: calls come in the same order. A
    call of another function, or of another shape, is computed.
    """

    def __init__(self) -> None:
        super().__init__()
        self._made: list[_Made] = []
        self._before: list[int] = []  # how many were made before each layer's heads gave theirs
        self._next = self._end = 0

    def begin(self, network: Any, change: Intervention, copies: int) -> Any:  # noqa: ANN401 - a network
        """The network, whose maps give what they gave until the first layer that is changed."""
        super().begin(network, change, copies)
        first = min((*(each.layer for each in change.replaced), *change.cells), default=0)
        self._next, self._end = 0, 0 if self.records else self._before[first]
        return network

    def output(self, number: int, output: torch.Tensor) -> torch.Tensor:
        """As of any follower."""
        if self.records:
            self._before.append(len(self._made))
        return super().output(number, output)

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401 - whatever the function returns
        """Take what was made in the recorded pass, or compute as usual."""
        given = kwargs or {}
        if func not in _ROWWISE | _FLAT or not (self.records or self._next < self._end):
            return func(*args, **given)
        states = args[1 if func in _FLAT else 0]
        if self.records:
            result = func(*args, **given)
            self._made.append(_Made(func, states.shape, result.clone()))  # networks add to it
            return result
        made = self._made[self._next]
        self._next += 1
        first, *rest = made.shape
        is_same = func is made.function and states.shape == (self.copies * first, *rest)
        if not is_same or (func in _ROWWISE and (first != 1 or len(rest) < 2)):
            return func(*args, **given)
        return made.result.repeat(self.copies, *[1] * (made.result.dim() - 1))
