"""Tokens as vectors against PCA, Procrustes and projections worked out in plain NumPy."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy.spatial.distance import cosine

from core.analysis.vectors import (
    align_planes,
    closest_pair,
    layer_planes,
    principal_components,
    to_xy_coords,
    vector_projection,
)
from tests.analysis.test_strongest_link import framed
from tests.analysis.traces import made_trace, random_weights, spelled, trace_with_attention

if TYPE_CHECKING:
    from core.model.trace import Trace

Floats = NDArray[np.float64]
Pooled = Literal["mean", "median", "max"]
Vectors = Literal["queries", "keys", "values"]
SEEDS = st.integers(0, 2**32 - 1)
SIZES = st.integers(4, 9)
POOLED: tuple[Pooled, ...] = ("mean", "median", "max")
some = settings(deadline=None, max_examples=25)


def pca(rows: Any, components: int = 2) -> tuple[Floats, Floats]:
    """Coordinates and shares of the variance by singular values; zeros where there are none."""
    table = np.asarray(rows, dtype=np.float64)
    left, sizes, _ = np.linalg.svd(table - table.mean(axis=0), full_matrices=False)
    coordinates, shares = np.zeros((len(table), components)), np.zeros(components)
    rank = min(components, int((sizes > 1e-10 * max(1.0, float(np.abs(table).max()))).sum()))
    coordinates[:, :rank] = (left * sizes)[:, :rank]
    shares[:rank] = (sizes**2 / max(float((sizes**2).sum()), 1e-300))[:rank]
    return coordinates, shares


def is_clear(rows: Any, components: int = 2, min_step: float = 0.01) -> bool:
    """Whether the components differ in variance: only then is the plane unique.

    `min_step` is between singular values, as a share of the largest.
    """
    table = np.asarray(rows, dtype=np.float64)
    sizes = np.linalg.svd(table - table.mean(axis=0), compute_uv=False)
    steps = -np.diff(np.append(sizes, 0.0))[:components]
    return bool((steps > min_step * sizes[0]).all()) and float(sizes[0]) > 1e-3


def plane_of(rows: Any, components: int = 2) -> Floats:
    """The chapter's plane: PCA divided by its Frobenius norm."""
    coordinates, _ = pca(rows, components)
    return coordinates / np.sqrt((coordinates**2).sum())


def assert_same_up_to_signs(measured: Any, expected: Any, atol: float = 1e-5) -> None:
    assert measured.shape == expected.shape
    signs = np.where((measured * expected).sum(axis=-2, keepdims=True) < 0, -1.0, 1.0)
    np.testing.assert_allclose(measured * signs, expected, atol=atol)


