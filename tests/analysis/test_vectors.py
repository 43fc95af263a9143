"""Tokens as vectors, and one along another, against scikit-learn's PCA and SciPy's cosine."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import cosine, pdist
from sklearn.decomposition import PCA

from core.analysis.arrays import Floats
from core.analysis.pair_projection import project_pair
from core.analysis.vectors import (
    VectorSource,
    align_planes,
    closest_pair,
    layer_planes,
    principal_components,
    to_xy_coords,
    vector_projection,
)
from core.model import load, trace_text
from core.model.trace import Token, Trace
from tests.analysis.traces import (
    causal_mask,
    made_trace,
    random_trace,
    random_weights,
    spelled,
    trace_with_attention,
)

Summary = Literal["mean", "median", "max"] | int
SEEDS = st.integers(0, 2**32 - 1)
some = settings(deadline=None, max_examples=25)


def pca(rows: Any) -> PCA:
    return PCA(2, svd_solver="full").fit(rows)


def is_clear(rows: Any, *tokens: int) -> bool:
    """Whether the plane is unique, and these tokens have a direction in it."""
    sizes = PCA(svd_solver="full").fit(rows).singular_values_
    lengths = np.linalg.norm(pca(rows).transform(rows)[list(tokens)], axis=1)
    apart = (-np.diff(sizes)[:2] > 0.02 * sizes[0]).all() and sizes[0] > 1e-3
    return bool(apart and lengths.min(initial=1) > 1e-2)


def plane_of(rows: Any) -> Floats:
    """The chapter's plane: PCA divided by its Frobenius norm."""
    coordinates = pca(rows).transform(rows)
    return np.asarray(coordinates / np.linalg.norm(coordinates))


def pooled(heads: Floats, summary: Summary) -> Floats:
    """The first axis summarised, or one of it."""
    if isinstance(summary, int):
        return heads[summary]
    if summary == "mean":
        return np.asarray(heads.mean(axis=0))
    return np.asarray(np.quantile(heads, 1 if summary == "max" else 0.5, axis=0))


def framed(*words: str) -> tuple[Token, ...]:
    """[CLS] words [SEP]."""
    return spelled(" ".join(("[CLS]", *words, "[SEP]")))


@some
@given(SEEDS, st.integers(4, 9), st.sampled_from(("mean", "median", "max", 1)), st.booleans())
def test_points_are_the_principal_components_of_the_summarised_rows(
    seed: int, size: int, summary: Summary, normalize: bool
) -> None:
    scores = random_weights(seed, 1, 4, size)[0].astype(float)
    scores[:, -1] = scores[:, 0]
    rows = pooled(scores, summary)
    assume(is_clear(rows))
    points = to_xy_coords(scores, summary, normalize)
    expected = plane_of(rows) if normalize else pca(rows).transform(rows)
    np.testing.assert_allclose(points, expected, atol=1e-8)
    np.testing.assert_allclose(points[-1], points[0], atol=1e-12)


@pytest.mark.parametrize("scale", [1e-3, 1e4])
@pytest.mark.parametrize("tokens", [1, 2, 40])
def test_equal_rows_of_any_size_have_no_direction_and_no_variance(
    tokens: int, scale: float
) -> None:
    row = np.random.default_rng(tokens).normal(size=6) * scale
    coordinates, shares = principal_components(np.tile(row, (tokens, 1)))
    np.testing.assert_array_equal(coordinates, np.zeros((tokens, 2)))
    np.testing.assert_array_equal(shares, [0, 0])


