"""One head down to its dimensions: q, k, their products, scores, softmax.

Nothing here needs tokens to be words: positions of a text and patches of a picture are alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.model.trace import Layer, softmax

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from core.model.trace import Array, Trace

TOLERANCE = 0.1  # of a dot product: how near a sum of some contributions must come to it
ROUNDING = 1e-6  # of the contributions' sizes together: a sum below it is float32's own noise


@dataclass(frozen=True, eq=False)
class NeuronHead:
    """What one head computes its attention from.

    Attributes
    ----------
    layer, head : from 0.
    queries, keys : float32 (token, dim), as the attention gets them: positions already applied
        where the model rotates them.
    scaling : factor of the dot product.
    softcap : scores are bounded as ``softcap * tanh(score / softcap)``; None where they are not.
    causal : exactly the later tokens are not permitted.
    mask : additive, float32 (token, token), where it is neither that nor nothing; else None.
    key_head : which key head this head reads, from 0.
    sharers : the query heads, from 0, that read the same keys; this head is one of them.
    """

    layer: int
    head: int
    queries: Array
    keys: Array
    scaling: float
    softcap: float | None
    causal: bool
    mask: Array | None
    key_head: int
    sharers: range

    def products(self, query: int) -> NDArray[np.float64]:
        """Element by element, float64 (token, dim): how much each dimension adds to q.k."""
        return self.queries[query].astype(np.float64) * self.keys

    def permitted(self, query: int) -> NDArray[np.bool_]:
        """Which tokens this query may attend to, (token,)."""
        tokens = len(self.keys)
        if self.mask is not None:
            return np.isfinite(self.mask[query])
        return np.arange(tokens) <= query if self.causal else np.ones(tokens, dtype=bool)

    def scores(self, query: int) -> NDArray[np.float64]:
        """Scaled, soft-capped and masked, float64 (token,); ``-inf`` where not permitted."""
        mask = None if self.mask is None else self.mask[query]
        rule = Layer(self.scaling, mask, self.softcap)
        scores = rule.logits(self.products(query).sum(axis=1))
        return np.where(self.permitted(query), scores, -np.inf)

    def weights(self, query: int) -> NDArray[np.float64]:
        """Attention of this query to every token, float64 (token,), adding up to one."""
        return softmax(self.scores(query))

    def contributions(self, query: int, key: int) -> Contributions:
        """What the dimensions contribute to the dot product of this pair."""
        return contributions_of(self.products(query)[key])


@dataclass(frozen=True, eq=False)
class Contributions:
    """The products of one pair, and how few of them make their sum.

    Attributes
    ----------
    order : dimensions by the size of their product, largest first; equal ones by number.
    running : sum of the products in that order, float64 (dim,); the last is the dot product.
    positive, negative : sums of the products above and below zero.
    enough : the least m such that the first m products, and every longer run of them, add up to
        the dot product within 10 % of it. None where the products cancel (or are all zero), as no
        share of nothing can be told.
    """

    order: NDArray[np.intp]
    running: NDArray[np.float64]
    positive: float
    negative: float
    enough: int | None

    @property
    def total(self) -> float:
        """The dot product."""
        return float(self.running[-1])


def read_head(trace: Trace, layer: int, head: int) -> NeuronHead:
    """What a trace holds of one head (layer and head from 0)."""
    rule, key_head = trace.layers[layer], head // trace.group
    mask = rule.mask if rule.mask is None or rule.mask.ndim == 2 else rule.mask[head]
    if mask is not None and not mask.any():
        mask = None
    causal = mask is not None and np.array_equal(mask, _causal_mask(len(mask)))
    return NeuronHead(
        layer=layer,
        head=head,
        queries=trace.queries[layer, head],
        keys=trace.kv_keys[layer, key_head],
        scaling=rule.scaling,
        softcap=rule.softcap,
        causal=causal,
        mask=None if causal else mask,
        key_head=key_head,
        sharers=range(key_head * trace.group, (key_head + 1) * trace.group),
    )


def contributions_of(products: NDArray[np.float64]) -> Contributions:
    """Order and running sum of the products of one pair, (dim,).

    Products may be negative, so that "90 % of the score" needs a meaning: it is reached where the
    running sum of the largest products comes within 10 % of the whole and never leaves it again.
    Where all have one sign, that is the plain meaning.
    """
    order = np.argsort(-np.abs(products), kind="stable")
    running = np.cumsum(products[order])
    total = float(running[-1])
    enough: int | None = None
    if abs(total) > ROUNDING * float(np.abs(products).sum()):
        outside = np.abs(running - total) > TOLERANCE * abs(total) * (1 + 1e-9)
        enough = int(np.flatnonzero(outside)[-1]) + 2 if outside.any() else 1
    return Contributions(
        order=order,
        running=running,
        positive=float(products[products > 0].sum()),
        negative=float(products[products < 0].sum()),
        enough=enough,
    )


def strongest_position(trace: Trace) -> tuple[int, int, int, float]:
    """The head that rests most on one position: layer, head, position, mean attention on it.

    Only queries that may see more than one token count. A text of one token gives its first head.
    """
    best = (0, 0, 0, 0.0)
    for layer in range(trace.shape[0]):
        scores = trace.scores(layer)  # (head, token, token)
        free = np.isfinite(scores).sum(axis=-1, keepdims=True) > 1
        weights = np.where(free, softmax(scores), 0).sum(axis=1)  # (head, token)
        means = weights / np.maximum(free.sum(axis=1), 1)
        head, position = np.unravel_index(int(means.argmax()), means.shape)
        if means[head, position] > best[3]:
            best = (layer, int(head), int(position), float(means[head, position]))
    return best


def _causal_mask(tokens: int) -> Array:
    return np.triu(np.full((tokens, tokens), -np.inf, dtype=np.float32), 1)
