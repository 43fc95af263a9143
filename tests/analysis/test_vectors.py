"""Tokens as vectors against PCA, Procrustes and projections worked out in plain NumPy."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from core.analysis.vectors import (
    align_planes,
    count_close_pairs,
    layer_planes,
    layer_rows,
    normalize_plane,
    planes_frame,
    principal_components,
    to_xy_coords,
    vector_projection,
)
from core.model import load, trace_text
from core.model.trace import Layer, Token, Trace
from tests.analysis.traces import plain_tokens, random_weights, token, trace_with_attention
from tests.model.families import FAMILIES, build

if TYPE_CHECKING:
    from pathlib import Path

Floats = NDArray[np.float64]
Pooled = Literal["mean", "median", "max"]
CHAPTER = "Oh, this book? I've enjoyed it."
SEEDS = st.integers(0, 2**32 - 1)
SIZES = st.integers(4, 9)
POOLED: tuple[Pooled, ...] = ("mean", "median", "max")
steady = settings(deadline=None)


# Oracles -------------------------------------------------------------------------------------


def pca(rows: Any, components: int = 2) -> tuple[Floats, Floats]:
    """Coordinates and shares of the variance by singular values; zeros where none is left."""
    table = np.asarray(rows, dtype=np.float64)
    left, sizes, _ = np.linalg.svd(table - table.mean(axis=0), full_matrices=False)
    coordinates, shares = np.zeros((len(table), components)), np.zeros(components)
    kept = min(components, int((sizes > 1e-10 * max(1.0, float(np.abs(table).max()))).sum()))
    coordinates[:, :kept] = (left * sizes)[:, :kept]
    shares[:kept] = (sizes**2 / max(float((sizes**2).sum()), 1e-300))[:kept]
    return coordinates, shares


def has_clear_components(rows: Any, components: int = 2, least: float = 0.02) -> bool:
    """Whether the components are told apart by their variance: only then is the plane unique.

    `least` is the smallest step between singular values, as a share of the largest.
    """
    table = np.asarray(rows, dtype=np.float64)
    sizes = np.linalg.svd(table - table.mean(axis=0), compute_uv=False)
    steps = -np.diff(np.append(sizes, 0.0))[:components]
    return bool((steps > least * sizes[0]).all()) and float(sizes[0]) > 1e-3


def plane_of(rows: Any, components: int = 2) -> Floats:
    """The chapter's plane: PCA divided by its Frobenius norm."""
    coordinates, _ = pca(rows, components)
    return coordinates / np.sqrt((coordinates**2).sum())


def assert_same_up_to_signs(found: Any, expected: Any, atol: float = 1e-5) -> None:
    assert found.shape == expected.shape
    signs = np.where((found * expected).sum(axis=-2, keepdims=True) < 0, -1.0, 1.0)
    np.testing.assert_allclose(found * signs, expected, atol=atol)


def softmax_by_hand(trace: Trace) -> Floats:
    """(layer, head, token, token) from queries and keys in float64, nothing masked."""
    scaling = np.array([rule.scaling for rule in trace.layers])[:, None, None, None]
    scores = np.einsum("lhqd,lhkd->lhqk", trace.queries.astype(float), trace.keys.astype(float))
    powers = np.exp(scores * scaling)
    weights: Floats = powers / powers.sum(axis=-1, keepdims=True)
    return weights