@pytest.mark.parametrize("summary", ["mean", 2])
@pytest.mark.parametrize("source", ["queries", "keys", "values", "hidden states"])
def test_vectors_are_all_heads_side_by_side_or_the_one_head_named(
    source: VectorSource, summary: Summary
) -> None:
    hidden = np.random.default_rng(4).normal(size=(3, 6, 7)).astype(np.float32)
    trace = replace(random_trace(4, 2, 3, 6, 4), tokens=framed(*"abcd"), hidden_states=hidden)
    planes = layer_planes(trace, source, summary)
    for layer in range(2):
        rows = hidden[layer, 1:-1]
        if source != "hidden states":
            vectors = getattr(trace, source)[layer, :, 1:-1]  # (head, token, dim)
            rows = vectors[summary] if isinstance(summary, int) else np.hstack(list(vectors))
        assert is_clear(rows)
        np.testing.assert_allclose(planes.coordinates[layer], plane_of(rows), atol=1e-5)
        shares = pca(rows).explained_variance_ratio_
        np.testing.assert_allclose(planes.explained[layer], shares, atol=1e-5)


def test_special_tokens_between_two_sentences_are_dropped_where_they_stand() -> None:
    weights = random_weights(8, 2, 3, 7)
    trace = trace_with_attention(weights, spelled("[CLS] a b [SEP] c d e"))
    cases: list[tuple[Summary, list[int]]] = [("mean", [1, 2, 4, 5, 6]), ("max", [*range(7)])]
    for summary, shown in cases:
        planes = layer_planes(trace, summary=summary, keep_special=len(shown) == 7)
        assert planes.positions == tuple(shown)
        for plane, heads in zip(planes.coordinates, weights.astype(float), strict=True):
            rows = pooled(heads, summary)[np.ix_(shown, shown)]
            np.testing.assert_allclose(plane, plane_of(rows), atol=1e-5)


@some
@given(arrays(np.float64, (3, 5, 2), elements=st.floats(-10, 10, width=32)))
def test_alignment_keeps_distances_and_no_turn_or_mirror_comes_closer(clouds: Floats) -> None:
    """Schonemann 1966: the least squared distance is |X|^2 + |Y|^2 - 2 |X'Y|_*."""
    aligned = align_planes(clouds)
    np.testing.assert_allclose(aligned[0], clouds[0], atol=1e-12)
    for plane, turned, target in zip(clouds[1:], aligned[1:], aligned[:-1], strict=True):
        before, after = (pdist(np.vstack([each, [0, 0]])) for each in (plane, turned))
        np.testing.assert_allclose(after, before, atol=1e-8)  # and from the arrows' origin
        bound = 2 * np.linalg.norm(plane.T @ target, "nuc")
        least = float((plane**2).sum() + (target**2).sum() - bound)
        assert float(((turned - target) ** 2).sum()) == pytest.approx(least, abs=1e-7)


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


@pytest.mark.parametrize("length", [0.0, 1e-8, 1e-200])
def test_a_projection_on_next_to_nothing_is_finite_and_never_longer_than_a(length: float) -> None:
    projection = vector_projection([3.0, -4.0], [length, 0.0])
    assert np.isfinite(projection).all()
    assert np.linalg.norm(projection) <= 5
    assert length or not projection.any()


def test_the_closest_pair_is_that_of_the_correlation_of_rows() -> None:
    rows = np.random.default_rng(3).normal(size=(6, 9))
    found = closest_pair(rows)
    assert found is not None
    cosines = 1 - pdist(rows - rows.mean(axis=0), "cosine")
    pairs = list(itertools.combinations(range(6), 2))
    assert (found.first, found.second) == pairs[cosines.argmax()]
    assert (found.cosine, found.median) == pytest.approx((cosines.max(), np.median(cosines)))
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


def test_it_along_book_in_the_chapters_sentence() -> None:
    trace = trace_text(load("bundled/minilm"), "Oh, this book? I've enjoyed it.")
    projection = project_pair(trace, 10, 4)
    assert projection.strongest_head == (3, 1)
    assert projection.same_way == (5,)


def test_uniform_attention_is_to_permitted_keys_alone() -> None:
    """Of a causal text: none to a later token, a third each of three."""
    nothing = np.zeros((2, 3, 5, 4))
    trace = made_trace(nothing, nothing, mask=causal_mask(5))
    np.testing.assert_allclose(project_pair(trace, 2, 1).uniform, 1 / 3)
    np.testing.assert_array_equal(project_pair(trace, 1, 2).uniform, 0)


