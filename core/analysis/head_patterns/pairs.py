"""The (query, key) pairs of each pattern: previous token, delimiters, other copies of a word."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from core.analysis.attention_table import join_pieces, word_groups

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from core.model.trace import Token

    Pairs = NDArray[np.bool_]

# Clark et al. 2019, as their code counts them: the delimiters are [CLS], [SEP] and these two.
SENTENCE_PUNCTUATION = frozenset({".", ","})
OFFSETS = {"previous": -1, "next": 1, "self": 0}
# Two words are forms of each other when they begin with the same letters, at least SAME_START of
# them, and neither has more than OTHER_END after those: enjoy and enjoyed, color and colorful.
SAME_START, OTHER_END = 4, 3


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


def table_pairs(tokens: tuple[Token, ...]) -> dict[str, Pairs]:
    """The pairs of each share of the pattern table, boolean (token, token) by name.

    ``cls`` is a special token that opens the text, ``sep`` any other special token, and
    ``delimiter`` those two and ``punctuation`` together. ``same_token`` is every other position
    that holds the same token, upper and lower case being one; special tokens have none.
    """
    size = len(tokens)
    known = pattern_pairs(tokens)
    special = np.array([token.special for token in tokens])
    opening = np.arange(size) == 0
    marks = np.array([token.display in SENTENCE_PUNCTUATION for token in tokens])
    columns = {"cls": special & opening, "sep": special & ~opening, "punctuation": marks & ~special}
    return {
        **{name: known[name] for name in (*OFFSETS, "first")},
        **{name: np.broadcast_to(each, (size, size)) for name, each in columns.items()},
        "delimiter": known["delimiter"],
        "same_token": same_token_pairs(tokens),
        "other_sentence": known["other_sentence"],
    }


def same_token_pairs(tokens: tuple[Token, ...]) -> Pairs:
    """Pairs of two positions that hold the same token, boolean (token, token)."""
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
