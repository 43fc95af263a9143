"""Scores of heads, against matrices small enough to add up by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from core.analysis.head_patterns import pattern_table
from core.analysis.head_patterns.evidence import evidence
from core.analysis.head_patterns.measure import (
    mean_relative_entropy,
    mean_scores,
    measure_text,
)
from core.analysis.head_patterns.pairs import (
    induction_pairs,
    same_token_pairs,
)
from core.analysis.head_patterns.registry import PATTERNS
from core.analysis.head_patterns.table import SCORES
from core.analysis.pairs import uniform_attention
from core.analysis.rollout import overall_attention, rollout, uniform_overall
from core.model import load, trace_text
from core.model.trace import Layer
from core.model.trace.input import neighbours
from tests.analysis.pictures import confetti, tokens_of, with_attention
from tests.analysis.traces import (
    causal,
    crossing,
    plain_tokens,
    random_weights,
    spelled,
    trace_with_attention,
)

SENTENCE = spelled("[CLS] red , Red ? . [SEP]")


def test_every_layer_and_head_has_its_own_scores() -> None:
    weights = random_weights(5, 2, 3, 7)
    scores = mean_scores([measure_text(trace_with_attention(weights))]).means
    for head in np.ndindex(2, 3):
        matrix = weights[head].astype(np.float64)
        entropy = -sum(p * math.log(p) for p in matrix.ravel() if p > 0) / 7 / math.log(7)
        steps = sum(matrix[i, j] * abs(i - j) for i in range(7) for j in range(7)) / 7
        assert scores["entropy"][head] == pytest.approx(entropy, abs=1e-5)
        assert scores["distance"][head] == pytest.approx(steps, abs=1e-5)
        for name, offset in (("previous", -1), ("self", 0), ("next", 1)):
            diagonal = np.diagonal(matrix, offset).mean()
            assert scores[name][head] == pytest.approx(diagonal, abs=1e-5)


def test_the_same_token_is_looked_for_elsewhere_whatever_its_case() -> None:
    weights = random_weights(3, 1, 1, 7)
    row = pattern_table(trace_with_attention(weights, SENTENCE)).iloc[0]
    expected = (weights[0, 0, 1, 3] + weights[0, 0, 3, 1]) / 2
    assert row["same_token"] == pytest.approx(expected, abs=1e-6)
    assert row["same_token_uniform"] == pytest.approx(1 / 7, abs=1e-6)
    assert not same_token_pairs(spelled("[SEP] a [SEP]")).any()


def test_the_other_sentence_is_counted_without_special_tokens() -> None:
    tokens = spelled("[CLS] fall [SEP] red leaves [SEP]")
    weights = random_weights(4, 1, 1, 6)
    row = weights[0, 0]
    expected = [row[1, 3] + row[1, 4], row[3, 1], row[4, 1]]
    score = mean_scores([measure_text(trace_with_attention(weights, tokens))]).means[
        "other_sentence"
    ]
    assert score.item() == pytest.approx(np.mean(expected), abs=1e-6)


def test_induction_pairs_lead_to_what_followed_an_earlier_copy() -> None:
    pairs = induction_pairs(plain_tokens("a", "b", "c", "a", "b"))
    assert np.argwhere(pairs).tolist() == [[3, 1], [4, 2]]


def test_a_causal_head_is_measured_on_what_it_may_see() -> None:
    weights = np.array([[[[1, 0, 0], [0.5, 0.5, 0], [0.9, 0.1, 0]]]], dtype=np.float32)
    trace = causal(trace_with_attention(weights, plain_tokens("red", "is", "red")))
    row = pattern_table(trace).iloc[0]
    assert row[["next", "next_uniform"]].isna().all()
    expected = {
        "previous": (0.5 + 0.1) / 2,
        "previous_uniform": (1 / 2 + 1 / 3) / 2,
        "same_token": 0.9,  # the first "red" sees no other
        "same_token_uniform": 1 / 3,
        "first_uniform": (1 + 1 / 2 + 1 / 3) / 3,
        "distance_uniform": (0 + 1 / 2 + 3 / 3) / 3,
        "entropy_uniform": 1,
    }
    assert row[list(expected)].tolist() == pytest.approx(list(expected.values()), abs=1e-6)


def test_entropy_counts_only_keys_that_are_permitted() -> None:
    weights = np.array([[[1, 0, 0], [0.5, 0.5, 0], [0.5, 0.5, 0]]], dtype=np.float32)
    expected = (1 + math.log(2) / math.log(3)) / 2  # the first row has no choice
    assert mean_relative_entropy(weights, np.tri(3, dtype=bool)[None]).item() == pytest.approx(
        expected, abs=1e-6
    )
    single = mean_relative_entropy(np.ones((1, 1, 1), np.float32), np.ones((1, 1, 1), bool))
    assert np.isnan(single).all()


def test_layers_with_different_masks_are_counted_by_their_own() -> None:
    trace = trace_with_attention(random_weights(7, 2, 1, 3))
    mask = np.where(np.tri(3, dtype=bool), 0, -np.inf).astype(np.float32)
    mixed = replace(trace, layers=(Layer(1.0, mask), Layer(1.0, None)))
    scores = mean_scores([measure_text(mixed)]).means["next"]
    assert np.isnan(scores).tolist() == [[True], [False]]


def test_what_a_text_does_not_have_is_not_a_number() -> None:
    table = pattern_table(trace_with_attention(random_weights(5, 2, 3, 4)))
    absent = ["cls", "sep", "punctuation", "delimiter", "same_token", "other_sentence", "induction"]
    assert table[absent].isna().all(axis=None)
    ones = trace_with_attention(np.ones((2, 3, 1, 1), np.float32))
    single = mean_scores([measure_text(ones)]).means
    assert np.isnan([single["entropy"], single["previous"]]).all()
    assert (single["self"] == 1).all()


def test_minilm_has_its_previous_token_head() -> None:
    table = pattern_table(trace_text(load("bundled/minilm"), "Oh, this book? I've enjoyed it."))
    (head,) = table[table["class"] == "previous"].to_dict("records")
    assert (head["layer"], head["head"]) == (1, 3)
    assert head["previous"] > 0.99
    assert head["confidence"] > 0.98
    assert head["previous_uniform"] == pytest.approx(1 / 13)


# The decoder's tokens have marks of their own, which are no keys.
QUERIES = ("[CLS]", "so", ".", "he", ",", "runs", ".", "on", "and", "on", "[SEP]")
KEYS = ("[CLS]", "the", "dog", ",", "it", "runs", ".", "[SEP]")
# By score, the places of KEYS that the pattern's name says
PLACES = {
    "first": [0],
    "cls": [0],
    "sep": [7],
    "punctuation": [3, 6],
    "delimiter": [0, 3, 6, 7],
}
TRACE = crossing(3, 4, queries=QUERIES, keys=KEYS)


@pytest.mark.parametrize("score", PLACES)
def test_a_score_is_the_attention_to_such_keys(score: str) -> None:
    table = pattern_table(TRACE)
    for number, (layer, head) in enumerate(np.ndindex(2, 4)):
        rows = TRACE.attention(layer, head)
        expected = sum(row[place] for row in rows for place in PLACES[score]) / len(QUERIES)
        assert table[score][number] == pytest.approx(expected, abs=1e-5)
    assert table[f"{score}_uniform"].tolist() == pytest.approx([len(PLACES[score]) / len(KEYS)] * 8)


def test_what_needs_two_tokens_of_one_text_is_left_empty() -> None:
    table = pattern_table(TRACE)
    defined = {name for name in SCORES if table[name].notna().any()}
    assert defined == {*PLACES, "entropy"}
    assert {name for name in SCORES if table[f"{name}_uniform"].notna().any()} == defined
    assert {each.score for each in PATTERNS if each.across} == defined
    assert not set(table["class"]) & {"previous", "next", "self", "same_token", "other_sentence"}


def test_the_evidence_of_a_pattern_is_over_key_tokens() -> None:
    weights = TRACE.attention(1, 2)
    uniform = uniform_attention(np.ones((len(QUERIES), len(KEYS)), dtype=np.bool_))
    marks = evidence(weights, uniform, TRACE.tokens, "punctuation", TRACE.source)
    rows = weights.tolist()
    np.testing.assert_allclose(marks.share, [row[3] + row[6] for row in rows], atol=1e-5)
    assert marks.uniform == pytest.approx(2 / len(KEYS))
    assert marks.strongest.tolist() == [row.index(max(row)) for row in rows]
    assert evidence(weights, uniform, TRACE.tokens, "self", TRACE.source).tokens == 0
    broad = evidence(weights, uniform, TRACE.tokens, "broad", TRACE.source)
    entropies = [-sum(weight * math.log(weight) for weight in row) for row in rows]
    np.testing.assert_allclose(broad.share, np.array(entropies) / math.log(len(KEYS)), atol=1e-5)


def test_the_mean_of_everything_is_that_of_all_heads_and_nothing_is_rolled_out() -> None:
    every = np.array([TRACE.attention(*place) for place in np.ndindex(2, 4)])
    weights = overall_attention(TRACE, "mean")
    np.testing.assert_allclose(weights, every.mean(axis=0), atol=1e-5)
    uniform = uniform_overall(TRACE, "mean")
    np.testing.assert_allclose(uniform, np.full((len(QUERIES), len(KEYS)), 1 / len(KEYS)))
    with pytest.raises(ValueError, match="other tokens"):
        rollout([weights])


def test_neighbours_of_a_patch_are_those_of_its_row_and_none_beyond_an_edge() -> None:
    tokens = tokens_of(confetti(0, 2, 3), ("[CLS]", "[REG1]"))  # r1c1 is token 2, r2c1 token 5
    left, right = (np.argwhere(neighbours(tokens, step)).tolist() for step in (-1, 1))
    assert left == [[3, 2], [4, 3], [6, 5], [7, 6]]
    assert right == [[2, 3], [3, 4], [5, 6], [6, 7]]
    assert neighbours(tokens, 0).all(axis=0).sum() == 0
    assert neighbours(tokens, 0).diagonal().all()


def test_a_head_that_looks_to_the_left_is_named_so_and_its_score_leaves_out_first_columns() -> None:
    rows, columns = 4, 4
    size = rows * columns + 1
    weights = np.full((size, size), 0.1 / (size - 1))
    for token in range(1, size):
        if (token - 1) % columns:
            weights[token, token - 1] = 0.9
    weights[weights.sum(axis=1) < 0.5] = 1 / size
    row = pattern_table(with_attention(confetti(0, rows, columns), weights[None, None])).iloc[0]
    assert row["class"] == "previous"
    # Over the twelve patches with a left neighbour: the others' rows would lower it
    assert row["previous"] == pytest.approx(0.9, abs=1e-5)
    assert row["previous_uniform"] == pytest.approx(1 / size)
