"""An attention call, and the recorder of the thread that runs the model.

The recorder lives in a context variable, never on the module: several threads may run the same
model at once, each with its own recorder or none.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import torch

Check = Callable[["Call", "torch.Tensor", "torch.Tensor | None"], None]


@dataclass(frozen=True, eq=False)
class Call:
    """One attention call as the model made it, for a whole batch.

    `query` is (batch, head, token, dim), `key` and `value` (batch, key-value head, token, dim),
    `mask` broadcasts to (batch, head, token, token), boolean (True is permitted) or additive, like
    `bias`. `sink` is (head,), see :class:`core.model.trace.Layer`. `number` is the layer's, see
    :func:`number_of_layer`.
    """

    query: torch.Tensor
    key: torch.Tensor
    value: torch.Tensor
    mask: torch.Tensor | None
    bias: torch.Tensor | None
    causal: bool
    scaling: float
    softcap: float | None
    sink: torch.Tensor | None = None
    number: int | None = None


class Change(Protocol):
    """An intervention: how it changes the attention calls of a pass; `number` counts from 0."""

    def forbidden(self, number: int) -> torch.Tensor | None:
        """True where a query must not attend to a key; broadcasts to (batch, head, query, key)."""

    def output(self, number: int, output: torch.Tensor) -> torch.Tensor:
        """The output to use instead of the heads' own, (batch, token, head, dim), before W_O."""


@dataclass(eq=False)
class Recorder:
    """What one thread records, and changes.

    Attributes
    ----------
    exact : run each model's own eager function, with the masks made for it; otherwise PyTorch's
        scaled-dot-product attention, which is faster on long texts.
    check : called with each call, its output (batch, token, head, dim), and its weights (batch,
        head, token, token), or None where PyTorch does not return them.
    change : what an intervention alters; None where the model runs as it is.
    keeps : whether to keep the calls; False for a pass that only `check` needs.
    calls : in the order in which the model made them.
    count : calls so far.
    missed : attention of a watched network that could not be followed.
    """

    exact: bool
    check: Check | None = None
    change: Change | None = None
    keeps: bool = True
    calls: list[Call] = field(default_factory=list)
    count: int = 0
    missed: int = 0

    def note(
        self,
        call: Callable[[], Call],
        output: torch.Tensor,
        weights: torch.Tensor | None,
    ) -> None:
        """Count a computed call; `call` builds its record only where it is kept or checked."""
        self.count += 1
        if not self.keeps and self.check is None:
            return
        record = call()
        if self.keeps:
            self.calls.append(record)
        if self.check is not None:
            self.check(record, output, weights)


_recorder: ContextVar[Recorder | None] = ContextVar("headscope_recorder", default=None)


@contextmanager
def recording(recorder: Recorder) -> Iterator[Recorder]:
    """Record, and change, the attention calls that this thread makes in the block."""
    token = _recorder.set(recorder)
    try:
        yield recorder
    finally:
        _recorder.reset(token)


def current_recorder() -> Recorder | None:
    """The recorder of this thread, None outside of :func:`recording`."""
    return _recorder.get()


# What networks call a layer's number, for their caches: in the module that attends or, where layers
# share one module (Zamba), in an argument or a variable of the modules that called it.
_NAME = "layer_idx"


def number_of_layer() -> int | None:
    """The number, from 0, of the layer this thread is computing; None where no module has one.

    The innermost module decides; the number it was called with comes before its own.
    """
    from torch.nn import Module

    for frame, _ in traceback.walk_stack(sys._getframe(1)):  # noqa: SLF001 - the only way
        code = frame.f_code
        if code.co_varnames[:1] != ("self",):
            continue
        module = frame.f_locals.get("self")
        if not isinstance(module, Module):
            continue
        passed = frame.f_locals.get(_NAME) if _NAME in code.co_varnames else None
        for number in (passed, getattr(module, _NAME, None)):
            if isinstance(number, int) and number >= 0:
                return number
    return None


def own_numbers(numbers: Sequence[int | None]) -> Sequence[int | None]:
    """The numbers of a network's attention calls, if they can be layer numbers.

    All are None where one is missing or they do not ascend: then a number counts something else.
    """
    known = [number for number in numbers if number is not None]
    ascend = all(before < after for before, after in pairwise(known))
    return known if len(known) == len(numbers) and ascend else [None] * len(numbers)
