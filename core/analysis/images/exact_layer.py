"""What any attention weight of one layer of an image is worked out from, in the browser.

For an image of a thousand patches all weights of a layer are millions, but a page shows one row or
one column at a time: ``exp(score - log_sum)`` for the price of one dot product a weight. Queries,
keys and the logarithm of each row's sum are enough, whichever patch is pointed at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.analysis.arrays import one_thread
from core.analysis.images.patch_scores import patches_of
from core.analysis.pairs import exact_scores

if TYPE_CHECKING:
    from core.analysis.arrays import Floats
    from core.model.trace import Array, Trace

_FLOAT = 4  # bytes of a float32


@dataclass(frozen=True, eq=False)
class RowSums:
    """The logarithms of each row's sum of exponentials in one layer.

    Both are float32 (2, head, token): the logarithm, and what rounding took from it, so that their
    sum has the precision of float64.
    """

    whole: Array  # over all keys
    of_patches: Array  # over the keys that are patches


@dataclass(frozen=True, eq=False)
class ExactLayer:
    """One layer: ``weight = exp(scaling * <q_i, k_j> + bias_ij - log_sum_i)``, soft-capped."""

    queries: Array  # float32 (head, token, dim)
    keys: Array  # float32 (key-value head, token, dim)
    sums: RowSums
    bias: Array | None  # float32 (1 or head, token, token), what the model adds to its scores
    scaling: float
    softcap: float | None


def exact_layer(trace: Trace, layer: int, sums: RowSums | None = None) -> ExactLayer:
    """A layer (from 0) of an image; `ValueError` for a text.

    `sums` are those of :func:`row_sums`, where they are known already.
    """
    patches_of(trace)
    rule = trace.layers[layer]
    return ExactLayer(
        queries=trace.queries[layer],
        keys=trace.kv_keys[layer],
        sums=row_sums(trace, layer) if sums is None else sums,
        bias=_bias(rule.mask),
        scaling=rule.scaling,
        softcap=rule.softcap,
    )


def row_sums(trace: Trace, layer: int) -> RowSums:
    """The sums of a layer's rows, from one (token, token) matrix of float64 at a time."""
    patches, rule = patches_of(trace), trace.layers[layer]
    heads, tokens = trace.shape[1:3]
    whole, of_patches = np.empty((heads, tokens)), np.empty((heads, tokens))
    with one_thread():
        for head in range(heads):
            scores = exact_scores(trace, layer, head)
            whole[head] = _log_sums(scores)
            of_patches[head] = _log_sums(scores[:, patches.tokens])
            if rule.sink is not None:
                whole[head] = np.logaddexp(whole[head], rule.sink[head])
    return RowSums(_two_floats(whole), _two_floats(of_patches))


def exact_size(trace: Trace) -> int:
    """How many bytes all layers take, without working them out."""
    layers, heads, tokens, dim = trace.shape
    vectors = (heads + trace.kv_keys.shape[1]) * dim * tokens
    biases = sum(0 if rule.mask is None else rule.mask.size for rule in trace.layers)
    return _FLOAT * (layers * (vectors + 4 * heads * tokens) + biases)


def _two_floats(values: Floats) -> Array:
    """Float64 as two float32 whose sum is nearly as precise: (2, *shape)."""
    rounded = values.astype(np.float32)
    return np.stack([rounded, (values - rounded).astype(np.float32)])


def _log_sums(scores: Floats) -> Floats:
    """The logarithm of each row's sum of exponentials, (token,)."""
    largest = scores.max(axis=1)
    return np.asarray(largest + np.log(np.exp(scores - largest[:, None]).sum(axis=1)))


def _bias(mask: Array | None) -> Array | None:
    """What is added to scores, (1 or head, token, token); None where that is nothing."""
    if mask is None or not mask.any():
        return None
    return mask[None] if mask.ndim == 2 else mask
