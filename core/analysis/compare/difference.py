"""How differently heads attend on two sides whose words are aligned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.analysis.arrays import Floats, Indices
from core.analysis.compare.alignment import Alignment
from core.model.trace import Array, Trace

Place = tuple[int, int]  # layer and head, from 0


@dataclass(frozen=True, eq=False)
class Difference:
    """One head on both sides, aligned.

    Attributes
    ----------
    names : of the pairs; the last column of the arrays is the attention to what has no partner.
    a, b : attention, float32 (pair, pair + 1), rows summing to one.
    distance : mean Jensen-Shannon distance of the rows, 0 to 1.
    """

    names: tuple[str, ...]
    a: Array
    b: Array
    distance: float

    @property
    def change(self) -> Array:
        """B less A, float32 (pair, pair + 1)."""
        return self.b - self.a


@dataclass(frozen=True)
class Turn:
    """The query word whose attention moved most, and the keys that lost and gained most.

    `row` is a pair; `from_` and `to` are columns, of which the last is what has no partner. `lost`
    and `gained` are the attention to these two on sides A and B.
    """

    row: int
    from_: int
    to: int
    lost: tuple[float, float]
    gained: tuple[float, float]


@dataclass(frozen=True, eq=False)
class Matching:
    """For each head of A a head of B, all layers in order: -1 where none is left.

    `distance` is the mean over the samples, `low` and `high` its bootstrap interval (nan for fewer
    than 5 samples), each float64 (heads of A,), nan without a partner.
    """

    partner: Indices
    distance: Floats
    low: Floats
    high: Floats


def aligned_rows(trace: Trace, groups: Sequence[Sequence[int]], layer: int) -> Array:
    """Attention of a layer between groups of tokens, float32 (head, group, group + 1).

    Mean over the rows of a group, sum over its columns (Clark et al. 2019, section 4.1). The last
    column is the attention to all other tokens, and to a learned sink: rows sum to one.
    """
    raise NotImplementedError


def head_distances(a: Trace, b: Trace, alignment: Alignment) -> Floats:
    """How differently each head attends on two sides, float64 (layer, head), 0 to 1.

    The Jensen-Shannon distance of two rows is the square root of their divergence in bits (Endres
    and Schindelin 2003); this is its mean over the pairs. Equal sides differ by exactly 0.
    Raises `ValueError` where the models differ in layers or heads, or nothing is paired.
    """
    raise NotImplementedError


def between_heads(a: Trace, b: Trace, alignment: Alignment) -> Floats:
    """The same distance of each head of A to each head of B, (heads of A, heads of B)."""
    raise NotImplementedError


def difference(
    a: Trace, b: Trace, alignment: Alignment, head_a: Place, head_b: Place
) -> Difference:
    """A head of A beside a head of B."""
    raise NotImplementedError


def largest_turn(difference: Difference) -> Turn | None:
    """The largest change of attention of one word; None where nothing changed."""
    raise NotImplementedError


def match_heads(distances: Floats, *, one_to_one: bool = True) -> Matching:
    """The most alike head of B for each head of A, from `distances` (sample, heads A, heads B).

    With `one_to_one`, by the assignment with the least sum of mean distances (Kuhn 1955), so that
    each head of B is taken once; otherwise each head of A has its nearest.
    """
    raise NotImplementedError
