"""Metric against dot product of one head, against plain NumPy and by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.analysis.query_key.clouds import stage_vectors
from core.analysis.query_key.faithfulness import compare_matrix
from core.analysis.query_key.pair_scatter import density_of, pair_scatter
from core.analysis.query_key.scaling import scale_head
from core.analysis.query_key.target import head_target
from tests.analysis.traces import causal_mask, made_trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from core.analysis.projections.joint_embedding import Metric
    from core.analysis.query_key.pair_scatter import PairScatter
    from core.analysis.query_key.target import TargetKind
    from core.model.trace import Trace

# Two tokens on a line: queries at 0 and 3, keys at 1 and 5; scores are plain products.
QUERIES, KEYS = np.array([[0.0], [3.0]]), np.array([[1.0], [5.0]])


def trace_of(queries: NDArray[np.float64], keys: NDArray[np.float64], *, causal: bool) -> Trace:
    mask = causal_mask(len(queries)) if causal else None
    return made_trace(queries[None, None], keys[None, None], mask=mask)


def scattered(
    trace: Trace, distance: Metric = "euclidean", target: TargetKind = "centred"
) -> PairScatter:
    vectors = stage_vectors(trace, 0, 0, scale_head(trace, 0, 0))["raw"]
    return pair_scatter(trace, 0, 0, vectors, distance, target)


def random_trace(seed: int, size: int, *, causal: bool = False) -> Trace:
    queries, keys = np.random.default_rng(seed).normal(size=(2, size, 4))
    return trace_of(queries, keys + 0.7, causal=causal)


def test_every_pair_is_a_point_less_the_means_of_its_row() -> None:
    """Scores (0, 0) and (3, 15), distances (1, 5) and (2, 2)."""
    pairs = scattered(trace_of(QUERIES, KEYS, causal=False))
    assert list(zip(pairs.queries, pairs.keys, strict=True)) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert pairs.scores.tolist() == [0, 0, 3, 15]
    assert pairs.distances.tolist() == [1, 5, 2, 2]
    assert pairs.x.tolist() == [0, 0, -6, 6]
    assert pairs.y.tolist() == [-2, 2, 0, 0]
    assert pairs.correlation == 0
    assert pairs.attention[3] == pytest.approx(1 / (1 + np.exp(-12)))
    assert pairs.strongest.tolist() == [True, False, False, True]


def test_raw_scores_and_distances_are_drawn_as_they_are() -> None:
    pairs = scattered(trace_of(QUERIES, KEYS, causal=False), target="raw")
    assert pairs.x.tolist() == [0, 0, 3, 15]
    assert pairs.y.tolist() == [1, 5, 2, 2]
    assert pairs.correlation == pytest.approx(np.corrcoef(pairs.x, pairs.y)[0, 1])
    assert pairs.line == pytest.approx(np.polyfit(pairs.x, pairs.y, 1))


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("distance", ["euclidean", "cosine"])
@pytest.mark.parametrize("target", ["centred", "raw"])
def test_the_r_of_the_points_is_the_r_of_the_page(
    target: TargetKind, distance: Metric, causal: bool
) -> None:
    trace = random_trace(3, 9, causal=causal)
    pairs = scattered(trace, distance, target)
    by_points = np.corrcoef(pairs.x, pairs.y)[0, 1]
    assert pairs.correlation == pytest.approx(by_points, abs=1e-9)
    full = np.zeros((9, 9))
    full[pairs.queries, pairs.keys] = pairs.distances
    faithful = compare_matrix(head_target(trace, 0, 0, target), full)
    assert pairs.correlation == pytest.approx(faithful.correlation)
    assert pairs.line == pytest.approx(np.polyfit(pairs.x, pairs.y, 1), abs=1e-9)


def test_only_permitted_pairs_are_points_and_the_lone_first_query_is_counted() -> None:
    pairs = scattered(random_trace(4, 6, causal=True))
    assert (pairs.keys <= pairs.queries).all()
    assert pairs.queries.size == 6 * 7 // 2 - 1
    assert pairs.left_out == 1


def test_a_pair_is_found_by_its_positions_and_not_where_it_may_not_attend() -> None:
    pairs = scattered(random_trace(4, 6, causal=True))
    place = pairs.find(4, 2)
    assert place is not None
    assert (pairs.queries[place], pairs.keys[place]) == (4, 2)
    assert pairs.find(2, 4) is None


def test_a_density_counts_every_pair_once() -> None:
    pairs = scattered(random_trace(5, 30))
    density = density_of(pairs)
    assert density.counts.sum() == 900
    row = int(np.searchsorted(density.y_edges, pairs.y.max()) - 1)
    assert density.counts[row].sum() >= 1
    assert density.counts.shape == (density.y_edges.size - 1, density.x_edges.size - 1)
    highest = pairs.y >= density.y_edges[-2]
    assert density.counts[-1].sum() == highest.sum()
