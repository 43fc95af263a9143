"""One token along another against cosines by hand, the sentence against its own numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from core.analysis.pair_projection import (
    PairProjection,
    default_pair,
    parse_marked,
    project_pair,
    signed_length,
    token_at,
)
from core.model import LoadedModel, load, trace_text
from core.model.trace import Layer, Token, Trace
from core.screens.projection.help import describe_pair
from tests.analysis.traces import plain_tokens, random_weights, token, trace_with_attention

if TYPE_CHECKING:
    from core.model.trace import Array

Floats = NDArray[np.float64]
CHAPTER = "Oh, this book? I've enjoyed it."
SEEDS = st.integers(0, 2**32 - 1)
NAN = float("nan")
steady = settings(deadline=None)


# Oracles and traces ----------------------------------------------------------------------------


def cosine(a: Any, b: Any) -> float:
    return float(sum(a * b) / (sum(a * a) * sum(b * b)) ** 0.5)


def centred_rows(weights: Any) -> Floats:
    """Mean over the heads of (head, token, token), special tokens first and last dropped."""
    rows: Floats = np.asarray(weights, dtype=np.float64).mean(axis=0)[1:-1, 1:-1]
    return rows - rows.mean(axis=0)


def plane_of(rows: Floats) -> Floats:
    """Centred rows along the two eigenvectors of their covariance with the largest eigenvalues."""
    _, vectors = np.linalg.eigh(rows.T @ rows)
    return rows @ vectors[:, :-3:-1]


def is_clear(rows: Floats, *tokens: int) -> bool:
    """Whether the plane is unique and these tokens have a direction in it and outside it."""
    powers = np.linalg.eigvalsh(rows.T @ rows)[::-1]
    lengths = np.linalg.norm(plane_of(rows)[list(tokens)], axis=1)
    return bool(powers[1] > 1.05 * powers[2] and lengths.min() > 1e-2)


def gram(vectors: Any) -> Floats:
    """All dot products: what is left of a plane when its signs and turns are not looked at."""
    return np.asarray(vectors @ np.swapaxes(vectors, -1, -2))


def softmax_by_hand(trace: Trace) -> Floats:
    """(layer, head, token, token) from queries and keys in float64, nothing masked."""
    scores = np.einsum("lhqd,lhkd->lhqk", trace.queries.astype(float), trace.keys.astype(float))
    powers = np.exp(scores * trace.layers[0].scaling)
    weights: Floats = powers / powers.sum(axis=-1, keepdims=True)
    return weights


def framed(*words: str) -> tuple[Token, ...]:
    """[CLS] words [SEP]; a piece that begins with ## belongs to the word before."""
    names, word = [token("[CLS]", 0, -1, special=True)], -1
    for position, text in enumerate(words, start=1):
        word += not text.startswith("##")
        names.append(token(text, position, word))
    return (*names, token("[SEP]", len(words) + 1, -1, special=True))


def planted(
    size: int, links: dict[tuple[int, int, int, int], float], layers: int = 3, heads: int = 4
) -> Array:
    """Uniform attention but for {(layer, head, query, key): weight}."""
    weights = np.full((layers, heads, size, size), 1 / size, dtype=np.float32)
    for (layer, head, query, key), weight in links.items():
        weights[layer, head, query] = (1 - weight) / (size - 1)
        weights[layer, head, query, key] = weight
    return weights


