"""What is seen of a part of a plane, in chunks of any size, against all of it at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.atlas.density import Plane, look_at

QUERIES, KEYS = np.random.default_rng(3).normal(size=(2, 900, 2)).astype(np.float32)
PART = np.array([-0.5, 1.0, 0.0, 2.0])


def planes(chunk: int) -> list[Plane]:
    starts = range(0, len(QUERIES), chunk)
    return [Plane(i, QUERIES[i : i + chunk], KEYS[i : i + chunk]) for i in starts]


def inside(points: np.ndarray) -> np.ndarray:
    (x0, x1, y0, y1), (x, y) = PART, points.T
    return (x0 <= x) & (x <= x1) & (y0 <= y) & (y <= y1)


@given(st.integers(60, 1000))
def test_chunks_do_not_matter(chunk: int) -> None:
    look = look_at(planes(chunk), PART, cells=8)
    for counts, points in zip(look.counts, (QUERIES, KEYS), strict=True):
        x, y = points.astype(float).T
        expected, *_ = np.histogram2d(y, x, bins=8, range=[PART[2:], PART[:2]])
        np.testing.assert_array_equal(counts, expected)
    assert (look.queries, look.keys) == (inside(QUERIES).sum(), inside(KEYS).sum())
    tokens = np.flatnonzero(inside(QUERIES) | inside(KEYS))
    np.testing.assert_array_equal(look.tokens, tokens)
    np.testing.assert_array_equal(look.points, np.vstack([QUERIES[tokens], KEYS[tokens]]))


@given(st.integers(60, 1000))
def test_too_many_tokens_are_counted_only(chunk: int) -> None:
    many = int((inside(QUERIES) | inside(KEYS)).sum())
    assert look_at(planes(chunk), PART, max_tokens=many).tokens is not None
    look = look_at(planes(chunk), PART, max_tokens=many - 1)
    assert look.tokens is None
    assert look.points.shape == (0, 2)
    assert look.queries == inside(QUERIES).sum()


def test_an_empty_part_has_no_tokens() -> None:
    look = look_at(planes(100), np.array([50.0, 51.0, 50.0, 51.0]))
    assert look.tokens is not None
    assert (look.tokens.size, look.queries, look.counts.sum()) == (0, 0, 0)


@pytest.mark.parametrize(("points", "cells"), [(2_100, 32), (8_300, 64), (40_000, 128), (3, 16)])
def test_few_points_are_counted_in_larger_cells(points: int, cells: int) -> None:
    """At least four queries and keys a cell on average, in 16 cells a side or more."""
    spread = np.random.default_rng(points).uniform(0, 1, size=(2, points, 2)).astype(np.float32)
    look = look_at([Plane(0, *spread)], np.array([0.0, 1.0, 0.0, 1.0]), max_tokens=0)
    assert look.counts.shape == (2, cells, cells)
    assert look.counts.sum() == 2 * points
    x, y = spread[1].astype(float).T
    expected, *_ = np.histogram2d(y, x, bins=cells, range=[[0, 1], [0, 1]])
    np.testing.assert_array_equal(look.counts[1], expected)
