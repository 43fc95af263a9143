"""Patterns of cross attention: those of the key tokens alone, pair by pair."""

from __future__ import annotations

import math

import numpy as np
import pytest

from core.analysis.head_patterns import pattern_table
from core.analysis.head_patterns.evidence import evidence
from core.analysis.head_patterns.registry import PATTERNS
from core.analysis.head_patterns.table import SCORES
from core.analysis.pairs import uniform_attention
from core.analysis.rollout import overall_attention, rollout, uniform_overall
from tests.analysis.traces import crossing

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