def exact_halves(size: int, layers: int = 2) -> Trace:
    """The first token sees the first half, the second the other half, the rest see everything.

    All numbers are powers of two apart: the mean row is the rest's row, which has no direction.
    """
    mask = np.zeros((size, size), dtype=np.float32)
    mask[0, size // 2 :] = mask[1, : size // 2] = -np.inf
    nothing = np.zeros((layers, 3, size, 4), dtype=np.float32)
    rules = tuple(Layer(0.5, mask) for _ in range(layers))
    names = plain_tokens(*(f"t{i}" for i in range(size)))
    return Trace("by hand", names, nothing, nothing.copy(), nothing.copy(), rules, causal=False)


def projection_of(in_plane: Any, a_to_b: Any) -> PairProjection:
    """A projection of which only the numbers the sentence needs are told."""
    lengths = np.asarray(in_plane, dtype=np.float64)
    none = np.zeros((len(lengths), 3, 2))
    weights = np.asarray(a_to_b)
    return PairProjection(2, 1, none, lengths, np.full_like(lengths, np.nan), weights, weights.T)


@pytest.fixture(scope="module")
def minilm() -> LoadedModel:
    return load("bundled/minilm")


@pytest.fixture(scope="module")
def chapter(minilm: LoadedModel) -> Trace:
    return trace_text(minilm, CHAPTER)


# The sentence, read back -----------------------------------------------------------------------


@dataclass(frozen=True)
class Claims:
    """What a sentence says: layers and heads from 1; no `weight` when no head gives anything."""

    layer: int
    head: int
    weight: float | None
    same_way: frozenset[int]


def read_sentence(sentence: str, name_a: str, name_b: str, layers: int) -> Claims:
    """Parse the whole sentence; anything it says beyond these forms fails."""
    of, to = re.escape(name_a), re.escape(name_b)
    pattern = (
        rf"(?:No head gives as much as 0\.01 of {of} to {to}"
        rf"|Strongest in layer (?P<layer>\d+): head (?P<head>\d+) gives (?P<weight>\d\.\d\d) "
        rf"of {of} to {to}); in the plane the two point the same way (?P<where>[a-z0-9, ]+)\."
    )
    found = re.fullmatch(pattern, sentence, flags=re.DOTALL)
    assert found, sentence
    same_way = read_layers(found["where"], layers)
    if found["weight"] is None:
        return Claims(0, 0, None, same_way)
    return Claims(int(found["layer"]), int(found["head"]), float(found["weight"]), same_way)


def read_layers(where: str, layers: int) -> frozenset[int]:
    if where == "in no layer":
        return frozenset()
    if where == "in every layer":
        return frozenset(range(1, layers + 1))
    numbers = [int(number) for number in re.findall(r"\d+", where)]
    if where == f"from layer {numbers[0]} on":
        return frozenset(range(numbers[0], layers + 1))
    if len(numbers) > 1:
        listed = ", ".join(map(str, numbers[:-1]))
        assert where == f"in layers {listed} and {numbers[-1]}"
    else:
        assert where == f"in layer {numbers[0]} only"
    assert numbers == sorted(set(numbers))
    return frozenset(numbers)


def assert_true(claims: Claims, in_plane: Any, a_to_b: Any) -> None:
    strongest = max(float(weight) for row in a_to_b for weight in row)
    if claims.weight is None:
        assert strongest < 0.01
    else:
        assert float(a_to_b[claims.layer - 1][claims.head - 1]) == strongest
        assert abs(claims.weight - strongest) <= 0.005 + 1e-6
        assert claims.weight > 0
    same = {layer for layer, length in enumerate(in_plane, start=1) if length >= 0.7071}
    assert claims.same_way == same


LENGTHS = st.sampled_from([NAN, -1.0, -0.71, -0.0, 0.70709, 0.7071, 0.70711, 1.0]) | st.floats(
    -1, 1
)
WEIGHTS = st.sampled_from([0.0, 0.0049, 0.005, 0.0051, 0.5, 0.995, 1.0]) | st.floats(0, 1)
TABLES = st.tuples(st.integers(1, 12), st.integers(1, 5)).flatmap(
    lambda shape: st.tuples(
        arrays(np.float64, shape[0], elements=LENGTHS),
        arrays(np.float64, shape, elements=WEIGHTS),
    )
)
NAMES = st.sampled_from(["it", "book", "", ".*", "on", "; in the plane", "é́", "😀\n"]) | st.text()


@steady
@given(TABLES, NAMES, NAMES)
@example((np.full(3, NAN), np.zeros((3, 2))), "it", "book")
@example((np.array([NAN, 0.8, 0.9]), np.full((3, 2), 0.5)), "it", "book")
@example((np.array([0.8, 0.9, NAN]), np.full((3, 2), 0.0049)), "it", "it")
def test_the_sentence_is_true_for_any_numbers(
    tables: tuple[Floats, Floats], name_a: str, name_b: str
) -> None:
    in_plane, a_to_b = tables
    sentence = describe_pair(projection_of(in_plane, a_to_b), name_a, name_b)
    assert_true(read_sentence(sentence, name_a, name_b, len(in_plane)), in_plane, a_to_b)


@steady
@given(arrays(np.bool_, st.integers(1, 30)))
def test_every_set_of_layers_is_told_as_it_is(same: NDArray[np.bool_]) -> None:
    in_plane = np.where(same, 0.9, 0.1)
    a_to_b = np.full((len(same), 2), 0.3)
    sentence = describe_pair(projection_of(in_plane, a_to_b), "A", "B")
    assert_true(read_sentence(sentence, "A", "B", len(same)), in_plane, a_to_b)


@steady
@given(arrays(np.float64, (4, 3), elements=st.floats(0, 0.0049)))
def test_no_strongest_head_is_named_where_none_gives_anything(a_to_b: Floats) -> None:
    sentence = describe_pair(projection_of(np.zeros(4), a_to_b), "it", "book")
    assert read_sentence(sentence, "it", "book", 4).weight is None


@steady
@given(arrays(np.float32, (4, 3), elements=st.floats(0.0, 1.0, width=32)))
def test_the_sentence_is_true_for_weights_as_traces_keep_them(a_to_b: Array) -> None:
    sentence = describe_pair(projection_of(np.zeros(4), a_to_b), "it", "book")
    assert_true(read_sentence(sentence, "it", "book", 4), np.zeros(4), a_to_b)


@pytest.mark.parametrize(
    ("in_plane", "where"),
    [
        ([0.1, 0.2, 0.9, 0.8, 1.0, 0.71], "from layer 3 on"),
        ([0.1, -0.9, 0.3, NAN, 0.0, 0.5], "in no layer"),
        ([0.9, 0.8, 0.9, 0.8, 1.0, 0.71], "in every layer"),
        ([0.1, 0.2, 0.3, 0.0, 0.5, 0.71], "in layer 6 only"),
        ([0.9, 0.8, 0.3, 0.0, 0.9, 0.5], "in layers 1, 2 and 5"),
        ([NAN] * 6, "in no layer"),
    ],
)
def test_the_sentence_reads_as_it_was_asked_for(in_plane: list[float], where: str) -> None:
    a_to_b = np.full((6, 3), 0.1)
    a_to_b[3, 1] = 0.93
    assert describe_pair(projection_of(in_plane, a_to_b), "it", "book") == (
        "Strongest in layer 4: head 2 gives 0.93 of it to book; "
        f"in the plane the two point the same way {where}."
    )


@steady
@given(SEEDS, st.integers(2, 7))
def test_the_sentence_is_true_for_random_attention(seed: int, size: int) -> None:
    weights = random_weights(seed, 3, 2, size + 2)
    found = project_pair(trace_with_attention(weights, framed(*"abcdefg"[:size])), 2, 1)
    claims = read_sentence(describe_pair(found, "b", "a"), "b", "a", 3)
    assert_true(claims, found.in_plane, found.a_to_b)
    assert claims.weight is None or abs(claims.weight - weights[:, :, 2, 1].max()) < 0.0051


# The projection of a pair ----------------------------------------------------------------------


def test_it_along_book_in_the_chapters_sentence(chapter: Trace) -> None:
    found = project_pair(chapter, 10, 4)
    weights = softmax_by_hand(chapter)
    assert (found.a, found.b) == (10, 4)
    for layer in range(6):
        rows = centred_rows(weights[layer])
        plane = plane_of(rows)
        assert is_clear(rows, 9, 3)
        assert found.in_plane[layer] == pytest.approx(cosine(plane[9], plane[3]), abs=1e-4)
        assert found.in_full[layer] == pytest.approx(cosine(rows[9], rows[3]), abs=1e-4)
    np.testing.assert_allclose(found.a_to_b, weights[:, :, 10, 4], atol=1e-5)
    np.testing.assert_allclose(found.b_to_a, weights[:, :, 4, 10], atol=1e-5)


def test_the_sentence_about_the_chapter_names_the_head_that_gives_it_to_book(
    chapter: Trace,
) -> None:
    weights = softmax_by_hand(chapter)
    planes = [plane_of(centred_rows(layer)) for layer in weights]
    in_plane = [cosine(plane[9], plane[3]) for plane in planes]
    sentence = describe_pair(project_pair(chapter, 10, 4), "it", "book")
    assert sentence.startswith("Strongest in layer 4: head 2 gives 0.93 of it to book;")
    assert_true(read_sentence(sentence, "it", "book", 6), in_plane, weights[:, :, 10, 4])


@steady
@given(SEEDS, st.integers(4, 8), st.data())
def test_signed_lengths_are_cosines_in_the_plane_and_of_the_rows(
    seed: int, size: int, data: st.DataObject
) -> None:
    weights = random_weights(seed, 2, 3, size + 2)
    a, b = data.draw(st.permutations(range(size)))[:2]
    found = project_pair(trace_with_attention(weights, framed(*"abcdefgh"[:size])), a + 1, b + 1)
    for layer in range(2):
        rows = centred_rows(weights[layer])
        assume(is_clear(rows, a, b))
        plane = plane_of(rows)
        assert found.in_plane[layer] == pytest.approx(cosine(plane[a], plane[b]), abs=1e-3)
        assert found.in_full[layer] == pytest.approx(cosine(rows[a], rows[b]), abs=1e-3)


@steady
@given(SEEDS, st.integers(4, 8))
def test_b_and_a_are_unit_vectors_of_the_plane_and_the_third_lies_along_b(
    seed: int, size: int
) -> None:
    weights = random_weights(seed, 2, 3, size + 2)
    found = project_pair(trace_with_attention(weights, framed(*"abcdefgh"[:size])), 3, 1)
    assert found.vectors.shape == (2, 3, 2)
    for layer, drawn in enumerate(found.vectors):
        rows = centred_rows(weights[layer])
        assume(is_clear(rows, 2, 0))
        units = [vector / np.linalg.norm(vector) for vector in plane_of(rows)[[0, 2]]]
        along = cosine(units[0], units[1]) * units[0]
        np.testing.assert_allclose(gram(drawn), gram(np.stack([*units, along])), atol=1e-3)
        np.testing.assert_allclose(drawn[2], found.in_plane[layer] * drawn[0], atol=1e-9)


@steady
@given(SEEDS, st.integers(2, 8))
def test_what_the_projection_leaves_of_a_stands_at_a_right_angle_to_b(seed: int, size: int) -> None:
    trace = trace_with_attention(random_weights(seed, 3, 2, size + 2), framed(*"abcdefgh"[:size]))
    for b, a, along in project_pair(trace, 1, 2).vectors:
        assert abs((a - along) @ b) < 1e-9
        assert np.linalg.norm(along) <= 1 + 1e-9


@steady
@given(SEEDS)
def test_three_tokens_lie_in_a_plane_so_nothing_is_lost_in_it(seed: int) -> None:
    weights = random_weights(seed, 2, 2, 5)
    found = project_pair(trace_with_attention(weights, framed("a", "b", "c")), 1, 3)
    for layer in range(2):
        rows = centred_rows(weights[layer])
        assume(min(np.linalg.norm(rows[[0, 2]], axis=1)) > 1e-2)
        by_hand = cosine(rows[0], rows[2])
        assert found.in_plane[layer] == pytest.approx(by_hand, abs=1e-3)
        assert found.in_full[layer] == pytest.approx(by_hand, abs=1e-3)


def test_two_tokens_always_point_apart() -> None:
    trace = trace_with_attention(random_weights(2, 3, 2, 4), framed("a", "b"))
    found = project_pair(trace, 1, 2)
    np.testing.assert_allclose(found.in_plane, -1, atol=1e-9)
    np.testing.assert_allclose(found.in_full, -1, atol=1e-9)
    np.testing.assert_allclose(found.vectors[:, 0], -found.vectors[:, 1], atol=1e-9)
    np.testing.assert_allclose(found.vectors[:, 2], found.vectors[:, 1], atol=1e-9)


def test_tokens_attended_from_in_the_same_way_point_the_same_way() -> None:
    weights = random_weights(17, 3, 4, 8)
    weights[:, :, 5] = weights[:, :, 2]
    found = project_pair(trace_with_attention(weights, framed(*"abcdef")), 5, 2)
    np.testing.assert_allclose(found.in_plane, 1, atol=1e-6)
    np.testing.assert_allclose(found.in_full, 1, atol=1e-6)
    np.testing.assert_allclose(found.vectors[:, 0], found.vectors[:, 1], atol=1e-4)


def test_a_token_along_itself_is_itself() -> None:
    trace = trace_with_attention(random_weights(18, 2, 2, 7), framed(*"abcde"))
    found = project_pair(trace, 3, 3)
    np.testing.assert_allclose(found.in_plane, 1, atol=1e-9)
    np.testing.assert_allclose(found.in_full, 1, atol=1e-9)
    np.testing.assert_allclose(found.vectors, found.vectors[:, :1] * np.ones((1, 3, 1)), atol=1e-9)


def test_the_angle_does_not_depend_on_what_special_tokens_attend_to() -> None:
    weights = random_weights(19, 1, 2, 6)
    spoiled = weights.copy()
    spoiled[:, :, [0, -1]] = random_weights(20, 1, 2, 2)[..., [0, 0, 0, 1, 1, 1]] / 3
    found = project_pair(trace_with_attention(spoiled, framed(*"abcd")), 4, 1)
    rows = centred_rows(weights[0])
    assert is_clear(rows, 3, 0)
    plane = plane_of(rows)
    assert found.in_full[0] == pytest.approx(cosine(rows[3], rows[0]), abs=1e-4)
    assert found.in_plane[0] == pytest.approx(cosine(plane[3], plane[0]), abs=1e-4)


@pytest.mark.parametrize("position", [0, 5, 6, 99, -1, -2])
def test_a_position_that_is_special_or_outside_the_text_is_refused(position: int) -> None:
    trace = trace_with_attention(random_weights(0, 1, 1, 6), framed(*"abcd"))
    for a, b in ((position, 1), (1, position)):
        with pytest.raises(ValueError, match=str(position)):
            project_pair(trace, a, b)


# Tokens without a direction --------------------------------------------------------------------


def assert_no_direction(found: PairProjection) -> None:
    assert np.isnan(found.in_plane).all()
    assert np.isnan(found.in_full).all()
    np.testing.assert_array_equal(found.vectors[:, 2], 0)
    assert np.isfinite(found.vectors).all()
    assert np.isfinite(found.a_to_b).all()


@pytest.mark.parametrize("size", range(2, 31))
def test_no_token_has_a_direction_where_all_are_alike(size: int) -> None:
    names = framed(*(f"t{i}" for i in range(size)))
    found = project_pair(trace_with_attention(planted(size + 2, {}), names), 1, 2)
    assert_no_direction(found)
    np.testing.assert_array_equal(found.vectors, 0)
    sentence = describe_pair(found, "t0", "t1")
    assert_true(read_sentence(sentence, "t0", "t1", 3), found.in_plane, found.a_to_b)


@steady
@given(SEEDS, st.integers(2, 20))
def test_no_token_has_a_direction_where_all_have_the_same_query(seed: int, size: int) -> None:
    weights = np.repeat(random_weights(seed, 2, 3, size)[:, :, :1], size, axis=2)
    names = plain_tokens(*(f"t{i}" for i in range(size)))
    found = project_pair(trace_with_attention(weights, names), 1, 0)
    assert_no_direction(found)
    np.testing.assert_array_equal(found.vectors, 0)


def test_the_only_token_has_no_direction() -> None:
    trace = trace_with_attention(random_weights(1, 2, 3, 3), framed("alone"))
    found = project_pair(trace, 1, 1)
    assert_no_direction(found)
    np.testing.assert_array_equal(found.vectors, 0)


@pytest.mark.parametrize("size", [4, 6, 10, 14, 22])
def test_a_token_at_the_mean_of_all_has_no_direction_but_the_others_have(size: int) -> None:
    trace = exact_halves(size)
    np.testing.assert_allclose(project_pair(trace, 0, 1).in_plane, -1)
    for a, b, lengths in ((2, 0, [1, 0, 0]), (0, 2, [0, 1, 0]), (2, 3, [0, 0, 0])):
        found = project_pair(trace, a, b)
        assert_no_direction(found)
        found_lengths = np.linalg.norm(found.vectors, axis=-1)
        np.testing.assert_allclose(found_lengths, [lengths] * 2, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_a_token_at_the_mean_but_for_rounding_has_no_direction(seed: int) -> None:
    weights = random_weights(seed, 3, 4, 6).astype(float)
    weights[:, :, 5] = weights[:, :, :5].mean(axis=2)
    names = plain_tokens(*"abcdef")
    found = project_pair(trace_with_attention(weights.astype(np.float32), names), 5, 0)
    assert_no_direction(found)


@pytest.mark.parametrize("size", [3, 5, 13, 33])
@pytest.mark.parametrize("dim", [4, 32, 64])
def test_tokens_that_all_see_the_same_keys_have_no_direction(size: int, dim: int) -> None:
    draw = np.random.default_rng(size * dim)
    queries = draw.normal(size=(2, 12, size, dim)).astype(np.float32)
    keys = np.repeat(draw.normal(size=(2, 12, 1, dim)), size, axis=2).astype(np.float32)
    rules = tuple(Layer(1.0, None) for _ in range(2))
    trace = Trace("drawn", plain_tokens(*"x" * size), queries, keys, keys, rules, causal=False)
    assert_no_direction(project_pair(trace, 1, 0))


# The length of one vector along another --------------------------------------------------------

PLANE_VECTORS = arrays(np.float64, (2, 3), elements=st.floats(-100, 100))


@steady
@given(PLANE_VECTORS, st.floats(0, np.pi))
def test_the_signed_length_of_unit_vectors_is_the_cosine_of_their_angle(
    vectors: Floats, angle: float
) -> None:
    a, b = vectors
    assume(np.linalg.norm(b) > 1e-2)
    b = b / np.linalg.norm(b)
    side = a - (a @ b) * b
    assume(np.linalg.norm(side) > 1e-2)
    turned = np.cos(angle) * b + np.sin(angle) * side / np.linalg.norm(side)
    assert signed_length(turned, b) == pytest.approx(np.cos(angle), abs=1e-9)


@pytest.mark.parametrize(
    ("a", "b", "length"),
    [([1, 0], [1, 0], 1), ([0, 1], [1, 0], 0), ([-1, 0], [1, 0], -1), ([0.6, 0.8], [0, 1], 0.8)],
)
def test_signed_lengths_worked_out_by_hand(a: list[float], b: list[float], length: float) -> None:
    assert signed_length(np.array(a, float), np.array(b, float)) == pytest.approx(length)


def test_without_a_direction_there_is_no_signed_length() -> None:
    nothing, east = np.zeros(2), np.array([1.0, 0.0])
    assert np.isnan(signed_length(nothing, east))
    assert np.isnan(signed_length(east, nothing))
    assert np.isnan(signed_length(nothing, nothing))


# Attention between the two ---------------------------------------------------------------------


def test_planted_heads_stand_where_they_were_planted() -> None:
    links = {(0, 3, 2, 5): 0.9, (2, 1, 2, 5): 0.6, (1, 0, 5, 2): 0.8}
    names = framed("a", "b", "c", "d", "e", "f")
    found = project_pair(trace_with_attention(planted(8, links), names), 2, 5)
    a_to_b, b_to_a = np.full((3, 4), 1 / 8), np.full((3, 4), 1 / 8)
    a_to_b[0, 3], a_to_b[2, 1], b_to_a[1, 0] = 0.9, 0.6, 0.8
    np.testing.assert_allclose(found.a_to_b, a_to_b, atol=1e-6)
    np.testing.assert_allclose(found.b_to_a, b_to_a, atol=1e-6)
    assert describe_pair(found, "b", "e").startswith("Strongest in layer 1: head 4 gives 0.90 of b")


@steady
@given(SEEDS)
def test_attention_between_the_two_is_not_rescaled_when_special_tokens_are_dropped(
    seed: int,
) -> None:
    weights = random_weights(seed, 2, 3, 6)
    found = project_pair(trace_with_attention(weights, framed(*"abcd")), 4, 2)
    np.testing.assert_allclose(found.a_to_b, weights[:, :, 4, 2], atol=1e-6)
    np.testing.assert_allclose(found.b_to_a, weights[:, :, 2, 4], atol=1e-6)


# Which pair to begin with ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        (CHAPTER, ("it", 10, "book", 4)),
        ("It is a book and it is my book, not it.", ("it", 12, "book", 9)),
        ("Read the book.", None),
        ("it book", ("it", 1, "book", 2)),
        ("This BOOK was good, and IT was short", ("it", 7, "book", 2)),
    ],
)
def test_it_on_book_comes_first_and_the_last_of_each(
    minilm: LoadedModel, text: str, pair: tuple[str, int, str, int] | None
) -> None:
    trace = trace_text(minilm, text)
    found = default_pair(trace)
    assert found is not None
    names = tuple(trace.tokens[position].text for position in found)
    if pair is None:
        assert names != ("it", "book")
    else:
        assert (names[0], found[0], names[1], found[1]) == pair


