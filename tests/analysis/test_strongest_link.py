"""The strongest link of a text is the one that was planted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from core.analysis.pair_projection import project_pair
from core.analysis.strongest_link import find_link, strongest_link, strongest_links
from core.model import LoadedModel, load, trace_text
from tests.analysis.pictures import confetti, with_attention
from tests.analysis.traces import (
    made_trace,
    plain_tokens,
    random_weights,
    spelled,
    trace_with_attention,
)

if TYPE_CHECKING:
    from core.model.trace import Token, Trace

UNIFORM = np.full((2, 3, 6, 6), 1 / 6, dtype=np.float32)


def planted(layer: int, head: int, query: int, key: int, weight: float) -> np.ndarray:
    weights = UNIFORM.copy()
    weights[layer, head, query] = (1 - weight) / 5
    weights[layer, head, query, key] = weight
    return weights


def test_a_planted_link_is_found_with_its_head_and_weight() -> None:
    tokens = plain_tokens("oh", "this", "book", "we", "enjoyed", "it")
    link = strongest_link(trace_with_attention(planted(1, 2, 5, 2, 0.9), tokens))
    assert link is not None
    assert (link.layer, link.head, link.query, link.key) == (1, 2, 5, 2)
    assert abs(link.weight - 0.9) < 1e-5


def test_neighbours_punctuation_repeats_and_special_tokens_do_not_count() -> None:
    tokens = spelled("[CLS] it was , and it")
    for query, key in ((5, 0), (5, 4), (5, 3), (5, 1)):
        link = strongest_link(trace_with_attention(planted(0, 0, query, key, 0.9), tokens))
        assert link is not None
        assert (link.query, link.key) != (query, key)
        assert link.weight < 0.2


def test_a_text_of_one_word_has_no_link() -> None:
    trace = trace_with_attention(np.ones((1, 1, 1, 1), np.float32), plain_tokens("x"))
    assert strongest_link(trace) is None


def test_only_the_layers_asked_for_are_searched() -> None:
    tokens = plain_tokens("a", "b", "c", "d", "e", "f")
    link = strongest_link(trace_with_attention(planted(0, 1, 4, 0, 0.9), tokens), layers=(1,))
    assert link is not None
    assert link.layer == 1


def test_each_head_has_the_link_that_was_planted_in_it() -> None:
    tokens = plain_tokens("a", "b", "c", "d", "e", "f")
    weights = planted(0, 1, 4, 0, 0.9)
    weights[1, 2, 0] = 0.04
    weights[1, 2, 0, 5] = 0.8
    links = strongest_links(trace_with_attention(weights, tokens))
    assert [len(row) for row in links] == [3, 3]
    assert (links[0][1].query, links[0][1].key) == (4, 0)
    assert (links[1][2].query, links[1][2].key) == (0, 5)
    assert abs(links[1][2].weight - 0.8) < 1e-5
    assert abs(links[0][0].weight - 1 / 6) < 1e-5  # uniform: any pair that counts
    assert abs(links[0][0].query - links[0][0].key) > 1


def test_of_two_neighbours_no_head_has_a_link() -> None:
    trace = trace_with_attention(np.full((1, 2, 2, 2), 0.5, np.float32), plain_tokens("a", "b"))
    assert strongest_links(trace) == []


def test_of_an_image_the_strongest_link_joins_two_patches_that_do_not_touch() -> None:
    weights = np.full((1, 1, 17, 17), 0.01)
    weights[0, 0, 6, 2] = 0.9  # r2c2 to the patch above it
    weights[0, 0, 6, 11] = 0.8  # and to the one beside that below it
    weights[0, 0, 1, 12] = 0.5  # r1c1 to r3c4
    weights[0, 0, 0, 16] = 0.95  # CLS does not count
    link = strongest_link(with_attention(confetti(0, 4, 4), weights))
    assert link is not None
    assert (link.query, link.key) == (1, 12)


def lifted(*cells: tuple[int, int, int, float], text: str) -> tuple[int, int, int, bool] | None:
    """Head, query, key of the link found where these cells, (head, query, key), have weights."""
    tokens = spelled(text)
    weights = np.full((1, 3, len(tokens), len(tokens)), 0.01)
    for head, query, key, weight in cells:
        weights[0, head, query, key] = weight
    link = find_link(trace_with_attention(weights, tokens))
    return None if link is None else (link.head, link.query, link.key, link.joins_words)


def test_the_found_link_is_lifted_over_its_layer() -> None:
    """All heads give 0.9 to one pair; to another a single head gives 0.6."""
    same = [(head, 4, 1, 0.9) for head in range(3)]
    text = "[CLS] cats chase brown mice under tall trees"
    assert lifted(*same, (1, 3, 1, 0.6), text=text) == (1, 3, 1, True)


def test_stop_words_neighbours_and_sinks_are_not_found() -> None:
    text = "[CLS] the cats chase brown mice under tall trees"
    others = [(0, 5, 1, 0.9), (0, 3, 2, 0.9), *((2, query, 4, 0.8) for query in (1, 2, 3, 5, 6, 7))]
    assert lifted(*others, (1, 5, 2, 0.3), text=text) == (1, 5, 2, True)


def test_a_text_without_two_content_words_shows_two_others() -> None:
    assert lifted((2, 1, 2, 0.5), text="[CLS] leaves fall") == (2, 1, 2, False)
    assert lifted(text="[CLS] leaves") is None


def test_the_default_sentence_joins_it_to_book() -> None:
    link = find_link(trace_text(load("bundled/minilm"), "Oh, this book? I've enjoyed it."))
    assert link is not None
    assert (link.layer, link.head, link.query, link.key) == (3, 1, 10, 4)
    assert round(link.weight, 2) == 0.93


Floats = NDArray[np.float64]
CHAPTER = "Oh, this book? I've enjoyed it."
SEEDS = st.integers(0, 2**32 - 1)
some = settings(deadline=None, max_examples=25)


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
    """Whether the plane is unique and these tokens have a direction in it."""
    powers = np.linalg.eigvalsh(rows.T @ rows)[::-1]
    lengths = np.linalg.norm(plane_of(rows)[list(tokens)], axis=1)
    return bool(powers[1] > 1.05 * powers[2] and lengths.min() > 1e-2)


def framed(*words: str) -> tuple[Token, ...]:
    """[CLS] words [SEP]."""
    return spelled(" ".join(("[CLS]", *words, "[SEP]")))


@pytest.fixture(scope="module")
def minilm() -> LoadedModel:
    return load("bundled/minilm")


def test_it_along_book_in_the_chapters_sentence(minilm: LoadedModel) -> None:
    trace = trace_text(minilm, CHAPTER)
    projection = project_pair(trace, 10, 4)
    assert projection.strongest_head == (3, 1)
    assert projection.same_way == (5,)
    np.testing.assert_allclose(projection.uniform, 1 / 13)
    rows = [centred_rows(trace.attention(layer)) for layer in range(6)]
    powers = [np.linalg.eigvalsh(each.T @ each) for each in rows]
    np.testing.assert_allclose(projection.kept, [p[-2:].sum() / p.sum() for p in powers], atol=1e-4)


def test_uniform_attention_is_to_permitted_keys_alone() -> None:
    """Of a causal text: none to a later token, a third each of three."""
    mask = np.where(np.tri(5, dtype=bool), 0, -np.inf).astype(np.float32)
    nothing = np.zeros((2, 3, 5, 4))
    trace = made_trace(nothing, nothing, mask=mask)
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
        rows = centred_rows(weights[layer])
        assume(is_clear(rows, a, b))
        plane = plane_of(rows)
        length = projection.in_plane[layer]
        assert length == pytest.approx(cosine(plane[a], plane[b]), abs=1e-3)
        assert projection.in_full[layer] == pytest.approx(cosine(rows[a], rows[b]), abs=1e-3)
        np.testing.assert_allclose(np.linalg.norm([drawn_a, drawn_b], axis=1), 1)
        np.testing.assert_allclose(along, length * drawn_b, atol=1e-9)
        assert abs((drawn_a - along) @ drawn_b) < 1e-9


def same_keys(size: int) -> Trace:
    """All tokens see the same keys."""
    draw = np.random.default_rng(size)
    queries = draw.normal(size=(2, 12, size, 32))
    return made_trace(queries, np.repeat(draw.normal(size=(2, 12, 1, 32)), size, axis=2))


def same_queries(size: int) -> Trace:
    weights = np.repeat(random_weights(size, 2, 3, size)[:, :, :1], size, axis=2)
    return trace_with_attention(weights)


@pytest.mark.parametrize("size", [2, 3, 13, 30])
@pytest.mark.parametrize("make", [same_keys, same_queries])
def test_no_token_has_a_direction_where_all_attend_alike(make: Any, size: int) -> None:
    projection = project_pair(make(size), 1, 0)
    assert np.isnan([projection.in_plane, projection.in_full]).all()
    assert projection.same_way == ()
    np.testing.assert_array_equal(projection.vectors, 0)


@pytest.mark.parametrize("size", [4, 10, 22])
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
