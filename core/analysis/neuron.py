"""One head down to its dimensions: q, k, their products, scores, softmax.

Nothing here needs tokens to be words: patches of an image work too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from core.analysis.arrays import Floats
from core.model.trace import Array, Layer, Trace
from core.vocabulary import head_name


@dataclass(frozen=True, eq=False)
class NeuronHead:
    """What one head computes its attention from."""

    name: str  # as people read it: "L4 H2"
    queries: Array  # float32 (token, dim), rotated by position where the model does so
    keys: Array  # likewise, float32 (key token, dim)
    rule: Layer  # for this head alone: mask (token, key token) or None, sink (1,) or None
    key_head: int  # the key-value head that this head reads
    sharers: range  # the query heads that read the same keys, this one among them

    def products(self, query: int) -> Floats:
        """Elementwise, float64 (key token, dim): how much each dimension adds to q.k."""
        return self.queries[query].astype(np.float64) * self.keys

    def scores(self, query: int) -> Floats:
        """Scaled, soft-capped and masked, float64 (key token,); ``-inf`` where not permitted."""
        row = None if self.rule.mask is None else self.rule.mask[query]
        return replace(self.rule, mask=row).logits(self.products(query).sum(axis=1))

    def weights(self, query: int) -> Floats:
        """Attention of this query to every token, float64 (key token,), less any sink's share."""
        return self.rule.weights(self.scores(query)[None, None])[0, 0]


def read_head(trace: Trace, layer: int, head: int) -> NeuronHead:
    """One head of a trace (layer and head from 0)."""
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