def test_words_are_known_by_what_people_read_not_by_marks_of_the_vocabulary() -> None:
    names = plain_tokens("This", "Ġbook", "Ġis", "Ġlong", ",", "Ġit", "Ġis")
    names = tuple(replace(each, display=each.text.removeprefix("Ġ")) for each in names)
    trace = trace_with_attention(planted(7, {(0, 0, 0, 3): 0.9, (0, 0, 3, 0): 0.9}), names)
    assert default_pair(trace) == (5, 1)


def test_it_inside_another_word_is_not_the_word_it() -> None:
    pieces = (("the", 0), ("prof", 1), ("it", 1), ("of", 2), ("book", 3), ("keeping", 3))
    names = tuple(token(text, i, word) for i, (text, word) in enumerate(pieces))
    links = {(0, 0, 0, 3): 0.9, (0, 0, 3, 0): 0.8}
    assert default_pair(trace_with_attention(planted(6, links), names)) == (0, 3)


def test_without_it_and_book_the_strongest_mutual_pair_is_taken_and_a_gives_more() -> None:
    names = framed("the", "cat", "saw", "a", "mouse", "run")
    links = {(1, 2, 2, 5): 0.6, (1, 2, 5, 2): 0.7, (0, 0, 1, 6): 0.8}
    assert default_pair(trace_with_attention(planted(8, links), names)) == (5, 2)
    turned = {(1, 2, 2, 5): 0.7, (1, 2, 5, 2): 0.6, (0, 0, 1, 6): 0.8}
    assert default_pair(trace_with_attention(planted(8, turned), names)) == (2, 5)


