"""Which pattern a head follows: where its attention goes, as numbers.

A pattern is a set of (query, key) pairs, and its score the share of attention that falls on them:
per token, then the mean over the tokens for which the model permits such a pair at all. So every
score is between 0 and 1, and the same sum over a head that attends evenly says what is no news.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from core.analysis.attention_table import join_pieces, word_groups
from core.model.trace import softmax

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from core.model.trace import Array, Token, Trace

    Scores = dict[str, NDArray[np.float64]]
    Pairs = NDArray[np.bool_]

# Clark et al. 2019, as their code counts them: the delimiters are [CLS], [SEP] and these two.
SENTENCE_PUNCTUATION = frozenset({".", ","})
OFFSETS = {"previous": -1, "next": 1, "self": 0}
# Two words are forms of each other when they begin with the same letters, at least SAME_START of
# them, and neither has more than OTHER_END after those: enjoy and enjoyed, color and colorful.
SAME_START, OTHER_END = 4, 3


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
    return _measure(trace, lambda layer: softmax(trace.scores(layer)))


def uniform_scores(trace: Trace) -> Scores:
    """What :func:`head_scores` would be if each token attended evenly to all it may see."""

    def even(layer: int) -> Array:
        allowed = permitted(trace, layer).astype(np.float32)
        allowed /= allowed.sum(axis=-1, keepdims=True)
        return np.broadcast_to(allowed, (trace.shape[1], *allowed.shape[1:]))

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
        np.diagonal(softmax(trace.scores(layer)), offset, axis1=1, axis2=2).mean(axis=1)
        for layer in range(layers)
    ]
    return np.stack(rows)


def permitted(trace: Trace, layer: int) -> Pairs:
    """Which keys each query may see, (1 or head, token, token): one for all heads, or one each."""
    mask = trace.layers[layer].mask
    size = trace.shape[2]
    if mask is None:
        return np.ones((1, size, size), dtype=np.bool_)
    return np.isfinite(mask).reshape(-1, size, size)


def pattern_pairs(tokens: tuple[Token, ...]) -> dict[str, Pairs]:
    """The (query, key) pairs of each pattern, boolean (token, token)."""
    size = len(tokens)
    special = np.array([token.special for token in tokens])
    segments = np.array([token.segment for token in tokens])
    marks = np.array([token.display in SENTENCE_PUNCTUATION for token in tokens])
    ordinary = ~special[:, None] & ~special[None, :]
    columns = np.zeros((2, size), dtype=np.bool_)
    columns[0, 0] = True
    columns[1] = special | marks
    first, delimiter = np.broadcast_to(columns[:, None], (2, size, size))
    same, related = word_pairs(tokens)
    return {
        **{name: np.eye(size, k=offset, dtype=np.bool_) for name, offset in OFFSETS.items()},
        "first": first,
        "delimiter": delimiter,
        "same_word": same,
        "related_word": related,
        "other_sentence": ordinary & (segments[:, None] != segments[None, :]),
    }


def word_pairs(tokens: tuple[Token, ...]) -> tuple[Pairs, Pairs]:
    """Pairs in two occurrences of one word; and those in two occurrences or forms of one word.

    The pieces of one occurrence are no pair of each other. Boolean (token, token), twice.
    """
    groups = word_groups(tokens)
    words = [
        "" if tokens[group[0]].special else _bare(join_pieces([tokens[i] for i in group]))
        for group in groups
    ]
    distinct, number = np.unique(np.array(words, dtype=np.object_), return_inverse=True)
    wordlike = distinct.astype(np.bool_)  # neither special nor nothing but marks
    alike = _forms(distinct)[np.ix_(number, number)]
    repeated = number[:, None] == number[None, :]
    other = wordlike[number][:, None] & ~np.eye(len(words), dtype=np.bool_)
    pieces = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    spread = np.ix_(pieces, pieces)
    return (repeated & other)[spread], (alike & other)[spread]


def _forms(words: NDArray[np.object_]) -> Pairs:
    """Which of these different words are forms of each other; each is one of itself."""
    forms = np.eye(len(words), dtype=np.bool_)
    starts: dict[str, list[int]] = {}
    for index, word in enumerate(words):
        starts.setdefault(word[:SAME_START], []).append(index)
    for group in starts.values():
        for a, b in itertools.combinations(group, 2):
            forms[a, b] = forms[b, a] = are_forms(words[a], words[b])
    return forms


def are_forms(a: str, b: str) -> bool:
    """Whether two words are one word, or begin alike and end differently (see `SAME_START`).

    A rule of spelling, not of meaning: "thing" and "think" pass, "leaf" and "leaves" do not.
    """
    shared = 0
    for left, right in zip(a, b, strict=False):
        if left != right:
            break
        shared += 1
    return a == b or (shared >= SAME_START and max(len(a), len(b)) - shared <= OTHER_END)


def _bare(word: str) -> str:
    """The word in lower case without the marks around it; empty when it is nothing but marks."""
    letters = [index for index, char in enumerate(word) if char.isalnum()]
    return word[letters[0] : letters[-1] + 1].casefold() if letters else ""


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
            allowed = permitted(trace, layer)
            mask = id(trace.layers[layer].mask)
            if mask not in counted:
                counted[mask] = _rows_with_a_pair(pairs, allowed)
            weights = attention_of(layer)
            sums = (weights.reshape(len(weights), -1) @ flat.T).astype(np.float64)
            shares.append(sums / counted[mask])  # 0 / 0 is nan: no token has such a pair
            entropies.append(_entropy(weights, allowed))
    by_pattern = np.moveaxis(np.stack(shares), -1, 0)  # (pattern, layer, head)
    return {**dict(zip(pairs, by_pattern, strict=True)), "entropy": np.stack(entropies)}


def _rows_with_a_pair(pairs: dict[str, Pairs], allowed: Pairs) -> NDArray[np.int_]:
    """How many tokens have a permitted pair of each pattern, (1 or head, pattern)."""
    return np.stack([(each & allowed).any(axis=-1).sum(axis=-1) for each in pairs.values()], axis=1)


def _entropy(weights: Array, allowed: Pairs) -> NDArray[np.float64]:
    """H / ln(permitted keys) of each row, mean over rows that have a choice, float64 (head,)."""
    logarithms = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
    entropy = -np.einsum("hij,hij->hi", weights, logarithms, dtype=np.float64)
    keys = np.broadcast_to(allowed.sum(axis=-1), entropy.shape)
    choice = keys > 1
    if not choice.any():
        return np.full(len(weights), np.nan)
    relative = np.divide(entropy, np.log(keys), out=np.zeros_like(entropy), where=choice)
    return np.asarray(relative.sum(axis=1) / choice.sum(axis=1))
