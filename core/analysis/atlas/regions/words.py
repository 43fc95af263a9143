"""Words that are over-represented in regions, beyond what shuffled words reach."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.analysis.arrays import Floats, Indices

PERMUTATIONS = 999  # the smallest p-value is 0.001
ALPHA = 0.05  # the chance that words without any order name one region of the picture or more
MIN_TOKENS = 5  # of a word in the corpus: a rarer one names nothing
MIN_SHARE = 0.03  # of a region's points: fewer do not speak for it
MIN_RATIO = 1.5  # a word that is hardly more frequent than elsewhere describes no region
_SEED = 0


@dataclass(frozen=True)
class Word:
    """A word that is over-represented in a region.

    Attributes
    ----------
    text : in its most common spelling.
    inside, total : its points (queries and keys) in the region, and in the whole picture.
    ratio : its share of the region's points by its share of all points.
    p : by permutation, corrected for all words and all regions.
    """

    text: str
    inside: int
    total: int
    ratio: float
    p: float


def frequent_words(
    members: Indices, region_count: int, displays: Sequence[str], permutations: int = PERMUTATIONS
) -> list[list[Word]]:
    """Of each region the words that are over-represented in it, the most surprising first.

    Such a word is as frequent in fewer than 5 % of shuffled pictures in any region, makes up 3 % of
    the region's points or more, and 1.5 times the share that it has of all points.

    The statistic is the hypergeometric tail: how improbable so many points of the word are in a
    region of this size. What chance gives is measured and not assumed: the words are shuffled over
    the tokens (a token's query and key keep one word), and the largest statistic of all words and
    regions counts (Westfall and Young 1993, single-step), so that the p-values are corrected
    for both.

    Parameters
    ----------
    members : (2 token,), the region of each query and then of each key; -1 for none.
    displays : the word of each token; case is ignored.
    """
    names, codes = _vocabulary(displays)
    if not region_count or not names:
        return [[] for _ in range(region_count)]
    sides = members.reshape(2, -1)
    sizes = np.bincount(members[members >= 0], minlength=region_count)
    totals = 2 * np.bincount(codes[codes >= 0], minlength=len(names))
    tails = _Tails(members.size, sizes, totals)
    counts = _counts(sides, codes, region_count, len(names))
    statistics = tails.of(counts)
    generator = np.random.default_rng(_SEED)
    largest = np.sort(
        [
            tails.of(_counts(sides, generator.permutation(codes), region_count, len(names))).max()
            for _ in range(permutations)
        ]
    )
    reached = permutations - np.searchsorted(largest, statistics - 1e-9, side="left")
    p_values = (1 + reached) / (permutations + 1)
    shares = counts / np.maximum(sizes, 1)[:, None]
    ratios = shares / (totals / members.size)
    named = (p_values <= ALPHA) & (ratios >= MIN_RATIO) & (shares >= MIN_SHARE)
    order = np.argsort(-statistics, axis=1, kind="stable")
    return [
        [
            Word(
                names[word],
                int(counts[region, word]),
                int(totals[word]),
                float(ratios[region, word]),
                float(p_values[region, word]),
            )
            for word in order[region]
            if named[region, word]
        ]
        for region in range(region_count)
    ]


def _vocabulary(displays: Sequence[str]) -> tuple[list[str], Indices]:
    """The words of at least `MIN_TOKENS` tokens as they are mostly spelled; each token's, or -1."""
    spellings: dict[str, Counter[str]] = {}
    for spelling, count in Counter(displays).items():
        spellings.setdefault(spelling.casefold(), Counter())[spelling] = count
    common = [word for word, own in spellings.items() if own.total() >= MIN_TOKENS]
    numbers = {word: number for number, word in enumerate(common)}
    codes = np.array([numbers.get(display.casefold(), -1) for display in displays], dtype=np.intp)
    return [spellings[word].most_common(1)[0][0] for word in common], codes


def _counts(sides: Indices, codes: Indices, region_count: int, word_count: int) -> Indices:
    """Points by region and word, (region, word)."""
    inside = (sides >= 0) & (codes >= 0)
    cells = (sides * word_count + codes)[inside]
    return np.bincount(cells, minlength=region_count * word_count).reshape(region_count, word_count)


class _Tails:
    """Minus the log of P(count or more) for every region and word, looked up.

    Regions of `sizes` and words of `totals` points among `points`. Words that are equally frequent
    share their entries, so that permutations cost no more than a look at the table.
    """

    def __init__(self, points: int, sizes: Indices, totals: Indices) -> None:
        """Fill the table, (region, entry)."""
        frequencies, kinds = np.unique(totals, return_inverse=True)
        starts = np.concatenate([[0], np.cumsum(frequencies + 1)])
        self._table = np.hstack([_tail(points, sizes, int(each)) for each in frequencies])
        self._starts = starts[kinds]

    def of(self, counts: Indices) -> Floats:
        """Of counts (region, word)."""
        return np.take_along_axis(self._table, self._starts + counts, axis=1)


def _tail(points: int, sizes: Indices, total: int) -> Floats:
    """-log P(X >= k), X hypergeometric, for k from 0 to `total`, (region, total + 1)."""
    k = np.arange(total + 1)
    rest = sizes[:, None] - k  # points of the region that are of other words
    possible = (rest >= 0) & (rest <= points - total)
    log_pmf = (
        _log_choose(total, k)
        + _log_choose(points - total, np.where(possible, rest, 0))
        - _log_choose(points, sizes)[:, None]
    )
    log_pmf = np.where(possible, log_pmf, -np.inf)
    tail = np.logaddexp.accumulate(log_pmf[:, ::-1], axis=1)[:, ::-1]
    return -np.minimum(tail, 0)


def _log_choose(n: int, k: Indices) -> Floats:
    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))
