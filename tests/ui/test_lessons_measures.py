"""What lessons ask of a text and of heads, on traces whose answers are known beforehand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.model.trace import Trace
from core.ui.lessons import measures, of_heads
from core.ui.lessons.answers import Place, find_word
from core.ui.lessons.of_heads import value
from tests.analysis import traces
from tests.analysis.traces import causal, random_trace, random_weights, trace_with_attention

FIRST, HERE = Place(0, 0), Place(1, 2)
TOKENS = traces.spelled("[CLS] the book that she read")


def one_head(scores: np.ndarray, values: np.ndarray | None = None) -> Trace:
    """A trace of one head with these scores (token, token)."""
    keys = np.eye(len(scores))[None, None]
    return replace(traces.made_trace(scores[None, None], keys, values), tokens=TOKENS)


def test_one_cell_by_hand() -> None:
    scores = np.zeros((6, 6))
    scores[5, [2, 4]] = 3, 1
    found = measures.by_hand(trace := one_head(scores))
    assert found is not None
    tokens = [found[f"{name}_token"] for name in ("query", "key", "second")]
    assert tokens == ["read", "book", "she"]
    assert (found["dimension"], found["of_query"], found["of_key"]) == (3, 3, 1)
    terms = (4 + np.e) / np.exp(3)  # four other tokens have a score of 0, one of 1
    expected = {"product": 3, "total": 3, "score": 3, "gap": 2, "ratio": np.exp(2), "terms": terms}
    expected |= {"weight": 1 / (1 + terms), "others": terms / (1 + terms), "back": 1 / 6}
    assert {name: found[name] for name in expected} == pytest.approx(expected, rel=1e-5)
    for field, right in (("back", 0), ("shifted", 1)):
        answer = measures.number_of(trace, FIRST, of="by_hand", field=field, against="weight")
        assert answer.right == (right,)


def test_a_higher_score_can_have_less_attention_in_another_row() -> None:
    scores = np.zeros((6, 6))
    scores[5] = 8, 8, 9, 8, 8, 8
    scores[3, 0] = 6
    found = measures.reversal(one_head(scores))
    assert found is not None
    assert (found["query"], found["key"], found["score"]) == (6, 3, 9)
    assert (found["other_query"], found["other_key"], found["other_score"]) == (4, 1, 6)
    shares = 1 / (1 + 5 / np.e), 1 / (1 + 5 * np.exp(-6))
    assert (found["weight"], found["other_weight"]) == pytest.approx(shares, rel=1e-5)
    assert not found["lacks"]


def test_a_sink_is_idle_if_its_value_is_short_and_busy_if_it_is_long() -> None:
    scores, values = np.zeros((6, 6)), np.ones((1, 1, 6, 6))
    scores[:, 0] = 5
    values[..., 0, :] = 0
    short, long = one_head(scores, values), one_head(scores)
    idle, busy = measures.idle_sink(short), measures.busy_sink(long)
    assert (idle["token"], idle["moved"], idle["value"], idle["lacks"]) == ("[CLS]", 0, 0, False)
    assert (busy["moved"], busy["lacks"]) == (pytest.approx(busy["taken"]), False)
    assert measures.busy_sink(short)["lacks"]
    assert measures.idle_sink(long)["lacks"]


def test_heads_columns_rows_and_likely_mistakes() -> None:
    weights, rests = random_weights(0, 2, 3, 6), Place(0, 1)
    weights[HERE] = np.eye(6)[[0, *range(5)]]
    weights[rests] = np.eye(6)[[0] * 6]
    trace = trace_with_attention(weights, TOKENS)
    previous = measures.heads_of_pattern(trace, FIRST, pattern="previous")
    assert (previous.right, previous.fields["best_name"]) == ((HERE,), "L2 H3")
    assert measures.heads_of_pattern(trace, FIRST, pattern="previous", count=True).right == (1,)
    assert rests in measures.resting(trace, previous)
    assert measures.heads_of_pattern(trace, FIRST, pattern="same_token").lacks
    column = measures.strongest_column(trace, rests, special=True)
    assert (column.right, column.lacks) == ((0,), False)
    assert measures.strongest_column(trace, rests, special=False).lacks
    assert (measures.special(trace, column), measures.word(trace, column)) == ([0], [1, 2, 3, 4, 5])
    best = measures.strongest_head_of(trace, FIRST, query="book", key="the")
    others = np.delete(weights[..., 2, 1], 5)
    assert (best.right, measures.second(trace, best)) == ((HERE,), [divmod(others.argmax(), 3)])
    row = measures.strongest_key(trace, HERE, query="book", least=0.5)
    assert (row.right, row.lacks) == ((1,), False)
    assert measures.strongest_key(trace, HERE, query="book", least=1.1).lacks
    assert measures.linked_words(trace) is not None
    assert of_heads.head_with(trace, FIRST, of="first_attention").right == (rests,)
    assert of_heads.head_with(trace, FIRST, of="first_attention", floor=1.1).lacks
    sides = "first_attention", "first_uniform"
    for right, (of, to) in ((0, sides), (2, sides[::-1])):
        assert of_heads.larger_of(trace, rests, of=of, to=to).right == (right,)


def test_a_causal_model_leaves_half_the_table_empty_and_its_first_row_no_choice() -> None:
    trace = causal(random_trace(0))
    for of, right in (("empty", 12 * 11 / 2), ("even", 100), ("first_row", 100)):
        assert value(trace, HERE, of=of).right == (right,)
    assert value(random_trace(0), HERE, of="empty", floor=1).lacks


def test_a_moves_scores_and_distances_and_c_only_distances_and_neither_a_weight() -> None:
    trace = traces.made_trace(*traces.clouds(1, 2, 3, 12, 8))
    assert of_heads.freedom(trace, HERE, constant="a").right == (2,)
    assert of_heads.freedom(trace, HERE, constant="c").right == (1,)
    assert of_heads.freedom(causal(trace), HERE, constant="a").right == (2,)


def test_the_nearest_key_is_that_of_all_dimensions_not_of_the_two_drawn() -> None:
    queries, keys = np.random.default_rng(3).normal(size=(2, 1, 1, 12, 16)).astype(np.float32)
    trace, drawn = traces.made_trace(queries, keys), []
    for token in trace.tokens:
        answer = of_heads.nearest_key(trace, FIRST, query=token.display)
        apart = np.linalg.norm(keys[0, 0] - queries[0, 0, token.position], axis=1)
        assert answer.right == (apart.argmin(),)
        assert answer.lacks == (answer.right[0] != trace.attention(0, 0)[token.position].argmax())
        drawn.append(of_heads.in_the_plane(trace, answer) == list(answer.right))
    assert not all(drawn)


def test_the_second_copy_of_a_word_is_found_by_its_label() -> None:
    tokens = traces.plain_tokens("the", "old", "sea", "old")
    trace = trace_with_attention(random_weights(0, 1, 1, 4), tokens)
    assert of_heads.repeats_a_word(trace) == {"query": "old₂"}
    assert (find_word(trace, "Old"), find_word(trace, "old₂")) == (1, 3)
    assert of_heads.repeats_a_word(random_trace(0)) is None
    assert (measures.has_words(trace), measures.has_words(random_trace(0))) == (None, {})
