"""Layers by the numbers that people read: a model's own, from 1. In hybrids only some attend."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

GAP = 0.5  # height of a gap in a picture, in rows


class Layered(Protocol):
    """A trace or an atlas: the layers that attend, and how many layers there are."""

    @property
    def numbers(self) -> tuple[int, ...]:
        """The number of each layer, from 1."""

    @property
    def depth(self) -> int | None:
        """Layers of the network, those that do not attend included; None if it does not say."""


@dataclass(frozen=True)
class Gap:
    """Neighbouring layers that do not attend, and the middle of their place in a picture."""

    place: float
    first: int
    last: int

    @property
    def name(self) -> str:
        """Their numbers: "3" or "3–5"."""
        return _span(self.first, self.last)


@dataclass(frozen=True)
class Rows:
    """Where layers stand in a picture with a row each, which is 1 high; the first at 1.

    Attributes
    ----------
    numbers, places : number and middle of each layer that attends.
    gaps : thin rows for the layers between, before and after.
    end : the middle of a row that ends where the last row or gap does.
    """

    numbers: tuple[int, ...]
    places: tuple[float, ...]
    gaps: tuple[Gap, ...]
    end: float


def head_name(layered: Layered, layer: int, head: int) -> str:
    """A head, given from 0, as people read it: "L4 H2"."""
    return f"L{layered.numbers[layer]} H{head + 1}"


def without_attention(layered: Layered) -> tuple[int, ...]:
    """The numbers of the layers that do not attend."""
    last = max(layered.depth or 0, *layered.numbers)
    return tuple(sorted(set(range(1, last + 1)) - set(layered.numbers)))


def rows_of(layered: Layered, gap: float = GAP) -> Rows:
    """A row for each layer that attends, and a `gap` of that height for those in between."""
    silent = set(without_attention(layered))
    places, gaps, end = [], [], 0.5
    for is_gap, group in groupby(sorted({*layered.numbers, *silent}), silent.__contains__):
        numbers = list(group)
        if is_gap:
            gaps.append(Gap(end + gap / 2, numbers[0], numbers[-1]))
            end += gap
        else:
            places += [end + 0.5 + place for place in range(len(numbers))]
            end += len(numbers)
    return Rows(layered.numbers, tuple(places), tuple(gaps), end - 0.5)


def listed(numbers: Iterable[int]) -> str:
    """Ascending numbers in words, neighbours as ranges: "1–3, 5 and 7"."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    spans = [_span(run[0], run[-1]) for run in runs]
    return " and ".join(filter(None, (", ".join(spans[:-1]), *spans[-1:])))


def _span(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}–{last}"


def layer_beside(numbers: Sequence[int], layer: int, by: int) -> int:
    """The layer that attends `by` places further; beyond the first and the last there is none.

    >>> layer_beside((3, 6, 9), 6, by=5)
    9
    """
    place = numbers.index(layer) + by
    return numbers[min(max(place, 0), len(numbers) - 1)]


def head_beside(
    numbers: Sequence[int], heads: int, layer: int, head: int, by: int
) -> tuple[int, int]:
    """The head that is `by` heads further, layer after layer; the first comes after the last.

    Parameters
    ----------
    numbers : of the layers that attend, as people read them; `layer` is one of them.
    heads : of each layer; `head` counts from 1.

    >>> head_beside((3, 6), 4, layer=3, head=4, by=1)
    (6, 1)
    """
    index = (numbers.index(layer) * heads + head - 1 + by) % (len(numbers) * heads)
    return numbers[index // heads], index % heads + 1