@some
@given(SEEDS, st.integers(4, 8))
def test_a_along_b_is_the_cosine_in_the_plane_and_of_the_rows(seed: int, size: int) -> None:
    weights = random_weights(seed, 2, 3, size + 2)
    a, b = np.random.default_rng(seed).permutation(size)[:2].tolist()
    trace = trace_with_attention(weights, framed(*"abcdefgh"[:size]))
    projection = project_pair(trace, a + 1, b + 1)
    np.testing.assert_allclose(projection.a_to_b, weights[:, :, a + 1, b + 1], atol=1e-6)
    np.testing.assert_allclose(projection.b_to_a, weights[:, :, b + 1, a + 1], atol=1e-6)
    for layer, (drawn_b, drawn_a, along) in enumerate(projection.vectors):
        rows = weights[layer].astype(float).mean(axis=0)[1:-1, 1:-1]
        assume(is_clear(rows, a, b))
        plane, centred = pca(rows).transform(rows), rows - rows.mean(axis=0)
        share = pca(rows).explained_variance_ratio_.sum()
        assert projection.kept[layer] == pytest.approx(share, abs=1e-4)
        length = projection.in_plane[layer]
        assert length == pytest.approx(1 - cosine(plane[a], plane[b]), abs=1e-3)
        assert projection.in_full[layer] == pytest.approx(
            1 - cosine(centred[a], centred[b]), abs=1e-3
        )
        for drawn, token in ((drawn_a, a), (drawn_b, b)):
            unit = plane[token] / np.linalg.norm(plane[token])
            np.testing.assert_allclose(drawn, unit, atol=1e-3)
        np.testing.assert_allclose(along, length * drawn_b, atol=1e-9)


def same_keys(size: int) -> Trace:
    """All tokens see the same keys."""
    draw = np.random.default_rng(size)
    queries = draw.normal(size=(2, 12, size, 32))
    return made_trace(queries, np.repeat(draw.normal(size=(2, 12, 1, 32)), size, axis=2))


def same_queries(size: int) -> Trace:
    weights = np.repeat(random_weights(size, 2, 3, size)[:, :, :1], size, axis=2)
    return trace_with_attention(weights)


@pytest.mark.parametrize("size", [2, 30])
@pytest.mark.parametrize("make", [same_keys, same_queries])
def test_no_token_has_a_direction_where_all_attend_alike(make: Any, size: int) -> None:
    projection = project_pair(make(size), 1, 0)
    assert np.isnan([projection.in_plane, projection.in_full]).all()
    assert projection.same_way == ()
    np.testing.assert_array_equal(projection.vectors, 0)


@pytest.mark.parametrize("size", [4, 22])
def test_a_token_at_the_mean_of_all_has_no_direction_but_the_others_have(size: int) -> None:
    """The first token sees one half, the second the other half, the rest see everything."""
    mask = np.zeros((size, size), dtype=np.float32)
    mask[0, size // 2 :] = mask[1, : size // 2] = -np.inf
    nothing = np.zeros((2, 3, size, 4))
    trace = made_trace(nothing, nothing, mask=mask)
    np.testing.assert_allclose(project_pair(trace, 0, 1).in_plane, -1)
    for a, b, lengths in ((2, 0, [1, 0, 0]), (0, 2, [0, 1, 0]), (2, 3, [0, 0, 0])):
        projection = project_pair(trace, a, b)
        assert np.isnan([projection.in_plane, projection.in_full]).all()
        drawn = np.linalg.norm(projection.vectors, axis=-1)
        np.testing.assert_allclose(drawn, [lengths] * 2, atol=1e-12)


@pytest.mark.parametrize("position", [0, 5, 6, -1])
def test_a_position_that_is_special_or_outside_the_text_is_refused(position: int) -> None:
    trace = trace_with_attention(random_weights(0, 1, 1, 6), framed(*"abcd"))
    for a, b in ((position, 1), (1, position)):
        with pytest.raises(ValueError, match=str(position)):
            project_pair(trace, a, b)
