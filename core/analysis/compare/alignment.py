"""Which words of two traces belong together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.model.trace import Trace


@dataclass(frozen=True)
class Unit:
    """What can have a partner: a word, its pieces joined, or a special token.

    Attributes
    ----------
    label : what people read.
    positions : of its tokens in the trace.
    special : whether it is a special token.
    segment : 0 for the first sentence, 1 for the second.
    start, end : first character and the one after the last, in its own sentence; -1 if special.
    """

    label: str
    positions: tuple[int, ...]
    special: bool
    segment: int
    start: int
    end: int


@dataclass(frozen=True)
class Alignment:
    """The units of two traces, and which of them are partners.

    `pairs` holds indices into `a` and `b`, ascending in `a`. Where two tokenizers cut the same
    characters differently, neighbours are joined, so there may be fewer units than :func:`units`.
    """

    a: tuple[Unit, ...]
    b: tuple[Unit, ...]
    pairs: tuple[tuple[int, int], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """One label a pair, all different: A's word, and "A / B" where they differ."""
        raise NotImplementedError

    @property
    def groups_a(self) -> tuple[tuple[int, ...], ...]:
        """The positions of A's tokens, one group a pair."""
        raise NotImplementedError

    @property
    def groups_b(self) -> tuple[tuple[int, ...], ...]:
        """The positions of B's tokens, one group a pair."""
        raise NotImplementedError

    @property
    def only_a(self) -> tuple[str, ...]:
        """The labels of A's units without a partner."""
        raise NotImplementedError

    @property
    def only_b(self) -> tuple[str, ...]:
        """The labels of B's units without a partner."""
        raise NotImplementedError


def units(trace: Trace) -> tuple[Unit, ...]:
    """The words and special tokens of a text, or the patches of an image, in order."""
    raise NotImplementedError


def align(a: Trace, b: Trace, corrections: Sequence[tuple[int, int]] = ()) -> Alignment:
    """Pair the units of two traces; `corrections` are pairs of unit indices that win.

    The same text is aligned by its characters, two texts by the longest common subsequence of
    their words, ignoring case; between two matched neighbours, as many words on either side are
    paired in order. Special tokens are paired by their role, patches by their place. Corrections
    outside the units are ignored; of two for one unit the later counts.
    """
    raise NotImplementedError