def test_it_alone_or_book_alone_does_not_decide() -> None:
    links = {(0, 1, 2, 4): 0.7, (0, 1, 4, 2): 0.6}
    for lone in ("it", "book"):
        names = framed(lone, "cat", "saw", "mouse")
        assert default_pair(trace_with_attention(planted(6, links), names)) == (2, 4)


def test_both_directions_count_in_the_same_head() -> None:
    names = framed("one", "two", "three", "four", "five")
    links = {(0, 0, 1, 2): 0.8, (1, 1, 2, 1): 0.8, (2, 2, 4, 5): 0.6, (2, 2, 5, 4): 0.65}
    assert default_pair(trace_with_attention(planted(7, links), names)) == (5, 4)


@steady
@given(SEEDS)
def test_the_pair_has_the_largest_sum_of_both_directions_in_any_head(seed: int) -> None:
    names = framed("cat", "saw", "mouse", "run", "home")
    weights = random_weights(seed, 2, 3, 7).astype(float)
    inner = weights[:, :, 1:-1, 1:-1]
    both = np.triu(inner + inner.swapaxes(-1, -2), 1)
    ranked = np.sort(both.max(axis=(0, 1)).ravel())
    assume(ranked[-1] - ranked[-2] > 1e-5)
    layer, head, i, j = np.unravel_index(int(both.argmax()), both.shape)
    assume(abs(inner[layer, head, i, j] - inner[layer, head, j, i]) > 1e-5)
    expected = (i, j) if inner[layer, head, i, j] > inner[layer, head, j, i] else (j, i)
    found = default_pair(trace_with_attention(weights.astype(np.float32), names))
    assert found == (int(expected[0]) + 1, int(expected[1]) + 1)


