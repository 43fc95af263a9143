"""Whether recomputed attention is what a network computed, up to what float32 rounds off."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from core.model.capture import read_calls
from core.model.errors import UnsupportedModelError
from core.model.trace import Trace

if TYPE_CHECKING:
    import torch

    from core.model.capture import Call
    from core.model.trace import Array, Layer

_ROUNDING = 8 * float(np.finfo(np.float32).eps)
# Of vectors in a padded batch against the same text alone, by their size. From the third layer on
# rounding adds up, while padding that leaks shows in the first two.
_SAME, _SAME_DEEP = 1e-4, 1e-2


class DiffersError(Exception):
    """Recomputed attention is not what the model computed."""


def compare_call(
    call: Call,
    output: torch.Tensor,
    weights: torch.Tensor | None,
    row: int,
    queries: int,
    keys: int,
) -> float:
    """Compare the call's rule with its own weights and output, for one text of the batch.

    `queries` and `keys` are its tokens in that call.

    Returns the largest difference of any weight; 0 if the network keeps them to itself.

    Raises
    ------
    DiffersError
        When weights or output differ by more than rounding.
    """
    trace = trace_of([call], row, queries, keys)
    attention, tolerance, error = trace.attention(0), _tolerance(trace), 0.0
    if weights is not None:
        own = weights[row, :, :queries, :keys].float().cpu().numpy()
        # Some functions return weights before the sink takes its share.
        shares = attention if call.sink is None else _per_row(attention)
        error = _largest_difference(shares, own if call.sink is None else _per_row(own))
        if not error <= tolerance:  # also for "not a number"
            raise DiffersError(f"by {error:.1g} ({tolerance:.0e} is accepted)")
    values = trace.values[0]  # (head, token, dim)
    written = output[row, :queries].float().cpu().numpy().swapaxes(0, 1)
    difference = _largest_difference(attention @ values, written)
    if not difference <= 2 * tolerance * max(1.0, np.abs(values).max()):
        raise DiffersError(f"its output by {difference:.1g}")
    return error


def trace_of(calls: list[Call], row: int, queries: int, keys: int) -> Trace:
    """What was recorded of one text of a batch, without its tokens."""
    try:
        return Trace("", (), *read_calls(calls, row, queries, keys), causal=False)
    except ValueError as error:
        raise UnsupportedModelError(f"{{name}} cannot be shown: its {error}.") from error


def _per_row(weights: Array) -> Array:
    """Weights as shares of their row."""
    shares: Array = weights / weights.sum(axis=-1, keepdims=True)
    return shares


def _largest_difference(ours: Array, own: Array) -> float:
    if ours.shape != own.shape:
        raise DiffersError(f"it has the shape {own.shape} instead of {ours.shape}")
    return float(np.abs(ours - own).max())


def _tolerance(trace: Trace) -> float:
    """What float32 rounds off in scores as large as one layer's queries and keys may give."""
    rule = trace.layers[0]
    norms = [np.linalg.norm(each[0], axis=-1).max() for each in (trace.queries, trace.kv_keys)]
    largest = rule.scaling * norms[0] * norms[1]
    if rule.mask is not None:
        largest += np.abs(
            rule.mask, where=np.isfinite(rule.mask), out=np.zeros_like(rule.mask)
        ).max()
    return _ROUNDING * float(1 + largest)


def are_same(trace: Trace, other: Trace) -> bool:
    """Whether two passes recorded the same vectors, but for rounding."""
    for name in ("queries", "kv_keys", "kv_values"):
        ours, theirs = getattr(trace, name), getattr(other, name)
        for layer, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            limit = (_SAME if layer < 2 else _SAME_DEEP) * max(1.0, np.abs(b).max())
            if not np.abs(a - b).max() <= limit:
                return False
    return True


def have_same_mask(rule: Layer, other: Layer) -> bool:
    """Whether two layers permit and add the same."""
    if rule.mask is None or other.mask is None:
        return rule.mask is other.mask
    return np.array_equal(rule.mask, other.mask)
