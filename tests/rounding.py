"""How far two passes through a network may differ: every processor rounds off in its own way.

Kernels add up in another order with another instruction set, number of threads or size of batch, so
two passes of one text agree up to float32's rounding of the largest numbers that were added up, and
not to a fixed number of decimals.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.model import Trace

EPS = float(np.finfo(np.float32).eps)
# Of the largest number. A sum of n terms is off by about sqrt(n) roundings, and one layer feeds the
# next: tiny and bundled models stay below 16 between any two of the processors tried.
ROUNDINGS = 64


def rounding_of(*numbers: Any) -> float:
    """What passes may differ by where the largest of these `numbers` were added up."""
    sizes = [np.abs(np.asarray(each, dtype=float)) for each in numbers]
    largest = max((float(each[np.isfinite(each)].max(initial=0.0)) for each in sizes), default=0.0)
    return ROUNDINGS * EPS * largest


def assert_same_pass(ours: Any, theirs: Any, *added: Any, where: str = "") -> None:
    """The same numbers from two passes, up to rounding of the largest of them or of those `added`.

    `added` are larger numbers whose difference these are: two logits, the two ends of an effect.
    """
    atol = rounding_of(theirs, *added)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=atol, equal_nan=True, err_msg=where)


def assert_same_shares(ours: Any, theirs: Any, trace: Trace, where: str = "") -> None:
    """The same shares of attention: softmax passes on what scores of their size round off."""
    scores = [np.abs(trace.scores(layer)) for layer in range(trace.shape[0])]
    largest = max(float(each[np.isfinite(each)].max(initial=0.0)) for each in scores)
    assert_same_pass(ours, theirs, 1 + largest, where=where)