def test_punctuation_special_tokens_repeats_and_pieces_of_one_word_are_passed_over() -> None:
    names = framed("cap", "##y", "and", ",", "dog", "and")
    mutual = {(1, 1, 3, 5): 0.4, (1, 1, 5, 3): 0.45}
    for first, second in ((1, 2), (3, 6), (4, 5), (0, 5), (5, 7)):
        loud = {(0, 0, first, second): 0.9, (0, 0, second, first): 0.9}
        found = default_pair(trace_with_attention(planted(8, mutual | loud), names))
        assert found == (5, 3), (first, second)


def test_a_text_of_one_word_has_no_pair(minilm: LoadedModel) -> None:
    trace = trace_with_attention(random_weights(1, 2, 2, 3), framed("hello"))
    assert default_pair(trace) is None
    assert default_pair(trace_text(minilm, "hello")) is None


def test_the_pieces_of_one_word_are_no_pair(minilm: LoadedModel) -> None:
    trace = trace_with_attention(random_weights(1, 2, 2, 5), framed("cap", "##y", "##bara"))
    assert default_pair(trace) is None
    assert default_pair(trace_text(minilm, "capybara")) is None


def test_a_word_and_its_repetitions_are_no_pair(minilm: LoadedModel) -> None:
    trace = trace_with_attention(random_weights(1, 2, 2, 5), framed("the", "the", "the"))
    assert default_pair(trace) is None
    assert default_pair(trace_text(minilm, "no no no no")) is None


