"""How long the queries and keys of heads are."""

from __future__ import annotations

import numpy as np

from core.analysis.arrays import Floats
from core.model.trace import Trace


def norm_disparity(trace: Trace) -> dict[str, Floats]:
    """Lengths of queries and keys of every head, (layer, head) each, in the model's own units.

    ``query_norm``, ``key_norm``: mean length; ``norm_difference``: mean |q| - mean |k|
    (AttentionViz, Yeh et al. 2023, section 5.1.1); ``norm_log_ratio``: log2 of median |q| over
    median |k|, nan where either is 0.
    """
    query, key = (
        np.linalg.norm(vectors, axis=-1).astype(np.float64)
        for vectors in (trace.queries, trace.kv_keys)
    )
    key = np.repeat(key, trace.group, axis=1)
    query_median, key_median = np.median(query, axis=-1), np.median(key, axis=-1)
    ratio = np.full(query_median.shape, np.nan)
    defined = (query_median > 0) & (key_median > 0)
    ratio[defined] = np.log2(query_median[defined] / key_median[defined])
    return {
        "query_norm": query.mean(axis=-1),
        "key_norm": key.mean(axis=-1),
        "norm_difference": query.mean(axis=-1) - key.mean(axis=-1),
        "norm_log_ratio": ratio,
    }
