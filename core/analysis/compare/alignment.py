"""Which words of two traces belong together."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise, product

from core.analysis.attention_table import word_groups
from core.model.trace import Trace
from core.vocabulary import join_pieces, unique_labels

Pair = tuple[int, int]  # indices of a unit of A and of one of B
Word = tuple[str, int]  # its key, and its index among the units
Match = tuple[list[int], list[int]]  # units of A, and of B, that are partners once joined
_BLANK = re.compile(r"<U\+[0-9A-F]+>|[␣↵␍⇥⍽◌\s]")  # how tokens show what people do not see


@dataclass(frozen=True)
class Unit:
    """What can have a partner: a word, its pieces joined, or a special token."""

    label: str
    positions: tuple[int, ...]  # of its tokens in the trace
    special: bool

    @property
    def key(self) -> str:
        """What partners have in common: the letters, without case, accents and blanks."""
        plain = unicodedata.normalize("NFKD", _BLANK.sub("", self.label)).casefold()
        return "".join(char for char in plain if unicodedata.category(char) not in {"Mn", "Cf"})


@dataclass(frozen=True)
class Alignment:
    """The units of two traces, and which of them are partners.

    `pairs` holds indices into `a` and `b`, ascending in `a`. Where two tokenizers cut the same
    characters differently, neighbours are joined, so there may be fewer units than :func:`units`.
    """

    a: tuple[Unit, ...]
    b: tuple[Unit, ...]
    pairs: tuple[Pair, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """One label a pair, all different: A's word, and "A / B" where they differ."""
        both = zip(*self.partners, strict=True)
        return unique_labels(
            tuple(a.label if a.key == b.key else f"{a.label} / {b.label}" for a, b in both)
        )

    @property
    def partners(self) -> list[list[Unit]]:
        """The units of A, and those of B, in the order of the pairs."""
        return [[self.a[i] for i, _ in self.pairs], [self.b[j] for _, j in self.pairs]]

    @property
    def groups(self) -> list[list[tuple[int, ...]]]:
        """The positions of A's tokens, and of B's, one group a pair."""
        return [[unit.positions for unit in side] for side in self.partners]

    @property
    def alone(self) -> list[list[str]]:
        """The labels of A's units without a partner, and of B's."""
        sides = zip((self.a, self.b), self.partners, strict=True)
        return [[unit.label for unit in side if unit not in paired] for side, paired in sides]


def units(trace: Trace) -> tuple[Unit, ...]:
    """The words and special tokens of a text, in order."""
    return tuple(_unit(trace, group) for group in word_groups(trace.tokens))


def _unit(trace: Trace, positions: Sequence[int]) -> Unit:
    parts = [trace.tokens[i] for i in positions]
    return Unit(join_pieces(parts), tuple(positions), parts[0].special)


def align(a: Trace, b: Trace, corrections: Iterable[Pair] = ()) -> Alignment:
    """Pair the units of two traces; `corrections` are pairs of unit indices that win.

    The same text is aligned by its characters, two texts by the longest common subsequence of
    their words, ignoring case; between matched neighbours, as many words on either side are paired
    in order. Special tokens are paired from the start or the end.
    Corrections outside the units are ignored; of two for one unit the later counts.
    """
    units_a, units_b = units(a), units(b)
    if [unit.label for unit in units_a] == [unit.label for unit in units_b]:
        matches = [([i], [i]) for i in range(len(units_a))]
    else:
        roles_a, roles_b = _roles(units_a), _roles(units_b)
        matches = [([i], [roles_b[role]]) for role, i in roles_a.items() if role in roles_b]
        matches += _by_text(_words(units_a), _words(units_b))
    of_a, places_a = _join(a, units_a, [own for own, _ in matches])
    of_b, places_b = _join(b, units_b, [other for _, other in matches])
    partners = dict(zip(places_a, places_b, strict=True))
    for i, j in corrections:
        if 0 <= i < len(of_a) and 0 <= j < len(of_b):
            partners = {own: other for own, other in partners.items() if other != j} | {i: j}
    return Alignment(of_a, of_b, tuple(sorted(partners.items())))


def _join(
    trace: Trace, own: tuple[Unit, ...], groups: list[list[int]]
) -> tuple[tuple[Unit, ...], list[int]]:
    """The units, those of a group joined into one, and where each group stands among them."""
    whole = {group[0]: group for group in groups}
    inner = {i for group in groups for i in group[1:]}
    starts = [i for i in range(len(own)) if i not in inner]
    parts = ([own[i].positions for i in whole.get(start, [start])] for start in starts)
    joined = tuple(_unit(trace, [*chain(*positions)]) for positions in parts)
    return joined, [starts.index(group[0]) for group in groups]


def _roles(own: tuple[Unit, ...]) -> dict[int, int]:
    """Special tokens by number: before all words from the start, others from the end (negative)."""
    specials = [i for i, unit in enumerate(own) if unit.special]
    return {k if i == k else k - len(specials): i for k, i in enumerate(specials)}


def _words(own: tuple[Unit, ...]) -> list[Word]:
    return [(unit.key, i) for i, unit in enumerate(own) if not unit.special and unit.key]


def _by_text(a: list[Word], b: list[Word]) -> Iterator[Match]:
    """By characters where these are the same, else by matched words and what is between them."""
    matched = [] if _text(a) == _text(b) else _common_subsequence(a, b)
    anchors = [(-1, -1), *matched, (len(a), len(b))]
    for (i, j), (next_i, next_j) in pairwise(anchors):
        gap_a, gap_b = a[i + 1 : next_i], b[j + 1 : next_j]
        if _text(gap_a) == _text(gap_b):
            yield from _by_characters(gap_a, gap_b)
        elif len(gap_a) == len(gap_b):
            yield from (([own], [other]) for (_, own), (_, other) in zip(gap_a, gap_b, strict=True))
        if next_i < len(a):
            yield [a[next_i][1]], [b[next_j][1]]


def _text(words: list[Word]) -> str:
    return "".join(key for key, _ in words)


def _by_characters(a: list[Word], b: list[Word]) -> Iterator[Match]:
    """The smallest groups of words that hold the same characters on both sides."""
    ends_a, ends_b = (list(accumulate(len(key) for key, _ in words)) for words in (a, b))
    for low, high in pairwise([0, *sorted(set(ends_a) & set(ends_b))]):
        yield (
            [i for (_, i), end in zip(a, ends_a, strict=True) if low < end <= high],
            [j for (_, j), end in zip(b, ends_b, strict=True) if low < end <= high],
        )


def _common_subsequence(a: list[Word], b: list[Word]) -> tuple[Pair, ...]:
    """Places of a longest common subsequence, the earliest of several."""
    found: defaultdict[Pair, tuple[Pair, ...]] = defaultdict(tuple)  # from these to the ends
    for i, j in product(reversed(range(len(a))), reversed(range(len(b)))):
        if a[i][0] == b[j][0]:
            found[i, j] = ((i, j), *found[i + 1, j + 1])
        else:
            found[i, j] = max(found[i + 1, j], found[i, j + 1], key=len)
    return found[0, 0]