# Sentences with marks --------------------------------------------------------------------------


def test_the_second_mark_is_a_and_the_first_is_b() -> None:
    found = parse_marked("Oh, this [book]? I've enjoyed [it].")
    assert found == (CHAPTER, (28, 30), (9, 13))


@pytest.mark.parametrize(
    "line",
    ["", "   ", "no marks", "one [mark] only", "[a] [b] [c]", "[a", "a]", "[] and []", "[a] []"],
)
def test_a_line_without_two_marks_is_none(line: str) -> None:
    assert parse_marked(line) is None


UNMARKED = st.text(st.characters(exclude_characters="[]", exclude_categories=["Cs"]), max_size=12)
MARKED = UNMARKED.filter(lambda text: bool(text.strip()))


@steady
@given(UNMARKED, MARKED, UNMARKED, MARKED, UNMARKED)
@example("", "book", "", "it", "")
@example("😀👩‍👩‍👧 ", "book", " é́ ", "it", "")
@example("naïve cafe\u0301 ", "b\u0323ook", " 🇫🇷 ", "it", ".")
def test_spans_count_the_characters_of_the_sentence_without_marks(
    before: str, b: str, between: str, a: str, after: str
) -> None:
    found = parse_marked(f"{before}[{b}]{between}[{a}]{after}")
    assert found is not None
    text, of_a, of_b = found
    assert text == before + b + between + a + after
    assert of_b == (len(before), len(before + b))
    assert of_a == (len(before + b + between), len(before + b + between + a))


