"""The (query, key) pairs of each pattern: previous token, delimiters, other copies of a word."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from core.analysis.arrays import Bools

if TYPE_CHECKING:
    from core.model.trace import Token

# Clark et al. 2019, as counted in their code: the delimiters are [CLS], [SEP] and these two.
SENTENCE_PUNCTUATION = frozenset({".", ","})


def is_mark(token: Token) -> bool:
    """Whether a token is one of `SENTENCE_PUNCTUATION`."""
    return token.display in SENTENCE_PUNCTUATION


def other_sentence_pairs(tokens: tuple[Token, ...]) -> Bools:
    """Pairs of ordinary tokens from different sentences, boolean (token, token)."""
    segments = np.array([token.segment for token in tokens])
    return _ordinary_pairs(tokens) & (segments[:, None] != segments)


def same_token_pairs(tokens: tuple[Token, ...]) -> Bools:
    """Pairs of two positions that hold the same token, boolean (token, token).

    Case is ignored; special tokens do not count.
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
