"""One head down to its dimensions: q, k, their products, scores, softmax.

Nothing here needs tokens to be words: the patches of an image will do.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from core.analysis.arrays import Bools, Floats
from core.analysis.pairs import permitted_pairs
from core.model.trace import Array, Layer, Trace
from core.vocabulary import head_name

TOLERANCE = 0.1  # of a dot product: how near the sum of some products must come to it
ROUNDING = 1e-6  # of the summed sizes of the products: a sum below it is float32's own noise


@dataclass(frozen=True, eq=False)
class NeuronHead:
    """What one head computes its attention from."""

    name: str  # as people read it: "L4 H2"
    queries: Array  # float32 (token, dim), rotated by position where the model does so
    keys: Array  # likewise, float32 (key token, dim)
    rule: Layer  # of this head alone: its mask is (token, key token) or None, its sink (1,) or None
    key_head: int  # the one this head reads
    sharers: range  # the query heads that read the same keys, this one among them

    def products(self, query: int) -> Floats:
        """Element by element, float64 (key token, dim): how much each dimension adds to q.k."""
        return self.queries[query].astype(np.float64) * self.keys

    def permitted(self, query: int) -> Bools:
        """Which tokens this query may attend to, (key token,)."""
        return np.isfinite(self.scores(query))

    def scores(self, query: int) -> Floats:
        """Scaled, soft-capped and masked, float64 (key token,); ``-inf`` where not permitted."""
        row = None if self.rule.mask is None else self.rule.mask[query]
        return replace(self.rule, mask=row).logits(self.products(query).sum(axis=1))

    def weights(self, query: int) -> Floats:
        """Attention of this query to every token, float64 (key token,); a sink takes its share."""
        return self.rule.weights(self.scores(query)[None, None])[0, 0]

    def dimensions_needed(self, query: int, key: int) -> int | None:
        """How many of the largest products come near the dot product of this pair."""
        return dimensions_needed(self.products(query)[key])


def read_head(trace: Trace, layer: int, head: int) -> NeuronHead:
    """What a trace holds of one head (layer and head from 0)."""
    rule, key_head = trace.layers[layer], head // trace.group
    mask = rule.mask if rule.mask is None or rule.mask.ndim == 2 else rule.mask[head]
    if mask is not None and not mask.any():
        mask = None
    return NeuronHead(
        name=head_name(trace, layer, head),
        queries=trace.queries[layer, head],
        keys=trace.kv_keys[layer, key_head],
        rule=replace(
            rule, mask=mask, sink=None if rule.sink is None else rule.sink[head : head + 1]
        ),
        key_head=key_head,
        sharers=range(key_head * trace.group, (key_head + 1) * trace.group),
    )


def dimensions_needed(products: Floats) -> int | None:
    """The smallest m for which the m largest of these products, (dim,), make their sum.

    Products have both signs: the sum of the m largest, and of every longer run of them, must be
    within 10 % of the whole. None where they cancel or are all zero.
    """
    running_sums = np.cumsum(products[np.argsort(-np.abs(products), kind="stable")])
    total = running_sums[-1]
    if abs(total) <= ROUNDING * np.abs(products).sum():
        return None
    outside = np.abs(running_sums - total) > TOLERANCE * abs(total) * (1 + 1e-9)
    return int(np.flatnonzero(outside)[-1]) + 2 if outside.any() else 1


def strongest_position(trace: Trace) -> tuple[int, int, int, float]:
    """The head that rests most on one position: layer, head, position, mean attention to it.

    Only queries that may see more than one token count. A text of one token gives its first head.
    """
    best = (0, 0, 0, 0.0)
    for layer in range(trace.shape[0]):
        permitted = permitted_pairs(trace, layer).sum(axis=-1, keepdims=True)
        free = permitted > 1  # (1 or head, query, 1)
        sums = (trace.attention(layer) * free).sum(axis=1)  # (head, key)
        means = sums / np.maximum(free.sum(axis=1), 1)
        head, position = np.unravel_index(int(means.argmax()), means.shape)
        if means[head, position] > best[3]:
            best = (layer, int(head), int(position), float(means[head, position]))
    return best