@steady
@given(st.text(alphabet="[]ab ", max_size=25))
@example("[[book]] and [it]")
@example("[a [b] c] [d]")
@example("[a [b]]")
@example("x [] [a] [b]")
def test_any_line_is_refused_or_gives_itself_back_when_its_marks_are_set_again(line: str) -> None:
    found = parse_marked(line)
    if found is None:
        return
    text, (a, a_end), (b, b_end) = found
    assert 0 <= b < b_end <= a < a_end <= len(text)
    assert not set("[]") & set(text[a:a_end] + text[b:b_end])
    again = f"{text[:b]}[{text[b:b_end]}]{text[b_end:a]}[{text[a:a_end]}]{text[a_end:]}"
    assert again == line


# From characters to tokens ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "a", "b"),
    [
        ("Oh, this [book]? I've enjoyed [it].", "it", "book"),
        ("[Books] bore [me]", "me", "books"),
        ("😀 👩‍👩‍👧 this [book]? I've enjoyed [it].", "it", "book"),
        ("Cafe\u0301 nai\u0308ve: the [book] e\u0301tait \u200bgood, I like [it]", "it", "book"),
        ("The [capybara] ate because [it] was hungry.", "it", "cap"),
        ("A [red book] and [we are done].", "we", "red"),
        ("The [😀] and the [it]", "it", "[UNK]"),
        ("日本 [book] 語 [it]", "it", "book"),
    ],
)
def test_marks_lead_to_the_tokens_of_the_bundled_model(
    minilm: LoadedModel, line: str, a: str, b: str
) -> None:
    found = parse_marked(line)
    assert found is not None
    text, of_a, of_b = found
    trace = trace_text(minilm, text)
    position_a, position_b = token_at(trace, of_a), token_at(trace, of_b)
    assert position_a is not None
    assert position_b is not None
    assert trace.tokens[position_a].text == a
    assert trace.tokens[position_b].text == b


