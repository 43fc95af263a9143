"""Arrows from each patch to the key it attends to most, or to all above a weight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.analysis.images.patch_scores import cls_position, patches_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from core.analysis.arrays import Indices
    from core.model.trace import Array, Trace

KINDS = ("patch", "itself", "CLS", "register")


@dataclass(frozen=True, eq=False)
class Arrows:
    """Links of patch queries, in the order of the queries, the strongest of each query first."""

    queries: Indices  # place among the tokens, (arrow,)
    keys: Indices  # likewise
    weights: Array  # float32 (arrow,)
    kinds: NDArray[np.int8]  # index in `KINDS`, (arrow,): what the key is to the query


def strongest_keys(trace: Trace, layer: int, head: int) -> Arrows:
    """One arrow a patch, to its strongest key of any kind; the first of equals."""
    patches = patches_of(trace)
    weights = trace.attention(layer, head)[patches.tokens]
    keys = weights.argmax(axis=1)
    return _arrows(trace, np.arange(patches.count), keys, weights)


def links_above(trace: Trace, layer: int, head: int, weight: float) -> Arrows:
    """All links of patches with at least this weight; there are at most 1 / weight a patch.

    `ValueError` for a weight that is not above 0 and at most 1.
    """
    if not 0 < weight <= 1:
        raise ValueError(f"a weight above 0 and at most 1, not {weight}")
    weights = trace.attention(layer, head)[patches_of(trace).tokens]
    queries, keys = np.nonzero(weights >= np.float32(weight))
    order = np.lexsort((keys, -weights[queries, keys], queries))
    return _arrows(trace, queries[order], keys[order], weights)


def _arrows(trace: Trace, rows: Indices, keys: Indices, weights: Array) -> Arrows:
    """Arrows from patch `rows` to key tokens; `weights` are (patch, token)."""
    queries = rows + patches_of(trace).first
    kind_of_token = np.array(
        [KINDS.index("register") if token.special else 0 for token in trace.key_tokens], np.int8
    )
    cls = cls_position(trace)
    if cls is not None:
        kind_of_token[cls] = KINDS.index("CLS")
    kinds = np.where(keys == queries, KINDS.index("itself"), kind_of_token[keys]).astype(np.int8)
    return Arrows(queries, keys, weights[rows, keys], kinds)
