"""How one pair of tokens comes to its attention in one head: vectors, score, softmax."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.analysis.arrays import Floats
from core.analysis.pairs import exact_scores, head_vectors
from core.model.trace import Trace

SHOWN_KEYS = 4  # with the most attention, the pair's own among them


@dataclass(frozen=True, eq=False)
class Steps:
    """The numbers of one query and one key.

    Attributes
    ----------
    query, key : the vectors, float64 (dim,).
    product : their dot product.
    scaling : what the head multiplies it by, most often 1 / sqrt(dim).
    score : what softmax gets: scaled, and what this model adds or bounds.
    plain : whether the score is the scaled product and nothing else.
    rows : the query's largest shares, (key position, score, share), the largest first.
    rest : attention of the query to all other keys.
    rest_count : how many of those the query may see.
    sink : attention to the head's learned sink, which is no token; 0 for most models.
    """

    query: Floats
    key: Floats
    product: float
    scaling: float
    score: float
    plain: bool
    rows: tuple[tuple[int, float, float], ...]
    rest: float
    rest_count: int
    sink: float

    @property
    def usual_scaling(self) -> bool:
        """Whether the head divides by the square root of the dim."""
        return bool(np.isclose(self.scaling, 1 / np.sqrt(len(self.query))))


def attention_steps(trace: Trace, layer: int, head: int, query: int, key: int) -> Steps:
    """From the vectors of a pair (all from 0) to its attention, as its head computes it.

    Home works the same out in the browser (``arcs/reading.js``).
    """
    queries, keys = head_vectors(trace, layer, head)
    product, scaling = float(queries[query] @ keys[key]), trace.layers[layer].scaling
    scores = exact_scores(trace, layer, head)[query]
    row = trace.attention(layer, head)[query].astype(np.float64)
    order = np.argsort(-row, kind="stable").tolist()
    shown = order[:SHOWN_KEYS]
    if key not in shown:
        shown[-1] = key
    permitted = int(np.isfinite(scores).sum())
    shown = [position for position in shown if np.isfinite(scores[position])]
    score = float(scores[key])
    return Steps(
        query=queries[query],
        key=keys[key],
        product=product,
        scaling=scaling,
        score=score,
        plain=bool(np.isclose(score, product * scaling, rtol=1e-4, atol=1e-4)),
        rows=tuple((each, float(scores[each]), float(row[each])) for each in shown),
        rest=float(row.sum() - row[shown].sum()),
        rest_count=permitted - len(shown),
        sink=max(0.0, 1.0 - float(row.sum())) if trace.layers[layer].sink is not None else 0.0,
    )
