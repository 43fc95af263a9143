"""What all copies of an input share before the first head that is replaced is computed once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from core.model.interventions.changing import Intervention

# What is made of each copy by itself, its batch in the first axis; experts get tokens of several.
_ROWWISE = {functional.linear, functional.layer_norm, functional.rms_norm, functional.gelu}
_FLAT = {torch.addmm}  # of all tokens of a batch in one axis, as GPT-2's maps are


class _Made(NamedTuple):
    function: Callable[..., Any]
    shape: torch.Size  # of what it was given
    result: torch.Tensor


class SharedPrefix(TorchFunctionMode):
    """A :class:`core.model.capture.Change` for passes of one network over copies of one input.

    The first pass, of one copy in which nothing is replaced, is recorded. In those that follow each
    map gives what it gave there, for as long as no head is replaced: calls come in the same order.
    A call of another function, or of another shape, is computed.
    """

    def __init__(self) -> None:
        super().__init__()
        self._made: list[_Made] = []
        self._before: list[int] = []  # how many were made before each layer's heads gave theirs
        self._next = self._end = 0
        self._copies = 1
        self._records = False
        self._intervention = Intervention()

    def begin(self, intervention: Intervention, copies: int) -> None:
        """Call before each pass."""
        self._records = not self._before
        self._intervention, self._copies = intervention, copies
        changed = min((*intervention.replaced, *intervention.cells), default=0)
        self._next, self._end = 0, 0 if self._records else self._before[changed]

    def forbidden(self, number: int) -> torch.Tensor | None:
        """The cells of a layer."""
        return self._intervention.forbidden(number)

    def output(self, number: int, output: torch.Tensor) -> torch.Tensor:
        """The outputs of a layer, (batch, token, head, dim), with those that are replaced."""
        if self._records:
            self._before.append(len(self._made))
        return self._intervention.output(number, output)

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401 - whatever the function returns
        """Take what was made in the recorded pass, or compute as usual."""
        given = kwargs or {}
        if func not in _ROWWISE | _FLAT or not (self._records or self._next < self._end):
            return func(*args, **given)
        states = args[1 if func in _FLAT else 0]
        if self._records:
            result = func(*args, **given)
            self._made.append(_Made(func, states.shape, result.clone()))  # networks add to it
            return result
        made = self._made[self._next]
        self._next += 1
        first, *rest = made.shape
        is_same = func is made.function and states.shape == (self._copies * first, *rest)
        if not is_same or (func in _ROWWISE and (first != 1 or len(rest) < 2)):
            return func(*args, **given)
        return made.result.repeat(self._copies, *[1] * (made.result.dim() - 1))
