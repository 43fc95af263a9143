"""Whether recomputed attention is what a network computed, up to rounding."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from core.model.capture.calls import Call
from core.model.capture.reading import reader_of
from core.model.errors import UnsupportedModelError
from core.model.trace import Array, Layer, Trace

if TYPE_CHECKING:
    import torch


_FLOAT32 = float(np.finfo(np.float32).eps)
_ROUNDINGS = 8  # of float32, in a score
# Relative tolerances for vectors in a padded batch against the same text alone. From the third
# layer on rounding adds up, while leaking padding shows in the first two.
_SAME, _SAME_DEEP = 1e-4, 1e-2
_SAME_HALF, _SAME_DEEP_HALF = 4, 16  # times the rounding of bfloat16 or float16
_ANYTHING = 50.0  # a shift of log-odds that allows any weight, and overflows nowhere


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

    `queries` and `keys` are the numbers of its tokens in that call.

    Returns the largest difference of any weight; 0 if the network does not return them.

    Raises
    ------
    DiffersError
        When weights or output differ by more than rounding.
    """
    trace = trace_of([call], row, queries, keys)
    eps = max(map(rounding, (call.query, call.key, call.value, output)))
    attention, values, error = trace.attention(0), trace.values[0], 0.0
    if weights is not None:
        own = weights[row, :, :queries, :keys].float().cpu().numpy()
        shares, rows = attention, 1.0
        if call.sink is not None:  # some functions return weights before the sink takes its share
            shares, own, rows = _per_row(attention), _per_row(own), attention.sum(-1, keepdims=True)
        differences, tolerance = _differences(shares, own), _tolerance(trace, shares, eps, rows)
        error = float(differences.max())
        if not (differences <= tolerance).all():  # also for "not a number"
            raise DiffersError(f"by {error:.1g} ({np.max(tolerance):.0e} is accepted)")
    written = output[row, :queries].float().cpu().numpy().swapaxes(0, 1)
    differences = _differences(attention @ values, written)
    if not (differences <= _tolerance_of_output(trace, attention, values, eps)).all():
        raise DiffersError(f"its output by {differences.max():.1g}")
    return error


def trace_of(calls: list[Call], row: int, queries: int, keys: int) -> Trace:
    """What was recorded for one text of a batch, without its tokens."""
    try:
        return Trace("", (), *reader_of(calls)(row, queries, keys), causal=False)
    except ValueError as error:
        raise UnsupportedModelError(f"{{name}} cannot be shown: its {error}.") from error


def _per_row(weights: Array) -> Array:
    """Weights divided by the sum of their row."""
    shares: Array = weights / weights.sum(axis=-1, keepdims=True)
    return shares


def _differences(ours: Array, own: Array) -> Array:
    if ours.shape != own.shape:
        raise DiffersError(f"it has the shape {own.shape} instead of {ours.shape}")
    differences: Array = np.abs(ours - own)
    return differences


def rounding(tensor: torch.Tensor) -> float:
    """The gap between 1 and the next number of a tensor's type."""
    import torch

    return torch.finfo(tensor.dtype).eps


def _tolerance(
    trace: Trace, weights: Array, eps: float, rows: float | Array = 1.0
) -> float | Array:
    """The rounding error to expect in the weights of one layer.

    One number for float32, else one for each weight; `rows` are the sums of their rows.
    """
    if eps > _FLOAT32:
        return _coarse_tolerance(trace, weights, eps) + eps * eps / rows
    return _ROUNDINGS * eps * float(1 + _largest_score(trace))


def _tolerance_of_output(
    trace: Trace, attention: Array, values: Array, eps: float
) -> float | Array:
    """The rounding error to expect in heads' outputs; for coarse types, one for each number."""
    tolerance = _tolerance(trace, attention, eps)
    if isinstance(tolerance, float):
        return 2 * tolerance * max(1.0, float(np.abs(values).max()))
    tolerances: Array = tolerance @ np.abs(values) + eps * np.abs(attention @ values) + eps * eps
    return tolerances


def _largest_score(trace: Trace) -> float:
    """An upper bound on one layer's scores and their parts, which float32 rounds as it adds up."""
    rule = trace.layers[0]
    norms = [np.linalg.norm(each[0], axis=-1).max() for each in (trace.queries, trace.kv_keys)]
    largest = float(rule.scaling * norms[0] * norms[1])
    if rule.mask is not None:
        largest += np.abs(
            rule.mask, where=np.isfinite(rule.mask), out=np.zeros_like(rule.mask)
        ).max()
    return largest


def _coarse_tolerance(trace: Trace, weights: Array, eps: float) -> Array:
    """What bfloat16 or float16 rounds off in each weight, (head, token, token).

    Sums are added up in float32, so only results are rounded, each by at most eps / 2 of its size:
    product, scaling, cap, mask, and subtraction of the largest (twice that size) make the scores of
    a row uncertain by 3 eps of the largest, and the difference of two by 6 eps. The logarithm of a
    weight's odds, w / (1 - w), moves by no more than the scores of the others move against its own.
    Then exponential and quotient are rounded.
    """
    scores = np.where(weights > 0, trace.scores(0), 0)
    largest = np.abs(scores).max(axis=-1, keepdims=True)
    sink = trace.layers[0].sink
    if sink is not None:
        largest = np.maximum(largest, np.abs(sink)[:, None, None])
    shift = np.exp(np.minimum(6 * eps * largest, _ANYTHING))
    up, down = (weights / (weights + (1 - weights) * each) for each in (1 / shift, shift))
    tolerance: Array = np.maximum(up - weights, weights - down) + 2 * eps * weights
    return tolerance


def are_same(trace: Trace, other: Trace, eps: float = _FLOAT32) -> bool:
    """Whether two passes recorded the same vectors, up to rounding of that size."""
    same, deep = _SAME, _SAME_DEEP
    if eps > _FLOAT32:
        same, deep = max(same, _SAME_HALF * eps), max(deep, _SAME_DEEP_HALF * eps)
    for name in ("queries", "kv_keys", "kv_values"):
        ours, theirs = getattr(trace, name), getattr(other, name)
        for layer, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            limit = (same if layer < 2 else deep) * max(1.0, np.abs(b).max())
            if not np.abs(a - b).max() <= limit:
                return False
    return True


def have_same_mask(rule: Layer, other: Layer) -> bool:
    """Whether two layers permit and add the same."""
    if rule.mask is None or other.mask is None:
        return rule.mask is other.mask
    return np.array_equal(rule.mask, other.mask)
