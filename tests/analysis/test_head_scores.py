"""Scores of heads, against matrices small enough to add up by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from core.analysis.head_patterns import are_forms, head_scores, uniform_scores, word_pairs
from core.model import load, trace_text
from core.model.trace import Layer, Trace
from tests.analysis.traces import plain_tokens, random_weights, token, trace_with_attention

BY_HAND = np.array(
    [[[[0.5, 0.25, 0.25], [0.7, 0.2, 0.1], [0.0, 0.6, 0.4]]]], dtype=np.float32
)  # one layer, one head, three tokens


def score(trace: Trace, name: str) -> float:
    return float(head_scores(trace)[name][0, 0])


def causal(trace: Trace) -> Trace:
    size = trace.shape[2]
    mask = np.where(np.tri(size, dtype=bool), 0, -np.inf).astype(np.float32)
    return replace(trace, layers=(Layer(1.0, mask),) * trace.shape[0], causal=True)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("previous", (0.7 + 0.6) / 2),
        ("next", (0.25 + 0.1) / 2),
        ("self", (0.5 + 0.2 + 0.4) / 3),
        ("first", (0.5 + 0.7 + 0.0) / 3),
    ],
)
def test_offsets_and_the_first_column_are_means_of_what_stands_there(
    name: str, value: float
) -> None:
    assert score(trace_with_attention(BY_HAND), name) == pytest.approx(value, abs=1e-6)


def test_entropy_is_relative_to_attending_evenly() -> None:
    halves = np.array([[[[0.5, 0.5], [1.0, 0.0]]]], dtype=np.float32)
    # One bit of one bit in the first row, none in the second.
    assert score(trace_with_attention(halves), "entropy") == pytest.approx(0.5, abs=1e-6)
    quarters = np.full((1, 1, 4, 4), 0.25, dtype=np.float32)
    assert score(trace_with_attention(quarters), "entropy") == pytest.approx(1, abs=1e-6)


def test_entropy_of_a_causal_row_is_relative_to_what_it_may_see() -> None:
    # Row 1 sees no other, and does not count; row 2 is even over 2; row 3 is even over 2 of its 3.
    weights = np.array([[[[1, 0, 0], [0.5, 0.5, 0], [0.5, 0.5, 0]]]], dtype=np.float32)
    trace = causal(trace_with_attention(weights))
    expected = (1 + math.log(2) / math.log(3)) / 2
    assert score(trace, "entropy") == pytest.approx(expected, abs=1e-6)


def test_delimiters_are_special_tokens_full_stops_and_commas_and_nothing_else() -> None:
    tokens = (
        token("[CLS]", 0, -1, special=True),
        token("well", 1, 0),
        token(",", 2, 1),
        token("yes", 3, 2),
        token("?", 4, 3),
        token(".", 5, 4),
        token("[SEP]", 6, -1, special=True),
    )
    weights = np.tile(np.array([0.1, 0.05, 0.2, 0.05, 0.25, 0.3, 0.05], np.float32), (1, 1, 7, 1))
    trace = trace_with_attention(weights, tokens)
    assert score(trace, "delimiter") == pytest.approx(0.1 + 0.2 + 0.3 + 0.05, abs=1e-6)


def test_the_same_word_counts_in_all_its_pieces_whatever_its_case() -> None:
    tokens = (
        token("Cap", 0, 0),
        token("##y", 1, 0),
        token("saw", 2, 1),
        token("cap", 3, 2),
        token("##y", 4, 2),
        token("saw", 5, 3),
        token("?", 6, 4),
        token("?", 7, 5),
    )
    weights = random_weights(3, 1, 1, 8)
    row = weights[0, 0]
    expected = [
        row[0, 3] + row[0, 4],
        row[1, 3] + row[1, 4],
        row[2, 5],
        row[3, 0] + row[3, 1],
        row[4, 0] + row[4, 1],
        row[5, 2],
    ]
    trace = trace_with_attention(weights, tokens)
    assert score(trace, "same_word") == pytest.approx(np.mean(expected), abs=1e-6)


def test_forms_of_a_word_are_related_but_not_the_same() -> None:
    same, related = word_pairs(plain_tokens("color", "of", "colorful", "Color"))
    assert np.argwhere(same).tolist() == [[0, 3], [3, 0]]
    assert np.argwhere(related).tolist() == [[0, 2], [0, 3], [2, 0], [2, 3], [3, 0], [3, 2]]


@pytest.mark.parametrize(
    ("a", "b", "forms"),
    [
        ("it", "it", True),
        ("enjoy", "enjoyed", True),
        ("happy", "happily", True),
        ("leaf", "leaves", False),  # three letters in common
        ("inter", "international", False),  # the rest is longer than an ending
        ("in", "inn", False),
        ("thing", "think", True),  # a rule of spelling, as its description says
    ],
)
def test_words_that_begin_alike_and_end_differently_are_forms(a: str, b: str, forms: bool) -> None:
    assert are_forms(a, b) is forms
    assert are_forms(b, a) is forms


def test_the_other_sentence_is_counted_without_special_tokens() -> None:
    tokens = (
        token("[CLS]", 0, -1, special=True),
        token("fall", 1, 0),
        token("[SEP]", 2, -1, special=True),
        token("red", 3, 1, segment=1),
        token("leaves", 4, 2, segment=1),
        token("[SEP]", 5, -1, special=True, segment=1),
    )
    weights = random_weights(4, 1, 1, 6)
    row = weights[0, 0]
    expected = [row[1, 3] + row[1, 4], row[3, 1], row[4, 1]]
    found = score(trace_with_attention(weights, tokens), "other_sentence")
    assert found == pytest.approx(np.mean(expected), abs=1e-6)


def test_what_cannot_be_measured_is_no_number() -> None:
    scores = head_scores(trace_with_attention(BY_HAND))
    for name in ("same_word", "related_word", "other_sentence"):
        assert np.isnan(scores[name]).all()
    alone = head_scores(trace_with_attention(np.ones((2, 3, 1, 1), np.float32)))
    assert alone["entropy"].shape == (2, 3)
    assert np.isnan(alone["entropy"]).all()
    assert np.isnan(alone["previous"]).all()
    assert (alone["self"] == 1).all()


def test_pairs_that_a_causal_model_forbids_do_not_count() -> None:
    weights = np.array([[[[1, 0, 0], [0.5, 0.5, 0], [0.9, 0.1, 0]]]], dtype=np.float32)
    trace = causal(trace_with_attention(weights, plain_tokens("red", "is", "red")))
    assert np.isnan(score(trace, "next"))
    assert score(trace, "previous") == pytest.approx((0.5 + 0.1) / 2, abs=1e-6)
    assert score(trace, "same_word") == pytest.approx(0.9, abs=1e-6)  # the first "red" has none


def test_every_layer_and_head_has_its_own_scores() -> None:
    weights = random_weights(5, 3, 4, 7)
    trace = trace_with_attention(weights)
    scores = head_scores(trace)
    for layer in range(3):
        for head in range(4):
            matrix = weights[layer, head].astype(np.float64)
            entropy = -sum(p * math.log(p) for p in matrix.ravel() if p > 0) / 7 / math.log(7)
            assert scores["previous"][layer, head] == pytest.approx(
                np.trace(matrix, offset=-1) / 6, abs=1e-5
            )
            assert scores["entropy"][layer, head] == pytest.approx(entropy, abs=1e-5)
    assert all(array.dtype == np.float64 for array in scores.values())


def test_a_uniform_head_attends_by_the_number_of_tokens() -> None:
    tokens = (
        token("[CLS]", 0, -1, special=True),
        token("a", 1, 0),
        token("a", 2, 1),
        token("[SEP]", 3, -1, special=True),
    )
    trace = trace_with_attention(random_weights(6, 2, 3, 4), tokens)
    even = uniform_scores(trace)
    for name, value in {"previous": 1 / 4, "delimiter": 2 / 4, "same_word": 1 / 4}.items():
        assert even[name].shape == (2, 3)
        np.testing.assert_allclose(even[name], value, atol=1e-6)
    np.testing.assert_allclose(even["entropy"], 1, atol=1e-6)
    # Causal rows of 1, 2, 3 and 4 keys: the token before gets 1/2, 1/3 and 1/4 of them.
    before = uniform_scores(causal(trace))["previous"]
    np.testing.assert_allclose(before, (1 / 2 + 1 / 3 + 1 / 4) / 3, atol=1e-6)


def test_layers_with_different_masks_are_counted_by_their_own() -> None:
    trace = trace_with_attention(random_weights(7, 2, 1, 3))
    mask = np.where(np.tri(3, dtype=bool), 0, -np.inf).astype(np.float32)
    mixed = replace(trace, layers=(Layer(1.0, mask), Layer(1.0, None)))
    following = head_scores(mixed)["next"]
    assert np.isnan(following[0, 0])
    assert np.isfinite(following[1, 0])


def test_the_bundled_models_known_head_looks_back() -> None:
    trace = trace_text(load("bundled/minilm"), "Oh, this book? I've enjoyed it.")
    scores = head_scores(trace)
    assert scores["previous"].shape == (6, 12)
    assert int(scores["previous"].argmax()) == 2  # L1 H3
    assert scores["previous"][0, 2] > 0.9
