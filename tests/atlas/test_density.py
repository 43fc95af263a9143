"""Counts in cells against NumPy's histogram, and their parts in any order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.atlas.density import bounds_of, count_cells, join_bounds


def cloud(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(count, 3)).astype(np.float32)


@pytest.mark.parametrize("count", [1, 7, 5000, 300_000])
def test_counts_are_those_of_a_histogram(count: int) -> None:
    points = cloud(count)
    x0, x1, y0, y1 = (-2.5, 2.0, -3.0, 2.5)  # some points are outside
    counts = count_cells(points, np.array([x0, x1, y0, y1]), 16)
    wide = points.astype(np.float64)
    expected, *_ = np.histogram2d(wide[:, 1], wide[:, 0], bins=16, range=[[y0, y1], [x0, x1]])
    np.testing.assert_array_equal(counts, expected)


@given(st.integers(2, 400), st.integers(1, 5), st.integers(0, 99))
def test_parts_cover_and_count_what_the_whole_does(size: int, parts: int, seed: int) -> None:
    points = cloud(size, seed)
    order = np.random.default_rng(seed).permutation(size)
    split = np.array_split(points[order], parts)
    bounds = join_bounds([bounds_of(part) for part in split])
    np.testing.assert_array_equal(bounds, bounds_of(points))
    together = sum(count_cells(part, bounds).astype(int) for part in split)
    np.testing.assert_array_equal(together, count_cells(points, bounds))
    assert count_cells(points, bounds).sum() == size  # those on the bounds are inside


def test_equal_points_are_in_one_cell() -> None:
    points = np.tile(np.array([3.5, -1, 0], dtype=np.float32), (9, 1))
    counts = count_cells(points, bounds_of(points), 8)
    assert counts.max() == counts.sum() == 9


def test_no_point_covers_nothing() -> None:
    none = bounds_of(np.zeros((2, 0, 3), dtype=np.float32))
    assert none.shape == (2, 4)
    some = bounds_of(np.stack([cloud(5), cloud(5, 1)]))
    np.testing.assert_array_equal(join_bounds([none, some]), some)