def test_the_first_piece_that_overlaps_is_taken(minilm: LoadedModel) -> None:
    trace = trace_text(minilm, "The capybara ate it.")
    names = [each.text for each in trace.tokens]
    for span, name in {
        (4, 12): "cap",
        (4, 5): "cap",
        (6, 8): "cap",
        (7, 8): "##y",
        (7, 12): "##y",
        (8, 12): "##bara",
        (11, 16): "##bara",
        (12, 14): "ate",
    }.items():
        assert token_at(trace, span) == names.index(name), span


@pytest.mark.parametrize("span", [(3, 4), (12, 13), (20, 25), (90, 99), (0, 0)])
def test_characters_that_no_token_covers_have_none(
    minilm: LoadedModel, span: tuple[int, int]
) -> None:
    assert token_at(trace_text(minilm, "The capybara ate it."), span) is None


def test_where_there_are_no_characters_there_is_no_token(minilm: LoadedModel) -> None:
    assert token_at(trace_text(minilm, "The capybara ate it."), (5, 5)) is None


def test_special_tokens_and_the_second_sentence_are_never_found(minilm: LoadedModel) -> None:
    trace = trace_text(minilm, "Hi", "capybara book")
    assert token_at(trace, (0, 2)) == 1
    assert token_at(trace, (4, 8)) is None
    assert token_at(trace, (9, 13)) is None


def test_characters_cut_off_with_the_text_have_no_token(minilm: LoadedModel) -> None:
    trace = trace_text(minilm, "one two three four book", max_tokens=5)
    assert token_at(trace, (19, 23)) is None
    assert token_at(trace, (4, 7)) == 2
