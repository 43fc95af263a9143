"""The (query, key) pairs of each pattern: previous token, delimiters, other copies of a word."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.analysis.arrays import Bools
from core.analysis.attention_table import word_groups
from core.vocabulary import join_pieces

if TYPE_CHECKING:
    from core.model.trace import Token

# Clark et al. 2019, as their code counts them: the delimiters are [CLS], [SEP] and these two.
SENTENCE_PUNCTUATION = frozenset({".", ","})
# Two words are forms of each other when they begin with the same letters, at least SAME_START of
# them, and neither has more than OTHER_END after those: enjoy and enjoyed, color and colorful.
SAME_START, OTHER_END = 4, 3


def is_mark(token: Token) -> bool:
    """Whether a token is one of `SENTENCE_PUNCTUATION`."""
    return token.display in SENTENCE_PUNCTUATION


def other_sentence_pairs(tokens: tuple[Token, ...]) -> Bools:
    """Pairs of ordinary tokens of different sentences, boolean (token, token)."""
    segments = np.array([token.segment for token in tokens])
    return _ordinary_pairs(tokens) & (segments[:, None] != segments)


def same_token_pairs(tokens: tuple[Token, ...]) -> Bools:
    """Pairs of two positions that hold the same token, boolean (token, token).

    Upper and lower case are the same; special tokens do not count.
    """
    names = np.array([token.display.casefold() for token in tokens], dtype=np.object_)
    same = np.asarray(names[:, None] == names, dtype=np.bool_)
    return same & _ordinary_pairs(tokens) & ~np.eye(len(tokens), dtype=np.bool_)


def _ordinary_pairs(tokens: tuple[Token, ...]) -> Bools:
    ordinary = np.array([not token.special for token in tokens])
    return ordinary[:, None] & ordinary


def induction_pairs(tokens: tuple[Token, ...]) -> Bools:
    """From each token to those right after an earlier copy of it, boolean (token, token)."""
    earlier = np.tril(same_token_pairs(tokens), k=-1)
    return np.pad(earlier[:, :-1], ((0, 0), (1, 0)))


def related_word_pairs(tokens: tuple[Token, ...]) -> Bools:
    """Pairs of tokens in two occurrences or forms of one word, boolean (token, token).

    The pieces of one occurrence are not a pair.
    """
    groups = word_groups(tokens)
    words = [
        "" if tokens[group[0]].special else _letters(join_pieces([tokens[i] for i in group]))
        for group in groups
    ]
    distinct, number = np.unique(np.array(words, dtype=np.object_), return_inverse=True)
    has_letters = distinct.astype(np.bool_)[number]
    related = _forms(distinct)[np.ix_(number, number)] & has_letters[:, None]
    np.fill_diagonal(related, val=False)
    pieces = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    return related[np.ix_(pieces, pieces)]


def _forms(words: NDArray[np.object_]) -> Bools:
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
    """Whether two words are equal, or begin alike and end differently (see `SAME_START`).

    A rule of spelling, not of meaning: "thing" and "think" pass, "leaf" and "leaves" do not.
    """
    shared = sum(
        1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False))
    )
    return a == b or (shared >= SAME_START and max(len(a), len(b)) - shared <= OTHER_END)


def _letters(word: str) -> str:
    """The word in lower case without the marks around it; empty if it is nothing but marks."""
    letters = [index for index, char in enumerate(word) if char.isalnum()]
    return word[letters[0] : letters[-1] + 1].casefold() if letters else ""