def pooled(stack: Floats, summary: Pooled) -> Floats:
    """The first axis summarised."""
    if summary == "mean":
        return stack.sum(axis=0) / len(stack)
    ordered = np.sort(stack, axis=0)
    if summary == "max":
        return ordered[-1]
    return (ordered[(len(stack) - 1) // 2] + ordered[len(stack) // 2]) / 2


def closest(points: Floats, target: Floats) -> float:
    """Least squared distance to `target` of `points` turned or mirrored, |X|^2 + |Y|^2 - 2 |X'Y|_*.

    Schonemann 1966: the best value of the trace is the sum of the singular values.
    """
    bound = 2 * np.linalg.svd(points.T @ target, compute_uv=False).sum()
    return float((points**2).sum() + (target**2).sum() - bound)


def distances(points: Floats) -> Floats:
    """Between all points, and from each to the origin, which the arrows start from."""
    gaps = np.linalg.norm(points[:, None] - points[None], axis=-1)
    return np.column_stack([gaps, np.linalg.norm(points, axis=-1)])


# Traces --------------------------------------------------------------------------------------


def framed(*words: str) -> tuple[Token, ...]:
    """[CLS] words [SEP]."""
    inner = [token(word, i + 1, i) for i, word in enumerate(words)]
    first, last = "[CLS]", "[SEP]"
    return (
        token(first, 0, -1, special=True),
        *inner,
        token(last, len(words) + 1, -1, special=True),
    )


def random_trace(seed: int, layers: int = 2, heads: int = 3, size: int = 6) -> Trace:
    """A trace whose queries, keys, values and hidden states are all drawn."""
    draw = np.random.default_rng(seed)
    vectors = draw.normal(size=(3, layers, heads, size, 4)).astype(np.float32)
    hidden = draw.normal(size=(layers + 1, size, 7)).astype(np.float32)
    queries, keys, values = vectors
    names = framed(*(f"t{i}" for i in range(size - 2)))
    rules = tuple(Layer(0.5, None) for _ in range(layers))
    return Trace("drawn", names, queries, keys, values, rules, causal=False, hidden_states=hidden)


@pytest.fixture(scope="module")
def chapter() -> Trace:
    return trace_text(load("bundled/minilm"), CHAPTER)


# The chapter's sentence ------------------------------------------------------------------------


def test_the_chapters_sentence_has_the_chapters_coordinates(chapter: Trace) -> None:
    planes = layer_planes(chapter)
    inner = softmax_by_hand(chapter).mean(axis=1)[:, 1:-1, 1:-1]
    assert all(has_clear_components(rows) for rows in inner)
    assert_same_up_to_signs(planes.coordinates, np.stack([plane_of(rows) for rows in inner]))
    assert planes.coordinates.shape == (6, 11, 2)
    assert planes.coordinates.dtype == np.float64
    assert planes.positions == tuple(range(1, 12))


def test_the_chapters_function_gives_the_same_from_the_bare_attention(chapter: Trace) -> None:
    inner = softmax_by_hand(chapter)[:, :, 1:-1, 1:-1]
    for layer in range(6):
        expected = plane_of(inner[layer].mean(axis=0))
        assert_same_up_to_signs(to_xy_coords(inner[layer]), expected, atol=1e-9)


def test_the_planes_of_the_chapter_keep_the_variance_of_their_singular_values(
    chapter: Trace,
) -> None:
    planes = layer_planes(chapter)
    inner = softmax_by_hand(chapter).mean(axis=1)[:, 1:-1, 1:-1]
    expected = np.stack([pca(rows)[1] for rows in inner])
    np.testing.assert_allclose(planes.explained, expected, atol=1e-5)
    assert (planes.explained.sum(axis=1) <= 1 + 1e-12).all()


@pytest.mark.parametrize("summary", POOLED)
def test_each_summary_of_the_chapters_heads_is_numpys(chapter: Trace, summary: Pooled) -> None:
    weights = softmax_by_hand(chapter)[:, :, 1:-1, 1:-1]
    inner = pooled(weights.swapaxes(0, 1), summary)
    planes = layer_planes(chapter, summary=summary)
    assert all(has_clear_components(rows) for rows in inner)
    assert_same_up_to_signs(planes.coordinates, np.stack([plane_of(rows) for rows in inner]))


def test_one_head_of_the_chapter_is_that_head_alone(chapter: Trace) -> None:
    weights = softmax_by_hand(chapter)[:, :, 1:-1, 1:-1]
    for head in range(12):
        planes = layer_planes(chapter, summary=head, normalize=False)
        for layer in range(6):
            expected, shares = pca(weights[layer, head])
            np.testing.assert_allclose(planes.explained[layer], shares, atol=1e-4)
            if has_clear_components(weights[layer, head]):
                assert_same_up_to_signs(planes.coordinates[layer], expected)


def test_the_special_tokens_of_the_chapter_are_kept_on_request(chapter: Trace) -> None:
    planes = layer_planes(chapter, keep_special=True)
    whole = softmax_by_hand(chapter).mean(axis=1)
    assert planes.positions == tuple(range(13))
    assert all(has_clear_components(rows) for rows in whole)
    assert_same_up_to_signs(planes.coordinates, np.stack([plane_of(rows) for rows in whole]))


def test_without_normalisation_the_chapters_planes_keep_their_size(chapter: Trace) -> None:
    planes = layer_planes(chapter, normalize=False)
    inner = softmax_by_hand(chapter).mean(axis=1)[:, 1:-1, 1:-1]
    expected = np.stack([pca(rows)[0] for rows in inner])
    assert_same_up_to_signs(planes.coordinates, expected)


@pytest.mark.parametrize("source", ["queries", "keys", "values"])
def test_the_chapters_vectors_are_the_heads_side_by_side(
    chapter: Trace, source: Literal["queries", "keys", "values"]
) -> None:
    planes = layer_planes(chapter, source)
    for layer in range(6):
        rows = np.hstack(list(getattr(chapter, source)[layer, :, 1:-1]))  # (token, head * dim)
        assert rows.shape == (11, 12 * 32)
        assert has_clear_components(rows, least=0.01)
        assert_same_up_to_signs(planes.coordinates[layer], plane_of(rows))
        np.testing.assert_allclose(planes.explained[layer], pca(rows)[1], atol=1e-5)


def test_the_hidden_states_of_a_layer_are_those_it_receives(chapter: Trace) -> None:
    assert chapter.hidden_states is not None
    planes = layer_planes(chapter, "hidden states")
    assert planes.coordinates.shape == (6, 11, 2)
    for layer in range(6):
        rows = chapter.hidden_states[layer, 1:-1]
        assert has_clear_components(rows, least=0.01)
        assert_same_up_to_signs(planes.coordinates[layer], plane_of(rows))


# Attention rows as points ----------------------------------------------------------------------


@steady
@given(SEEDS, SIZES, st.sampled_from(POOLED), st.booleans())
def test_points_are_the_principal_components_of_the_summarised_rows(
    seed: int, size: int, summary: Pooled, normalize: bool
) -> None:
    scores = random_weights(seed, 1, 4, size)[0].astype(float)
    rows = pooled(scores, summary)
    assume(has_clear_components(rows))
    found = to_xy_coords(scores, summary, normalize)
    expected = plane_of(rows) if normalize else pca(rows)[0]
    assert_same_up_to_signs(found, expected, atol=1e-8)


@steady
@given(SEEDS, SIZES, st.integers(0, 3))
def test_a_number_picks_one_head(seed: int, size: int, head: int) -> None:
    scores = random_weights(seed, 1, 4, size)[0].astype(float)
    assume(has_clear_components(scores[head]))
    assert_same_up_to_signs(to_xy_coords(scores, head), plane_of(scores[head]), atol=1e-8)


def test_the_mean_is_the_summary_and_the_frobenius_norm_the_scale_unless_said_otherwise() -> None:
    scores = random_weights(3, 1, 3, 5)[0]
    found = to_xy_coords(scores)
    assert_same_up_to_signs(found, plane_of(scores.astype(float).mean(axis=0)), atol=1e-6)
    assert np.sqrt((found**2).sum()) == pytest.approx(1)
    assert found.dtype == np.float64


def test_the_first_axis_carries_the_most_variance_and_both_are_centred() -> None:
    found = to_xy_coords(random_weights(5, 1, 3, 8)[0], normalize=False)
    np.testing.assert_allclose(found.sum(axis=0), 0, atol=1e-9)
    assert found[:, 0].var() >= found[:, 1].var()
    assert abs(found[:, 0] @ found[:, 1]) < 1e-9


def test_lists_of_whole_numbers_are_scores_too() -> None:
    found = to_xy_coords([[[3, 0, 0], [0, 1, 0], [0, 0, 1]]], normalize=False)
    expected, _ = pca([[3, 0, 0], [0, 1, 0], [0, 0, 1]])
    assert_same_up_to_signs(found, expected, atol=1e-12)


@pytest.mark.parametrize("shape", [(3,), (3, 3), (2, 3, 4), (2, 4, 3), (1, 2, 3, 3)])
def test_scores_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"token"):
        to_xy_coords(np.ones(shape))


@steady
@given(SEEDS, SIZES, st.sampled_from((*POOLED, 1)), st.booleans())
def test_identical_tokens_are_identical_vectors(
    seed: int, size: int, summary: Pooled | int, normalize: bool
) -> None:
    scores = random_weights(seed, 1, 3, size)[0].astype(float)
    scores[:, -1] = scores[:, 0]
    found = to_xy_coords(scores, summary, normalize)
    np.testing.assert_allclose(found[-1], found[0], atol=1e-12)


def test_identical_tokens_of_a_trace_are_identical_vectors_in_every_layer() -> None:
    weights = random_weights(11, 3, 4, 7)
    weights[:, :, 5] = weights[:, :, 2]
    planes = layer_planes(trace_with_attention(weights, framed("a", "b", "c", "d", "b")))
    np.testing.assert_allclose(planes.coordinates[:, 4], planes.coordinates[:, 1], atol=1e-6)
    assert np.abs(planes.coordinates).max() > 0.1


# Principal components --------------------------------------------------------------------------


@steady
@given(SEEDS, SIZES, st.integers(1, 8), st.integers(1, 3))
def test_principal_components_and_their_shares_are_those_of_the_singular_values(
    seed: int, tokens: int, length: int, components: int
) -> None:
    rows = np.random.default_rng(seed).normal(size=(tokens, length)) * 5
    assume(has_clear_components(rows, min(components, length)))
    coordinates, shares = principal_components(rows, components)
    expected, expected_shares = pca(rows, components)
    assert_same_up_to_signs(coordinates, expected, atol=1e-8)
    np.testing.assert_allclose(shares, expected_shares, atol=1e-10)


@steady
@given(SEEDS, SIZES)
def test_all_components_together_keep_every_distance_and_all_variance(seed: int, size: int) -> None:
    rows = np.random.default_rng(seed).normal(size=(size, 3))
    coordinates, shares = principal_components(rows, 3)
    gaps = np.linalg.norm(rows[:, None] - rows[None], axis=-1)
    np.testing.assert_allclose(distances(coordinates)[:, :-1], gaps, atol=1e-9)
    assert shares.sum() == pytest.approx(1)


def test_rows_on_a_line_have_one_component_and_it_keeps_everything() -> None:
    rows = np.outer([-2.0, 0.0, 1.0, 1.0], [0.6, 0.8, 0.0])
    coordinates, shares = principal_components(rows)
    np.testing.assert_allclose(np.abs(coordinates[:, 0]), [2, 0, 1, 1], atol=1e-12)
    np.testing.assert_allclose(coordinates[:, 1], 0, atol=1e-12)
    np.testing.assert_allclose(shares, [1, 0], atol=1e-12)


@steady
@given(SEEDS, st.integers(1, 40), st.integers(1, 6), st.sampled_from([1e-3, 1.0, 1e2, 1e4]))
def test_equal_rows_of_any_size_have_no_direction_and_no_variance(
    seed: int, tokens: int, length: int, scale: float
) -> None:
    row = np.random.default_rng(seed).normal(size=length) * scale
    coordinates, shares = principal_components(np.tile(row, (tokens, 1)))
    np.testing.assert_array_equal(normalize_plane(coordinates), np.zeros((tokens, 2)))
    np.testing.assert_allclose(coordinates, 0, atol=1e-9 * scale)
    np.testing.assert_array_equal(shares, [0, 0])


def test_components_that_the_rows_cannot_fill_are_zeros() -> None:
    coordinates, shares = principal_components(np.array([[0.0, 2.0], [0.0, 0.0]]), 3)
    np.testing.assert_allclose(np.abs(coordinates), [[1, 0, 0], [1, 0, 0]], atol=1e-12)
    np.testing.assert_allclose(shares, [1, 0, 0], atol=1e-12)


@steady
@given(SEEDS, SIZES)
def test_a_normalised_plane_has_frobenius_norm_one_and_the_same_shape(seed: int, size: int) -> None:
    plane = np.random.default_rng(seed).normal(size=(size, 2)) * 7
    found = normalize_plane(plane)
    np.testing.assert_allclose(found, plane / np.sqrt(np.trace(plane.T @ plane)), atol=1e-12)


def test_a_plane_of_zeros_stays_one_when_normalised() -> None:
    np.testing.assert_array_equal(normalize_plane(np.zeros((4, 2))), np.zeros((4, 2)))


# Few tokens, and tokens all alike --------------------------------------------------------------


@pytest.mark.parametrize("normalize", [True, False])
def test_one_token_stays_at_the_origin(normalize: bool) -> None:
    np.testing.assert_array_equal(to_xy_coords([[[1.0]]], normalize=normalize), [[0.0, 0.0]])
    trace = trace_with_attention(random_weights(0, 2, 3, 3), framed("alone"))
    planes = layer_planes(trace, normalize=normalize, align=True)
    np.testing.assert_array_equal(planes.coordinates, np.zeros((2, 1, 2)))
    np.testing.assert_array_equal(planes.explained, np.zeros((2, 2)))


def test_two_tokens_point_in_opposite_directions_on_one_axis() -> None:
    found = to_xy_coords([[[0.9, 0.1], [0.3, 0.7]]])
    np.testing.assert_allclose(np.abs(found[:, 0]), np.sqrt(0.5), atol=1e-12)
    assert found[0, 0] == pytest.approx(-found[1, 0])
    np.testing.assert_allclose(found[:, 1], 0, atol=1e-12)
    unscaled = to_xy_coords([[[0.9, 0.1], [0.3, 0.7]]], normalize=False)
    np.testing.assert_allclose(np.abs(unscaled[:, 0]), 0.3 * np.sqrt(2), atol=1e-12)


@pytest.mark.parametrize("size", range(1, 41))
def test_uniform_attention_leaves_every_token_at_the_origin(size: int) -> None:
    uniform = np.full((3, size, size), 1 / size)
    np.testing.assert_array_equal(to_xy_coords(uniform), np.zeros((size, 2)))
    trace = trace_with_attention(uniform[None].astype(np.float32), plain_tokens(*"x" * size))
    planes = layer_planes(trace, align=True)
    np.testing.assert_array_equal(planes.coordinates, np.zeros((1, size, 2)))
    np.testing.assert_array_equal(planes.explained, np.zeros((1, 2)))


@steady
@given(SEEDS, st.integers(1, 40), st.sampled_from((*POOLED, 0)))
def test_tokens_with_the_same_attention_all_stay_at_the_origin(
    seed: int, size: int, summary: Pooled | int
) -> None:
    rows = np.repeat(random_weights(seed, 1, 3, size)[0, :, :1], size, axis=1)
    np.testing.assert_array_equal(to_xy_coords(rows, summary), np.zeros((size, 2)))


@steady
@given(SEEDS, st.integers(1, 40), st.sampled_from((*POOLED, 0)))
def test_tokens_with_the_same_query_all_stay_at_the_origin(
    seed: int, size: int, summary: Pooled | int
) -> None:
    weights = np.repeat(random_weights(seed, 2, 3, size)[:, :, :1], size, axis=2)
    trace = trace_with_attention(weights, plain_tokens(*"x" * size))
    planes = layer_planes(trace, summary=summary, align=True)
    np.testing.assert_array_equal(planes.coordinates, np.zeros((2, size, 2)))


@pytest.mark.parametrize("source", ["queries", "keys", "values", "hidden states"])
@pytest.mark.parametrize("size", [3, 7, 40])
def test_tokens_with_the_same_vector_all_stay_at_the_origin(
    source: Literal["queries", "keys", "values", "hidden states"], size: int
) -> None:
    drawn = random_trace(size, size=size)
    assert drawn.hidden_states is not None
    hidden = 1000 * np.repeat(drawn.hidden_states[:, :1], size, axis=1)
    vectors = 30 * np.repeat(drawn.queries[:, :, :1], size, axis=2)
    trace = replace(
        drawn, queries=vectors, kv_keys=vectors, kv_values=vectors, hidden_states=hidden
    )
    planes = layer_planes(trace, source, keep_special=True, align=True)
    np.testing.assert_array_equal(planes.coordinates, np.zeros((2, size, 2)))
    np.testing.assert_array_equal(planes.explained, np.zeros((2, 2)))


@pytest.mark.parametrize("source", ["values", "hidden states"])
@pytest.mark.parametrize("seed", range(5))
def test_tokens_that_differ_by_rounding_alone_stay_at_the_origin(
    source: Literal["values", "hidden states"], seed: int
) -> None:
    drawn = random_trace(seed, size=13)
    assert drawn.hidden_states is not None
    last_bit = 1 + np.random.default_rng(seed).integers(-1, 2, (13, 1)) * np.float32(2**-23)
    hidden = np.float32(20) * drawn.hidden_states[:, :1] * last_bit.astype(np.float32)
    values = drawn.kv_values[:, :, :1] * last_bit.astype(np.float32)
    planes = layer_planes(replace(drawn, kv_values=values, hidden_states=hidden), source)
    np.testing.assert_array_equal(planes.coordinates, np.zeros((2, 11, 2)))
    np.testing.assert_array_equal(planes.explained, np.zeros((2, 2)))


@pytest.mark.parametrize("source", ["values", "hidden states"])
def test_a_repeated_word_stays_at_the_origin_where_a_model_only_knows_distances(
    source: Literal["values", "hidden states"], tmp_path: Path
) -> None:
    """Rotary positions turn queries and keys alone: all else is the same for the same tokens."""
    trace = trace_text(load(str(build(FAMILIES["gpt_neox"], tmp_path))), " no no no no no no no")
    assert len({token.text for token in trace.tokens}) == 1
    planes = layer_planes(trace, source)
    np.testing.assert_array_equal(planes.coordinates, np.zeros((*planes.explained.shape[:1], 7, 2)))


@pytest.mark.parametrize("size", [3, 5, 13, 33])
@pytest.mark.parametrize("dim", [4, 32, 64])
def test_tokens_that_all_see_the_same_keys_stay_at_the_origin(size: int, dim: int) -> None:
    draw = np.random.default_rng(size * dim)
    queries = draw.normal(size=(2, 12, size, dim)).astype(np.float32)
    keys = np.repeat(draw.normal(size=(2, 12, 1, dim)), size, axis=2).astype(np.float32)
    rules = tuple(Layer(1.0, None) for _ in range(2))
    trace = Trace("drawn", plain_tokens(*"x" * size), queries, keys, keys, rules, causal=False)
    planes = layer_planes(trace)
    np.testing.assert_array_equal(planes.coordinates, np.zeros((2, size, 2)))


@steady
@given(arrays(np.float64, (2, 5, 5), elements=st.sampled_from([0.0, 0.2, 0.5, 1.0])))
def test_coordinates_of_coarse_scores_are_never_nan(scores: Floats) -> None:
    found = to_xy_coords(scores)
    assert np.isfinite(found).all()
    rows = scores.mean(axis=0)
    spread = np.abs(rows - rows.mean(axis=0)).max() > 1e-9
    assert np.linalg.norm(found) == pytest.approx(1.0 if spread else 0.0)


# Sources ---------------------------------------------------------------------------------------


@steady
@given(SEEDS, st.sampled_from(("queries", "keys", "values")), st.sampled_from((*POOLED, 0, 2)))
def test_vectors_are_all_heads_side_by_side_or_the_one_head_named(
    seed: int, source: Literal["queries", "keys", "values"], summary: Pooled | int
) -> None:
    trace = random_trace(seed)
    planes = layer_planes(trace, source, summary)
    for layer, vectors in enumerate(getattr(trace, source)[:, :, 1:-1]):  # (head, token, dim)
        one = isinstance(summary, int)
        rows = vectors[summary] if one else np.concatenate(list(vectors), axis=1)
        assume(has_clear_components(rows))
        assert_same_up_to_signs(planes.coordinates[layer], plane_of(rows))
        np.testing.assert_allclose(planes.explained[layer], pca(rows)[1], atol=1e-5)


@steady
@given(SEEDS, st.sampled_from((*POOLED, 1)), st.booleans())
def test_hidden_states_are_one_vector_a_token_whatever_the_summary(
    seed: int, summary: Pooled | int, keep_special: bool
) -> None:
    trace = random_trace(seed)
    assert trace.hidden_states is not None
    shown = slice(None) if keep_special else slice(1, -1)
    planes = layer_planes(trace, "hidden states", summary, keep_special=keep_special)
    for layer in range(2):
        rows = trace.hidden_states[layer, shown]
        assume(has_clear_components(rows))
        assert_same_up_to_signs(planes.coordinates[layer], plane_of(rows))


def test_keys_of_one_head_are_those_its_queries_meet_when_heads_share_them() -> None:
    drawn = random_trace(21, heads=4)
    trace = replace(drawn, kv_keys=drawn.kv_keys[:, :2], kv_values=drawn.kv_values[:, :2])
    for head, shared in enumerate([0, 0, 1, 1]):
        planes = layer_planes(trace, "keys", head)
        for layer in range(2):
            rows = drawn.kv_keys[layer, shared, 1:-1]
            assert has_clear_components(rows)
            assert_same_up_to_signs(planes.coordinates[layer], plane_of(rows))


def test_special_tokens_between_two_sentences_are_dropped_where_they_stand() -> None:
    inside = token("[SEP]", 3, -1, special=True)
    names = (*framed("a", "b")[:3], inside, token("c", 4, 2), token("d", 5, 3), token("e", 6, 4))
    weights = random_weights(8, 2, 3, 7)
    planes = layer_planes(trace_with_attention(weights, names))
    keep = [1, 2, 4, 5, 6]
    assert planes.positions == tuple(keep)
    rows = weights.astype(float).mean(axis=1)[:, keep][:, :, keep]
    assert all(has_clear_components(each) for each in rows)
    assert_same_up_to_signs(planes.coordinates, np.stack([plane_of(each) for each in rows]))


def test_masked_keys_get_no_attention_in_the_plane() -> None:
    mask = np.triu(np.full((5, 5), -np.inf, dtype=np.float32), 1)
    drawn = random_trace(31, layers=1, size=5)
    trace = replace(drawn, layers=(Layer(0.5, mask),), tokens=plain_tokens(*"abcde"), causal=True)
    powers = np.tril(np.exp(0.5 * drawn.queries[0] @ drawn.keys[0].swapaxes(1, 2)))
    rows = (powers / powers.sum(axis=-1, keepdims=True)).mean(axis=0)
    assert has_clear_components(rows)
    assert_same_up_to_signs(layer_planes(trace).coordinates[0], plane_of(rows))


def test_a_third_component_is_the_next_of_the_same_rows() -> None:
    weights = random_weights(9, 2, 3, 7)
    planes = layer_planes(trace_with_attention(weights), components=3)
    for layer, rows in enumerate(weights.astype(float).mean(axis=1)):
        assert has_clear_components(rows, 3)
        assert_same_up_to_signs(planes.coordinates[layer], plane_of(rows, 3))
        np.testing.assert_allclose(planes.explained[layer], pca(rows, 3)[1], atol=1e-5)


# Alignment -------------------------------------------------------------------------------------

CLOUDS = arrays(np.float64, (3, 5, 2), elements=st.floats(-10, 10, width=32))


@steady
@given(CLOUDS)
def test_alignment_never_changes_distances(clouds: Floats) -> None:
    for before, after in zip(clouds, align_planes(clouds), strict=True):
        np.testing.assert_allclose(distances(after), distances(before), atol=1e-8)


@steady
@given(CLOUDS)
def test_alignment_never_moves_a_layer_away_from_the_one_before(clouds: Floats) -> None:
    aligned = align_planes(clouds)
    np.testing.assert_allclose(aligned[0], clouds[0], atol=1e-12)
    for layer in (1, 2):
        was = np.linalg.norm(clouds[layer] - aligned[layer - 1])
        assert np.linalg.norm(aligned[layer] - aligned[layer - 1]) <= was + 1e-8


@steady
@given(CLOUDS)
def test_no_turn_or_mirror_comes_closer_than_alignment_does(clouds: Floats) -> None:
    aligned = align_planes(clouds)
    for layer in (1, 2):
        left = float(((aligned[layer] - aligned[layer - 1]) ** 2).sum())
        assert left == pytest.approx(closest(clouds[layer], aligned[layer - 1]), abs=1e-7)


@steady
@given(SEEDS, st.floats(0, 2 * np.pi), st.booleans(), st.floats(0.1, 10))
def test_a_planted_rotation_or_reflection_is_taken_back(
    seed: int, angle: float, mirrored: bool, scale: float
) -> None:
    plane = np.random.default_rng(seed).normal(size=(6, 2))
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    turn = turn @ np.diag([1.0, -1.0 if mirrored else 1.0])
    aligned = align_planes(np.stack([plane, plane @ turn * scale]))
    np.testing.assert_allclose(aligned, [plane, plane * scale], atol=1e-8)


def test_turns_of_every_layer_are_taken_back_to_the_first() -> None:
    draw = np.random.default_rng(2)
    plane = draw.normal(size=(6, 3))
    turns = [np.linalg.qr(draw.normal(size=(3, 3)))[0] for _ in range(5)]
    aligned = align_planes(np.stack([plane, *(plane @ turn for turn in turns)]))
    np.testing.assert_allclose(aligned, np.tile(plane, (6, 1, 1)), atol=1e-9)


def test_a_layer_of_zeros_stays_one_and_does_not_stop_alignment() -> None:
    plane = np.array([[1.0, 0.0], [0.0, 2.0], [-1.0, -2.0]])
    aligned = align_planes(np.stack([plane, np.zeros((3, 2)), plane]))
    np.testing.assert_array_equal(aligned[1], np.zeros((3, 2)))
    np.testing.assert_allclose(distances(aligned[2]), distances(plane), atol=1e-12)


def test_the_chapters_planes_aligned_keep_their_shape_and_follow_each_other(
    chapter: Trace,
) -> None:
    aligned = layer_planes(chapter, align=True).coordinates
    inner = softmax_by_hand(chapter).mean(axis=1)[:, 1:-1, 1:-1]
    for layer, rows in enumerate(inner):
        plane = plane_of(rows)
        np.testing.assert_allclose(distances(aligned[layer]), distances(plane), atol=1e-5)
        if layer:
            gap = float(((aligned[layer] - aligned[layer - 1]) ** 2).sum())
            assert gap == pytest.approx(closest(plane, aligned[layer - 1]), abs=1e-4)


def test_planes_are_not_aligned_unless_asked() -> None:
    rows = random_weights(4, 1, 3, 6)
    mirrored = np.concatenate([rows, rows[..., ::-1, :]])
    planes = layer_planes(trace_with_attention(mirrored)).coordinates
    expected = np.stack([plane_of(rows.astype(float)[0].mean(axis=0))] * 2)
    expected[1] = expected[1, ::-1]
    assert_same_up_to_signs(planes, expected)


# The projection of one vector on another -------------------------------------------------------

VECTORS = st.integers(1, 5).flatmap(
    lambda size: arrays(np.float64, (4, size), elements=st.floats(-100, 100))
)


@steady
@given(VECTORS)
def test_a_projection_is_the_outer_product_of_its_direction(vectors: Floats) -> None:
    a, b = vectors[:2]
    assume(np.linalg.norm(b) > 1e-3)
    direction = b / np.linalg.norm(b)
    expected = np.outer(direction, direction) @ a
    np.testing.assert_allclose(vector_projection(a, b), expected, atol=1e-9)


@steady
@given(VECTORS)
def test_what_a_projection_leaves_is_orthogonal_to_b(vectors: Floats) -> None:
    a, b = vectors[:2]
    assume(np.linalg.norm(b) > 1e-3)
    assert abs((a - vector_projection(a, b)) @ b) < 1e-9 * (1 + np.abs(a).sum() * np.abs(b).sum())


@steady
@given(VECTORS)
def test_a_projection_projected_again_stays(vectors: Floats) -> None:
    a, b = vectors[:2]
    assume(np.linalg.norm(b) > 1e-3)
    once = vector_projection(a, b)
    np.testing.assert_allclose(vector_projection(once, b), once, atol=1e-9)


@steady
@given(VECTORS, st.floats(-10, 10), st.floats(-10, 10))
def test_projection_is_linear_in_a(vectors: Floats, x: float, y: float) -> None:
    a, other, b = vectors[:3]
    assume(np.linalg.norm(b) > 1e-3)
    together = x * vector_projection(a, b) + y * vector_projection(other, b)
    np.testing.assert_allclose(vector_projection(x * a + y * other, b), together, atol=1e-8)


@steady
@given(VECTORS, st.floats(-50, 50).filter(lambda factor: abs(factor) > 0.01))
def test_projection_does_not_depend_on_the_length_of_b(vectors: Floats, factor: float) -> None:
    a, b = vectors[:2]
    assume(np.linalg.norm(b) > 1e-2)
    slope = np.linalg.lstsq(b[:, None], a, rcond=None)[0]
    np.testing.assert_allclose(vector_projection(a, factor * b), slope * b, atol=1e-8)


@steady
@given(VECTORS)
def test_a_vector_of_no_length_has_nothing_along_it(vectors: Floats) -> None:
    a = vectors[0]
    np.testing.assert_array_equal(vector_projection(a, np.zeros_like(a)), np.zeros_like(a))
    np.testing.assert_array_equal(vector_projection(np.zeros_like(a), a), np.zeros_like(a))


@steady
@given(VECTORS)
def test_projections_are_never_nan_and_never_longer_than_a(vectors: Floats) -> None:
    a, b, *_ = vectors
    for tiny in (1.0, 1e-8, 1e-200):
        found = vector_projection(a, b * tiny)
        assert np.isfinite(found).all()
        assert np.linalg.norm(found) <= np.linalg.norm(a) * (1 + 1e-6) + 1e-9


def test_the_projection_of_whole_numbers_is_worked_out_in_floats() -> None:
    found = vector_projection([1, 2], [2, 2])
    np.testing.assert_allclose(found, [1.5, 1.5])
    assert found.dtype == np.float64


# The table of coordinates ----------------------------------------------------------------------


def test_the_table_has_one_row_a_layer_and_token_with_positions_from_one() -> None:
    trace = trace_with_attention(random_weights(6, 2, 3, 5), framed("it", "was", "it"))
    planes = layer_planes(trace)
    frame = planes_frame(planes, ["it", "was", "it"])
    assert list(frame.columns) == ["layer", "position", "token", "x", "y"]
    assert list(frame["layer"]) == [1, 1, 1, 2, 2, 2]
    assert list(frame["position"]) == [2, 3, 4] * 2
    assert list(frame["token"]) == ["it", "was", "it"] * 2
    np.testing.assert_array_equal(frame[["x", "y"]], planes.coordinates.reshape(6, 2))


def test_the_table_of_a_space_has_a_third_coordinate() -> None:
    planes = layer_planes(trace_with_attention(random_weights(6, 2, 3, 5)), components=3)
    frame = planes_frame(planes, list("abcde"))
    assert list(frame.columns) == ["layer", "position", "token", "x", "y", "z"]
    assert list(frame["position"]) == [1, 2, 3, 4, 5] * 2
    np.testing.assert_array_equal(frame[["x", "y", "z"]], planes.coordinates.reshape(10, 3))


def test_a_summary_of_some_heads_is_that_of_a_trace_with_these_heads_alone() -> None:
    trace = random_trace(3)
    planes = layer_planes(
        trace, "attention", "median", heads=[0, 2], normalize=False, keep_special=True
    )
    weights = softmax_by_hand(trace)
    for layer in range(trace.shape[0]):
        expected, shares = pca(np.median(weights[layer][[0, 2]], axis=0))
        assert has_clear_components(np.median(weights[layer][[0, 2]], axis=0))
        np.testing.assert_allclose(
            np.abs(planes.coordinates[layer]), np.abs(expected), atol=1e-6
        )  # the sign of a component is arbitrary
        np.testing.assert_allclose(planes.explained[layer], shares, atol=1e-6)


def test_vectors_of_some_heads_stand_side_by_side() -> None:
    trace = random_trace(3)
    rows = layer_rows(trace, 0, "keys", "mean", [0, 1], heads=[2, 1])
    expected = np.concatenate([trace.keys[0, 2, :2], trace.keys[0, 1, :2]], axis=1)
    np.testing.assert_array_equal(rows, expected.astype(np.float64))


def test_arrows_that_coincide_in_the_plane_are_counted_apart_where_full_space_parts_them() -> None:
    # Three tokens of one direction in the plane; the third lies elsewhere in the third dimension.
    rows = np.array([[4.0, 0, 1], [4, 0, 1], [1, 0, -9], [-9, 1, 7], [0, -1, 0]])
    coordinates = np.array([[2.0, 0], [3, 0], [1, 0.1], [-4, 0.2], [0, 0]])
    assert count_close_pairs(coordinates, rows) == (3, 1)


def test_a_token_without_a_direction_is_in_no_pair() -> None:
    assert count_close_pairs(np.zeros((3, 2)), np.ones((3, 4))) == (0, 0)