def pooled(stack: Floats, summary: Pooled | int) -> Floats:
    """The first axis summarised, or one of it."""
    if isinstance(summary, int):
        return stack[summary]
    if summary == "mean":
        return stack.sum(axis=0) / len(stack)
    ordered = np.sort(stack, axis=0)
    if summary == "max":
        return ordered[-1]
    return (ordered[(len(stack) - 1) // 2] + ordered[len(stack) // 2]) / 2


def distances(points: Floats) -> Floats:
    """Between all points, and from each to the origin, which the arrows start from."""
    gaps = np.linalg.norm(points[:, None] - points[None], axis=-1)
    return np.column_stack([gaps, np.linalg.norm(points, axis=-1)])


def random_trace(seed: int, layers: int = 2, heads: int = 3, size: int = 6) -> Trace:
    """A trace whose queries, keys, values and hidden states are all drawn."""
    draw = np.random.default_rng(seed)
    trace = made_trace(*draw.normal(size=(3, layers, heads, size, 4)), scaling=0.5)
    hidden = draw.normal(size=(layers + 1, size, 7)).astype(np.float32)
    names = framed(*(f"t{i}" for i in range(size - 2)))
    return replace(trace, tokens=names, hidden_states=hidden)


@some
@given(SEEDS, SIZES, st.sampled_from((*POOLED, 1)), st.booleans())
def test_points_are_the_principal_components_of_the_summarised_rows(
    seed: int, size: int, summary: Pooled | int, normalize: bool
) -> None:
    scores = random_weights(seed, 1, 4, size)[0].astype(float)
    scores[:, -1] = scores[:, 0]
    rows = pooled(scores, summary)
    assume(is_clear(rows))
    points = to_xy_coords(scores, summary, normalize)
    expected = plane_of(rows) if normalize else pca(rows)[0]
    assert_same_up_to_signs(points, expected, atol=1e-8)
    np.testing.assert_allclose(points[-1], points[0], atol=1e-12)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize("tokens", [1, 2, 40])
def test_equal_rows_of_any_size_have_no_direction_and_no_variance(
    tokens: int, scale: float
) -> None:
    row = np.random.default_rng(tokens).normal(size=6) * scale
    coordinates, shares = principal_components(np.tile(row, (tokens, 1)))
    np.testing.assert_array_equal(coordinates, np.zeros((tokens, 2)))
    np.testing.assert_array_equal(shares, [0, 0])


@pytest.mark.parametrize("summary", ["mean", 0, 2])
@pytest.mark.parametrize("source", ["queries", "keys", "values", "hidden states"])
def test_vectors_are_all_heads_side_by_side_or_the_one_head_named(
    source: Vectors | Literal["hidden states"], summary: Pooled | int
) -> None:
    trace = random_trace(4)
    assert trace.hidden_states is not None
    planes = layer_planes(trace, source, summary)
    for layer in range(2):
        rows = trace.hidden_states[layer, 1:-1]
        if source != "hidden states":
            vectors = getattr(trace, source)[layer, :, 1:-1]  # (head, token, dim)
            rows = vectors[summary] if isinstance(summary, int) else np.hstack(list(vectors))
        assert is_clear(rows)
        assert_same_up_to_signs(planes.coordinates[layer], plane_of(rows))
        np.testing.assert_allclose(planes.explained[layer], pca(rows)[1], atol=1e-5)


def test_special_tokens_between_two_sentences_are_dropped_where_they_stand() -> None:
    names = spelled("[CLS] a b [SEP] c d e")
    weights = random_weights(8, 2, 3, 7)
    trace = trace_with_attention(weights, names)
    cases: list[tuple[Pooled, list[int]]] = [("mean", [1, 2, 4, 5, 6]), ("max", [*range(7)])]
    for summary, shown in cases:
        planes = layer_planes(trace, summary=summary, keep_special=len(shown) == 7)
        assert planes.positions == tuple(shown)
        rows = pooled(weights.astype(float).swapaxes(0, 1), summary)[:, shown][:, :, shown]
        assert_same_up_to_signs(planes.coordinates, np.stack([plane_of(each) for each in rows]))


@some
@given(arrays(np.float64, (3, 5, 2), elements=st.floats(-10, 10, width=32)))
def test_alignment_keeps_distances_and_no_turn_or_mirror_comes_closer(clouds: Floats) -> None:
    """Schonemann 1966: the least squared distance is |X|^2 + |Y|^2 - 2 |X'Y|_*."""
    aligned = align_planes(clouds)
    np.testing.assert_allclose(aligned[0], clouds[0], atol=1e-12)
    for layer in (1, 2):
        plane, target = clouds[layer], aligned[layer - 1]
        np.testing.assert_allclose(distances(aligned[layer]), distances(plane), atol=1e-8)
        bound = 2 * np.linalg.svd(plane.T @ target, compute_uv=False).sum()
        least = float((plane**2).sum() + (target**2).sum() - bound)
        assert float(((aligned[layer] - target) ** 2).sum()) == pytest.approx(least, abs=1e-7)


VECTORS = st.integers(1, 5).flatmap(
    lambda size: arrays(np.float64, (2, size), elements=st.floats(-100, 100))
)


@some
@given(VECTORS)
def test_a_projection_is_the_outer_product_of_its_direction(vectors: Floats) -> None:
    a, b = vectors
    assume(np.linalg.norm(b) > 1e-3)
    direction = b / np.linalg.norm(b)
    expected = np.outer(direction, direction) @ a
    np.testing.assert_allclose(vector_projection(a, b), expected, atol=1e-9)
    np.testing.assert_allclose(vector_projection(a, -3 * b), expected, atol=1e-9)
    assert abs((a - vector_projection(a, b)) @ b) < 1e-9 * (1 + np.abs(a).sum() * np.abs(b).sum())


@pytest.mark.parametrize("length", [0.0, 1e-8, 1e-200])
def test_a_projection_on_next_to_nothing_is_finite_and_never_longer_than_a(length: float) -> None:
    a = np.array([3.0, -4.0])
    projection = vector_projection(a, [length, 0.0])
    assert np.isfinite(projection).all()
    assert np.linalg.norm(projection) <= 5
    assert length or not projection.any()


def test_the_closest_pair_is_that_of_the_correlation_of_rows() -> None:
    rows = np.random.default_rng(3).normal(size=(6, 9))
    found = closest_pair(rows)
    assert found is not None
    centred = rows - rows.mean(axis=0)
    expected = {
        (a, b): 1 - cosine(centred[a], centred[b]) for a, b in itertools.combinations(range(6), 2)
    }
    assert (found.first, found.second) == max(expected, key=lambda pair: expected[pair])
    assert found.cosine == pytest.approx(max(expected.values()))
    assert found.median == pytest.approx(np.median(list(expected.values())))
    for without in (rows[:1], np.ones((3, 4)), rows[:2]):  # two rows point away from each other
        assert closest_pair(without) is None


def test_two_tokens_that_are_held_are_a_pair_where_they_point_apart_but_need_a_direction() -> None:
    rows = np.array([[1.0, 0], [-1, 0], [0, 0]])
    found = closest_pair(rows, [1, 0])
    assert found is not None
    assert (found.first, found.second) == (1, 0)
    assert found.cosine == pytest.approx(-1)
    assert closest_pair(rows, [0, 2]) is None
    assert closest_pair(rows, [0]) is None


@pytest.mark.parametrize("shape", [(3, 3), (2, 3, 4), (1, 2, 3, 3)])
def test_scores_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"token"):
        to_xy_coords(np.ones(shape))
