"""Scores of heads and their evidence, on pairs of tokens that are counted by hand."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pytest
from scipy.stats import entropy

from core.analysis.head_patterns import pattern_table
from core.analysis.head_patterns.evidence import evidence
from core.analysis.head_patterns.measure import mean_scores, measure_text
from core.analysis.head_patterns.naming import NAMING
from core.analysis.head_patterns.registry import PATTERNS
from core.analysis.head_patterns.search import HIGHLIGHTED, find_heads
from core.analysis.head_patterns.table import SCORES
from core.analysis.rollout import overall_attention, rollout, uniform_overall
from core.model import load, trace_text
from core.model.trace import Layer, Trace
from core.model.trace.input import neighbours
from tests.analysis.pictures import confetti, tokens_of, with_attention
from tests.analysis.traces import (
    causal,
    causal_mask,
    crossing,
    plain_tokens,
    random_weights,
    spelled,
    trace_with_attention,
)

SENTENCE = spelled("[CLS] red , Red [SEP] the red . [SEP]")
QUERIES = range(9)
# By pattern, its (query, key) pairs; upper and lower case are the same.
PAIRS: dict[str, list[tuple[int, ...]]] = {
    "previous": [(i, i - 1) for i in range(1, 9)],
    "next": [(i, i + 1) for i in range(8)],
    "self": [(i, i) for i in QUERIES],
    "first": list(product(QUERIES, (0,))),
    "cls": list(product(QUERIES, (0,))),
    "sep": list(product(QUERIES, (4, 8))),
    "punctuation": list(product(QUERIES, (2, 7))),
    "delimiter": list(product(QUERIES, (0, 2, 4, 7, 8))),
    "same_token": list(permutations((1, 3, 6), 2)),
    "other_sentence": [*product((1, 2, 3), (5, 6, 7)), *product((5, 6, 7), (1, 2, 3))],
    "induction": [(3, 2), (6, 2), (6, 4)],  # to what followed an earlier copy
}
TRACE = trace_with_attention(random_weights(5, 2, 3, 9), SENTENCE)
MIXED = replace(TRACE, layers=(Layer(1.0, causal_mask(9)), Layer(1.0, None)))


@pytest.mark.parametrize("trace", [TRACE, causal(TRACE), MIXED], ids=["all", "causal", "mixed"])
def test_scores_are_means_of_the_evidence_over_queries_with_a_permitted_pair(trace: Trace) -> None:
    table = pattern_table(trace)
    away = np.abs(np.subtract.outer(QUERIES, QUERIES))
    for number, (layer, head) in enumerate(np.ndindex(2, 3)):
        allowed = np.ones((9, 9), bool) if trace.layers[layer].mask is None else np.tri(9) > 0
        even = allowed / allowed.sum(axis=1, keepdims=True)
        both = weights, _ = trace.attention(layer, head), even.astype(np.float32)
        shares = {}
        for name, pairs in PAIRS.items():
            own = np.zeros((9, 9), bool)
            own[tuple(np.transpose(pairs))] = True
            own &= allowed
            counts = own.any(axis=1)
            shares[name] = [np.where(counts, (each * own).sum(axis=1), np.nan) for each in both]
        choice = allowed.sum(axis=1) > 1
        logs = np.log(np.where(choice, allowed.sum(axis=1), 2))
        shares["broad"] = [np.where(choice, entropy(each, axis=1) / logs, np.nan) for each in both]
        shares["distance"] = [(each * away).sum(axis=1) for each in both]
        for name, (share, uniform) in shares.items():
            if name in NAMING:
                marks = evidence(*both, SENTENCE, name)
                found = [marks.share, marks.uniform]
                np.testing.assert_allclose(found, [share, uniform], atol=1e-5)
                assert marks.tokens == np.isfinite(share).sum()
                assert marks.strongest.tolist() == weights.argmax(axis=1).tolist()
            score = NAMING[name].score if name in NAMING else name
            found = table[[score, f"{score}_uniform"]].to_numpy()[number]
            if name == "induction" or np.isnan(share).all():  # induction needs texts of its own
                assert np.isnan(found).all()
            else:
                expected = np.nanmean([share, uniform], axis=1)
                np.testing.assert_allclose(found, expected, atol=1e-5)


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
    assert head["previous"] == pytest.approx(0.9999, abs=1e-4)
    assert head["confidence"] > 0.98
    assert head["previous_uniform"] == pytest.approx(1 / 13)


# The decoder's tokens have marks of their own, which are no keys.
DECODED = ("[CLS]", "so", ".", "he", ",", "runs", ".", "on", "and", "on", "[SEP]")
SOURCE = ("[CLS]", "the", "dog", ",", "it", "runs", ".", "[SEP]")
CROSS = crossing(3, 4, queries=DECODED, keys=SOURCE)
# By score, the places of SOURCE that the pattern's name says
PLACES = {
    "first": [0],
    "cls": [0],
    "sep": [7],
    "punctuation": [3, 6],
    "delimiter": [0, 3, 6, 7],
}


def test_a_score_of_cross_attention_is_that_to_such_keys_and_the_others_are_empty() -> None:
    table = pattern_table(CROSS)
    even = np.full((11, 8), 1 / 8, dtype=np.float32)
    for number, head in enumerate(np.ndindex(2, 4)):
        weights = CROSS.attention(*head)
        for score, places in PLACES.items():
            shares = weights[:, places].sum(axis=1)
            assert table[score][number] == pytest.approx(shares.mean(), abs=1e-5)
            assert table[f"{score}_uniform"][number] == pytest.approx(len(places) / 8)
            if score in NAMING:
                marks = evidence(weights, even, CROSS.tokens, score, CROSS.source)
                np.testing.assert_allclose(marks.share, shares, atol=1e-5)
        broad = evidence(weights, even, CROSS.tokens, "broad", CROSS.source)
        np.testing.assert_allclose(broad.share, entropy(weights, axis=1) / np.log(8), atol=1e-5)
        assert evidence(weights, even, CROSS.tokens, "self", CROSS.source).tokens == 0
    for suffix in ("", "_uniform"):
        defined = {name for name in SCORES if table[f"{name}{suffix}"].notna().any()}
        assert defined == {*PLACES, "entropy"} == {each.score for each in PATTERNS if each.across}
    assert not set(table["class"]) & {"previous", "next", "self", "same_token", "other_sentence"}


def test_the_mean_of_everything_is_that_of_all_heads_and_nothing_is_rolled_out() -> None:
    weights = overall_attention(CROSS, "mean")
    np.testing.assert_allclose(weights, CROSS.attention().mean(axis=(0, 1)), atol=1e-5)
    np.testing.assert_allclose(uniform_overall(CROSS, "mean"), np.full((11, 8), 1 / 8))
    with pytest.raises(ValueError, match="other tokens"):
        rollout([weights])


def test_neighbours_of_a_patch_are_those_of_its_row_and_none_beyond_an_edge() -> None:
    tokens = tokens_of(confetti(0, 2, 3), ("[CLS]", "[REG1]"))  # r1c1 is token 2, r2c1 token 5
    left, right = (np.argwhere(neighbours(tokens, step)).tolist() for step in (-1, 1))
    assert left == [[3, 2], [4, 3], [6, 5], [7, 6]]
    assert right == [[2, 3], [3, 4], [5, 6], [6, 7]]
    np.testing.assert_array_equal(neighbours(tokens, 0), np.eye(8, dtype=bool))


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


@pytest.mark.parametrize(("weight", "holding"), [(0.7, [[1, 2]]), (0.4, [])])
def test_a_planted_head_holds_above_the_threshold_and_ranks_first(
    weight: float, holding: list[list[int]]
) -> None:
    weights = np.full((2, 3, 6, 6), 1 / 6, dtype=np.float32)
    weights[1, 2, 1:] = (1 - weight) / 5
    weights[1, 2, range(1, 6), range(5)] = weight
    trace = trace_with_attention(weights, plain_tokens(*"abcdef"))
    search = find_heads(trace, "previous")
    assert np.argwhere(search.holds).tolist() == holding
    assert len(search.ranked()) == 6
    *place, score = search.ranked()[0]
    assert place == [1, 2]
    assert score == pytest.approx(weight, abs=1e-6)
    assert search.uniform == pytest.approx(1 / 6, abs=1e-6)
    absent = find_heads(trace, "sentence")  # which the text has only one of
    assert not absent.measurable
    assert not absent.holds.any()
    assert absent.ranked() == []


def test_a_uniform_head_holds_for_being_broad_alone_even_above_a_threshold() -> None:
    even, eye = np.full((3, 3), 1 / 3), np.eye(3)
    weights = np.stack([even, eye, 0.3 * even + 0.7 * eye])[None].astype(np.float32)
    trace = trace_with_attention(weights, spelled("[CLS] x [SEP]"))
    search = find_heads(trace, "delimiters")
    assert search.scores[0, 0] == pytest.approx(2 / 3, abs=1e-6)
    assert search.scores[0, 0] > HIGHLIGHTED["delimiters"].threshold
    assert not search.holds[0, 0]
    assert find_heads(trace, "broad").holds.tolist() == [[True, False, False]]
