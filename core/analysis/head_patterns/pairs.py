"""The (query, key) pairs of each pattern: previous token, delimiters, other copies of a word."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from core.analysis.attention_table import join_pieces, word_groups

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from core.model.trace import Token

    Pairs = NDArray[np.bool_]

# Clark et al. 2019, as their code counts them: the delimiters are [CLS], [SEP] and these two.
SENTENCE_PUNCTUATION = frozenset({".", ","})
# Two words are forms of each other when they begin with the same letters, at least SAME_START of
# them, and neither has more than OTHER_END after those: enjoy and enjoyed, color and colorful.
SAME_START, OTHER_END = 4, 3


def at_offset(offset: int) -> Callable[[tuple[Token, ...]], Pairs]:
    """From each token to the one `offset` positions after it (before, if negative)."""
    return lambda tokens: np.eye(len(tokens), k=offset, dtype=np.bool_)


def on_keys(chosen: Callable[[Token], bool]) -> Callable[[tuple[Token, ...]], Pairs]:
    """From each token to those that are `chosen`."""

    def pairs(tokens: tuple[Token, ...]) -> Pairs:
        keys = np.array([chosen(token) for token in tokens])
        return np.broadcast_to(keys, (len(tokens), len(tokens)))

    return pairs


def is_mark(token: Token) -> bool:
    """Whether a token is one of `SENTENCE_PUNCTUATION`."""
    return token.display in SENTENCE_PUNCTUATION


def other_sentence_pairs(tokens: tuple[Token, ...]) -> Pairs:
    """Pairs of ordinary tokens of different sentences, boolean (token, token)."""
    ordinary = np.array([not token.special for token in tokens])
    segments = np.array([token.segment for token in tokens])
    return ordinary[:, None] & ordinary & (segments[:, None] != segments)


def same_token_pairs(tokens: tuple[Token, ...]) -> Pairs:
    """Pairs of two positions that hold the same token, boolean (token, token).

    Upper and lower case are one; special tokens have none.
    """
    shown = np.array([token.display.casefold() for token in tokens], dtype=np.object_)
    ordinary = np.array([not token.special for token in tokens])
    alike = np.asarray(shown[:, None] == shown[None, :], dtype=np.bool_)
    return alike & ordinary[:, None] & ordinary & ~np.eye(len(tokens), dtype=np.bool_)


def induction_pairs(tokens: tuple[Token, ...]) -> Pairs:
    """From each token to those that stand right after an earlier copy of it, (token, token)."""
    size = len(tokens)
    earlier = same_token_pairs(tokens) & np.tri(size, k=-1, dtype=np.bool_)
    after = np.zeros((size, size), dtype=np.bool_)
    after[:, 1:] = earlier[:, :-1]
    return after


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
