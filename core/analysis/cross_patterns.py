"""Head patterns of cross attention: those of which the key alone decides.

Queries and keys are tokens of two texts: the token before, the token itself or another copy of it
mean nothing between them. What a key is (a special token, a full stop) does, and so does how
widely a token spreads its attention.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from core.analysis.head_patterns.measure import (
    HEAD_VIEW,
    head_scores,
    mean_relative_entropy,
    uniform_attention,
)
from core.analysis.head_patterns.search import HIGHLIGHTED, Search
from core.analysis.pairs import permitted_pairs
from core.model.trace import Token

if TYPE_CHECKING:
    from core.analysis.arrays import Bools, Floats
    from core.analysis.head_patterns.registry import Pattern
    from core.model.trace import Array, Trace

# A text on which pairs that depend on the query differ from query to query: words come again,
# alike and in another form, in two sentences.
_PROBE = ("[", "cats", "saw", "saw", ".", "[", "cats", "seen", ",", "[")


def decided_by_key(pattern: Pattern) -> bool:
    """Whether a pattern's pairs are the same for every query, so that it has a meaning here."""
    if pattern.pairs is None:
        return pattern.measured == "entropy"
    pairs = pattern.pairs(_probe())
    return pattern.measured == "pairs" and bool((pairs == pairs[0]).all())


@cache
def _probe() -> tuple[Token, ...]:
    return tuple(
        Token(text, text, position, text == "[", int(position > 5), position, position)
        for position, text in enumerate(_PROBE)
    )


def highlighted_in_cross_attention() -> tuple[str, ...]:
    """The names in links of what the model view can look for."""
    return tuple(name for name, pattern in HIGHLIGHTED.items() if decided_by_key(pattern))


def view_scores(trace: Trace) -> dict[str, Floats]:
    """What the head view says of each head, (layer, head) by the name of the score.

    Of any trace: where tokens attend to one another, by all of its patterns.
    """
    if trace.source is None:
        return head_scores(trace, HEAD_VIEW)
    patterns = [pattern for pattern in HEAD_VIEW if decided_by_key(pattern)]
    return {pattern.score: _measure(trace, pattern)[0] for pattern in patterns}


def find_cross_heads(trace: Trace, name: str) -> Search:
    """The heads that follow a pattern of `highlighted_in_cross_attention` on this text."""
    pattern = HIGHLIGHTED[name]
    scores, uniform = _measure(trace, pattern)
    holds = scores > pattern.threshold
    if pattern.baseline == "uniform":
        holds &= scores > uniform
    finite = uniform[np.isfinite(uniform)]
    return Search(pattern, scores, float(finite.mean()) if finite.size else float("nan"), holds)


def _measure(trace: Trace, pattern: Pattern) -> tuple[Floats, Floats]:
    """Every head's score and the uniform baseline, (layer, head) each; nan without such a key."""
    layers = []
    for layer in range(trace.shape[0]):
        allowed = permitted_pairs(trace, layer)
        parts = trace.attention(layer), uniform_attention(allowed)
        if pattern.pairs is None:
            layers.append([mean_relative_entropy(part, allowed) for part in parts])
        else:
            keys = pattern.pairs(trace.key_tokens)[0]
            layers.append([_mean_share(part, allowed, keys) for part in parts])
    scores, uniform = zip(*layers, strict=True)
    heads = trace.shape[1]
    return np.stack(scores), np.stack([np.broadcast_to(each, heads) for each in uniform])


def _mean_share(weights: Array, allowed: Bools, keys: Bools) -> Floats:
    """The share on these keys, (head,): mean over the queries that may attend to one of them."""
    can = (allowed & keys).any(axis=-1)  # (1 or head, query)
    shares = weights.astype(np.float64)[..., keys].sum(axis=-1)  # (head, query)
    sums, counts = (shares * can).sum(axis=-1), can.sum(axis=-1)
    means: Floats = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
    return means
