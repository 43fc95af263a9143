"""Every head pattern, one record each: its pairs, and where the app uses it.

To add a pattern, add a record here and its words in :mod:`core.ui.words.pattern_words`; the table,
the model view, the head view and the patterns page pick it up from there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from core.analysis.arrays import Bools
from core.analysis.head_patterns.pairs import (
    induction_pairs,
    is_mark,
    other_sentence_pairs,
    same_token_pairs,
)
from core.model.trace import Token
from core.model.trace.input import neighbours

PatternMeasure = Literal["pairs", "distance", "entropy", "repeated"]
Baseline = Literal["uniform", "none"]

CLARK = "Clark et al. 2019"
OURS = "this project"

# For one pattern: "same token" says nothing where one word occurs twice, i.e. on 2 query tokens.
# Among random heads 3.3 % passed for "same token" on 3 query tokens, 1.4 % on 5 and 0.5 % on 6;
# for "previous token" 9.2 %, 3.0 % and 1.5 %.
MIN_QUERY_TOKENS = 6


@dataclass(frozen=True)
class Naming:
    """How a pattern names heads."""

    rank: int  # the most specific pattern first: a head is named by the first it clearly follows
    letter: str  # marks these heads in maps
    category: int | None = None  # their colour there, a category of the palette; else a hue
    hue: float = 0.0  # in degrees (CIE LCh)
    light: float = 52.0  # the hue's lightness in each theme
    dark: float = 70.0


@dataclass(frozen=True)
class Pattern:
    """One head pattern: made of `pairs`, of `keys` or, with neither, of all pairs."""

    name: str  # in links and in the table's column ``class``
    # Which tokens attend to which, (token, token)
    pairs: Callable[[tuple[Token, ...]], Bools] | None = None
    naming: Naming | None = None  # how it names heads; None if it names none
    # Measured by attention on the `pairs`; by how many tokens away heads attend; by entropy; or by
    # attention on the pairs of sequences repeated twice (:mod:`.induction`)
    measured: PatternMeasure = "pairs"
    # Whether a token is such a key, whatever the query token; it may be a token of another text
    keys: Callable[[Token], bool] | None = None
    score: str = ""  # its column in the table, if that is not the `name`
    threshold: float = 0.5  # of the score
    source: str = OURS  # of the threshold
    # What else the score must exceed; "none" for entropy, which is highest for uniform attention
    # itself.
    baseline: Baseline = "uniform"
    min_query_tokens: int = MIN_QUERY_TOKENS  # with such a pair, before the score means anything
    highlight: int | None = None  # its place among the patterns that the model view offers
    link: str = ""  # its name in the model view's links, if that is not the `name`
    of_patches: bool = False  # whether it also makes sense for the patches of an image

    def __post_init__(self) -> None:
        object.__setattr__(self, "score", self.score or self.name)
        object.__setattr__(self, "link", self.link or self.name)

    @property
    def across(self) -> bool:
        """Whether it makes sense in cross attention, where queries and keys are of two texts.

        It does if it asks nothing of the query token: previous, next, itself and other copies
        are about tokens of one text.
        """
        return self.keys is not None or self.measured == "entropy"

    def between(self, tokens: tuple[Token, ...], source: tuple[Token, ...] | None = None) -> Bools:
        """Its pairs, boolean (token, key token).

        `source` are the tokens that cross attention goes to, as in a trace: a pattern that is not
        `across` then has no pairs.
        """
        keys = source or tokens
        if self.keys is not None:
            return np.tile([self.keys(token) for token in keys], (len(tokens), 1))
        if source is None and self.pairs is not None:
            return self.pairs(tokens)
        return np.full((len(tokens), len(keys)), source is None or self.across)


# In the order of the table's columns. Clark et al. look at heads with more than half of their
# attention on the previous or the next token, and test [CLS], [SEP] and punctuation separately
# against 0.6 (their code), so no head is named by their sum. Nor by [CLS] alone: it is the first
# token, where 0.5 is enough here. Their broad heads have an entropy above 3.8 nats on 128 tokens,
# 0.78 of ln 128; ours have 0.78 of the maximum for a text of any length.
PATTERNS = (
    Pattern(
        "previous",
        partial(neighbours, offset=-1),
        Naming(1, "P", category=1),
        source=CLARK,
        highlight=2,
        of_patches=True,
    ),
    Pattern(
        "next",
        partial(neighbours, offset=1),
        Naming(2, "N", category=2),
        source=CLARK,
        highlight=1,
        of_patches=True,
    ),
    Pattern(
        "self",
        partial(neighbours, offset=0),
        Naming(5, "I", hue=95, dark=74),
        of_patches=True,
    ),
    Pattern(
        "first",
        naming=Naming(6, "F", category=0),
        keys=lambda token: token.position == 0,
        of_patches=True,
    ),
    Pattern(
        "cls",
        keys=lambda token: token.special and token.position == 0,
    ),
    Pattern(
        "sep",
        naming=Naming(7, "S", hue=75, light=36, dark=84),
        keys=lambda token: token.special and token.position > 0,
        threshold=0.6,
        source=CLARK,
        of_patches=True,
    ),
    Pattern(
        "punctuation",
        naming=Naming(8, ".", hue=15, light=34),
        keys=lambda token: is_mark(token) and not token.special,
        threshold=0.6,
        source=CLARK,
    ),
    Pattern(
        "delimiter",
        keys=lambda token: is_mark(token) or token.special,
        threshold=0.6,
        source=CLARK,
        highlight=3,
        link="delimiters",
        of_patches=True,
    ),
    Pattern(
        "same_token",
        same_token_pairs,
        # Before "self", where such a head rests when nothing repeats.
        Naming(4, "=", category=3),
    ),
    Pattern(
        "other_sentence",
        other_sentence_pairs,
        Naming(9, "O", hue=40),
        highlight=4,
        link="sentence",
    ),
    Pattern("distance", measured="distance"),
    Pattern(
        "broad",
        naming=Naming(100, "B", category=4),
        measured="entropy",
        score="entropy",
        threshold=0.78,
        source=CLARK,
        baseline="none",
        highlight=100,
        of_patches=True,
    ),
    Pattern(
        "induction",
        induction_pairs,
        Naming(3, "C", hue=205),
        measured="repeated",
    ),
)
