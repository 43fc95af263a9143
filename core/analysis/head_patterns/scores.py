"""Which pattern a head follows: where its attention goes, as numbers.

A pattern is a set of (query, key) pairs, and its score the share of attention that falls on them:
per token, then the mean over the tokens for which the model permits such a pair at all. So every
score is between 0 and 1, and the same sum over a head with uniform attention is its baseline.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from core.analysis.head_patterns.measure import (
    Measured,
    even_attention,
    mean_relative_entropy,
    measure_text,
)
from core.analysis.head_patterns.pairs import (
    OTHER_END,
    SAME_START,
    are_forms,
    pattern_pairs,
    word_pairs,
)
from core.analysis.head_patterns.table import make_table
from core.analysis.pairs import permitted_pairs
from core.model.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import pandas as pd
    from numpy.typing import NDArray

    from core.analysis.head_patterns.induction import Induction
    from core.model.trace import Array

    Scores = dict[str, NDArray[np.float64]]
    Pairs = NDArray[np.bool_]

__all__ = [
    "OTHER_END",
    "SAME_START",
    "are_forms",
    "attention_at_offset",
    "head_scores",
    "pattern_pairs",
    "pattern_table",
    "uniform_scores",
    "word_pairs",
]


def pattern_table(
    traces: Trace | Iterable[Trace] | Iterable[Measured],
    thresholds: Mapping[str, float] | None = None,
    induction: Induction | None = None,
) -> pd.DataFrame:
    """One row a head: its scores, their uniform baseline, and the pattern it follows.

    Parameters
    ----------
    traces : one text, or several of one model; or what `measure_text` made of each.
    thresholds : other values for some of `core.analysis.head_patterns.classes.THRESHOLDS`.
    induction : from `core.analysis.head_patterns.induction.induction_scores`, which needs texts of
        its own; without it that score is nan.

    Returns
    -------
    Columns ``layer`` and ``head``, from 1; then for each score its value and, as
    ``<score>_uniform``, that of a head with uniform attention on the same texts. Unless said, a
    score is a share of attention, mean over the tokens that have such a pair which the model
    permits, and nan where no token has one:

    - ``previous``, ``next``, ``self``: on the token before, after, and itself.
    - ``first``: on position 0. ``cls``: on a special token there. ``sep``: on other special
      tokens. ``punctuation``: on "." and ",". Clark et al. 2019 have these three; ``delimiter``,
      their sum, is ours and names no head.
    - ``same_token``: on other positions that hold the same token. ``other_sentence``: on the other
      sentence of a pair, special tokens left out on both sides.
    - ``distance``: how many tokens away, on average; not a share.
    - ``entropy``: H(row) / ln(permitted keys) of the rows that have a choice.
    - ``induction``: on a random sequence repeated twice, on the token after the earlier copy.

    Several texts add ``<score>_low`` and ``<score>_high``, a 95 % bootstrap interval over texts.

    ``class`` is the most specific pattern that the head clearly follows, or "none": with its score
    above the threshold and above the uniform baseline, over enough query tokens
    (`core.analysis.head_patterns.classes.PATTERNS`). Its ``confidence`` is how far the score has
    come from there (0) to all attention (1), nan for "none"; several texts add its ``stability``,
    the share of resamples with the same class. Texts under `minimum_evidence.MIN_TOKENS` tokens
    name heads mostly by accident; the pages do not name any there.

    Raises
    ------
    ValueError
        For no text at all, texts of different models, or a threshold of an unknown pattern.
    """
    if isinstance(traces, Trace):
        return make_table([measure_text(traces)], thresholds, induction)
    measured = [each if isinstance(each, Measured) else measure_text(each) for each in traces]
    return make_table(measured, thresholds, induction, intervals=True)


def head_scores(trace: Trace) -> Scores:
    """How much of each head's attention follows each pattern on this text.

    Returns
    -------
    float64 (layer, head) by name; each is a mean over tokens of a share of attention, 0 to 1, and
    nan where no token has such a pair that the model permits:

    - ``previous``, ``next``, ``self``: on the token before, after, and itself. ``next`` is nan in a
      causal model.
    - ``first``: on position 0, whatever stands there.
    - ``delimiter``: on special tokens and on "." and "," (Clark et al. 2019, section 3.2).
    - ``same_word``: on the other occurrences of the token's word, all pieces of them; over the
      tokens of words that occur again. Words have a letter or digit; upper and lower case are one.
    - ``related_word``: the same, counting other forms of the word as well (`SAME_START`).
    - ``other_sentence``: on the tokens of the other sentence, special tokens left out on both
      sides; nan for a single sentence.
    - ``entropy``: not a share of attention: H(row) / ln(permitted keys), mean over the tokens that
      may see more than one key.

    One layer's attention, 4 bytes x heads x tokens squared, is in memory at a time.
    """
    return _measure(trace, trace.attention)


def uniform_scores(trace: Trace) -> Scores:
    """What :func:`head_scores` would be if each token attended evenly to all it may see."""

    def even(layer: int) -> Array:
        weights = even_attention(permitted_pairs(trace, layer))
        return np.broadcast_to(weights, (trace.shape[1], *weights.shape[1:]))

    return _measure(trace, even)


def attention_at_offset(trace: Trace, offset: int) -> Array:
    """Mean attention from each token to the one `offset` positions after it (before, if negative).

    Returns float32 (layer, head). Tokens that have no such neighbour do not count; a text of one
    token gives zeros. After Clark et al. 2019, section 3.1.
    """
    layers, heads, tokens, _ = trace.shape
    if abs(offset) >= tokens:
        return np.zeros((layers, heads), dtype=np.float32)
    rows = [
        np.diagonal(trace.attention(layer), offset, axis1=1, axis2=2).mean(axis=1)
        for layer in range(layers)
    ]
    return np.stack(rows)


def _measure(trace: Trace, attention_of: Callable[[int], Array]) -> Scores:
    """The scores of attention given layer by layer, (head, token, token)."""
    from threadpoolctl import threadpool_limits

    pairs = pattern_pairs(trace.tokens)
    flat = np.stack(list(pairs.values())).astype(np.float32).reshape(len(pairs), -1)
    counted: dict[int, NDArray[np.int_]] = {}  # layers that share a mask share its counts
    shares, entropies = [], []
    # Matrices this small gain nothing from threads, which wait for each other on a busy server.
    with threadpool_limits(1, user_api="blas"), np.errstate(invalid="ignore"):
        for layer in range(trace.shape[0]):
            allowed = permitted_pairs(trace, layer)
            mask = id(trace.layers[layer].mask)
            if mask not in counted:
                counted[mask] = _rows_with_a_pair(pairs, allowed)
            weights = attention_of(layer)
            sums = (weights.reshape(len(weights), -1) @ flat.T).astype(np.float64)
            shares.append(sums / counted[mask])  # 0 / 0 is nan: no token has such a pair
            entropies.append(mean_relative_entropy(weights, allowed))
    by_pattern = np.moveaxis(np.stack(shares), -1, 0)  # (pattern, layer, head)
    return {**dict(zip(pairs, by_pattern, strict=True)), "entropy": np.stack(entropies)}


def _rows_with_a_pair(pairs: dict[str, Pairs], allowed: Pairs) -> NDArray[np.int_]:
    """How many tokens have a permitted pair of each pattern, (1 or head, pattern)."""
    return np.stack([(each & allowed).any(axis=-1).sum(axis=-1) for each in pairs.values()], axis=1)
