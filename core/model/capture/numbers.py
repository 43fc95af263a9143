"""The number that a network itself gives to a layer: in hybrids, only some layers attend.

Networks keep it for their caches, as ``layer_idx``: in the module that attends or, where layers
share one module (Zamba), in an argument or a variable of the modules that called it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from types import FrameType

_NAME = "layer_idx"


def number_of_layer() -> int | None:
    """The number, from 0, of the layer that this thread computes; None where no module says one.

    The innermost module decides, and what it was told before what it was built with.
    """
    from torch.nn import Module

    for frame in _callers():
        code = frame.f_code
        if code.co_varnames[:1] != ("self",):
            continue
        module = frame.f_locals.get("self")
        if not isinstance(module, Module):
            continue
        told = frame.f_locals.get(_NAME) if _NAME in code.co_varnames else None
        for number in (told, getattr(module, _NAME, None)):
            if isinstance(number, int) and number >= 0:
                return number
    return None


def _callers() -> Iterator[FrameType]:
    frame: FrameType | None = sys._getframe(2)  # noqa: SLF001 - the only way to the caller
    while frame is not None:
        yield frame
        frame = frame.f_back


def own_numbers(numbers: Sequence[int | None]) -> Sequence[int | None]:
    """The numbers of a network's attention calls, if they can be those of its layers.

    All are None where one is missing or they do not ascend: then a number counts something else.
    """
    known = [number for number in numbers if number is not None]
    ascend = all(before < after for before, after in pairwise(known))
    return known if len(known) == len(numbers) and ascend else [None] * len(numbers)
