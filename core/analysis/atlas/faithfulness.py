"""How much of a head's attention over a corpus full space keeps, and how much its pictures keep.

All of them are compared with one target over the same pairs: see
:mod:`core.analysis.query_key.faithfulness`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from core.analysis.query_key.distance import pair_distances
from core.analysis.query_key.faithfulness import Faithfulness, compare
from core.analysis.query_key.target import target_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from core.analysis.atlas.blocks import CorpusPairs
    from core.analysis.projections.joint_embedding import Metric
    from core.analysis.query_key.target import Target
    from core.model.trace import Layer

    Floats = NDArray[np.float64]

MAX_PAIRS = 300_000  # of a head; longer corpora are measured on a sample of their sentences


def corpus_target(
    queries: Floats, keys: Floats, pairs: CorpusPairs, at: tuple[int, int], rule: Layer
) -> Target:
    """What pictures of one head are compared with.

    Parameters
    ----------
    queries, keys : the head's own vectors, (token of the corpus, dim).
    at : (layer, head), which decides what is permitted.
    rule : how the layer scales and caps its scores, without a mask.
    """
    return target_of(rule.logits(pairs.products(queries, keys, at)), pairs.rows(at))


def picture_faithfulness(
    queries: Floats,
    keys: Floats,
    pairs: CorpusPairs,
    at: tuple[int, int],
    target: Target,
    distance: Metric = "euclidean",
) -> Faithfulness:
    """What distances between these queries and keys keep, over all sentences.

    `queries` and `keys` are (token of the corpus, dim): vectors, or points of a picture.
    """
    rows = target.rows
    products = pairs.products(queries, keys, at)
    of_queries = rows.spread(np.einsum("td,td->t", queries, queries)[rows.queries])
    of_keys = np.einsum("td,td->t", keys, keys)[rows.keys]
    return compare(target, pair_distances(products, of_queries, of_keys, distance))
