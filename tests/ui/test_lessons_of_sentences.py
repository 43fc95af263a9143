"""What lessons ask about one sentence, on traces whose answers are known beforehand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.model.trace import Trace
from core.ui.lessons.answers import Place
from core.ui.lessons.measures import (
    busy_sink,
    by_hand,
    heads_of_pattern,
    idle_sink,
    linked_words,
    number_of,
    resting,
    reversal,
    second,
    special,
    strongest_column,
    strongest_head_of,
    strongest_key,
    word,
)
from tests.analysis.traces import made_trace, random_weights, spelled, trace_with_attention

HERE = Place(0, 0)
TOKENS = spelled("[CLS] the book that she read")


def one_head(scores: np.ndarray, values: np.ndarray | None = None) -> Trace:
    """A trace of one head with these scores (token, token)."""
    keys = np.eye(len(scores))[None, None]
    trace = made_trace(scores[None, None].astype(np.float32), keys.astype(np.float32), values)
    return replace(trace, tokens=TOKENS)


def test_one_cell_by_hand() -> None:
    scores = np.zeros((6, 6))
    scores[5, [2, 4]] = 3, 1
    found = by_hand(one_head(scores))
    assert found is not None
    assert (found["query_token"], found["key_token"], found["second_token"]) == (
        "read",
        "book",
        "she",
    )
    assert (found["dimension"], found["of_query"], found["of_key"]) == (3, 3, 1)
    terms = (4 + np.e) / np.exp(3)  # four other tokens have a score of 0, one of 1
    expected = {"product": 3, "total": 3, "score": 3, "gap": 2, "ratio": np.exp(2), "terms": terms}
    expected |= {"weight": 1 / (1 + terms), "others": terms / (1 + terms), "back": 1 / 6}
    assert {name: found[name] for name in expected} == pytest.approx(expected, rel=1e-5)
    of = {"of": "by_hand", "against": "weight"}
    trace = one_head(scores)
    choices = [number_of(trace, HERE, field=name, **of).right for name in ("back", "shifted")]
    assert choices == [(0,), (1,)]


def test_a_higher_score_can_have_less_attention_in_another_row() -> None:
    scores = np.zeros((6, 6))
    scores[5] = 8, 8, 9, 8, 8, 8
    scores[3, 0] = 6
    found = reversal(one_head(scores))
    assert found is not None
    assert (found["query"], found["key"], found["score"]) == (6, 3, 9)
    assert (found["other_query"], found["other_key"], found["other_score"]) == (4, 1, 6)
    shares = 1 / (1 + 5 / np.e), 1 / (1 + 5 * np.exp(-6))
    assert (found["weight"], found["other_weight"]) == pytest.approx(shares, rel=1e-5)
    assert not found["lacks"]


def test_a_sink_is_idle_if_its_value_is_short_and_busy_if_it_is_long() -> None:
    scores, values = np.zeros((6, 6)), np.ones((1, 1, 6, 6), np.float32)
    scores[:, 0] = 5
    values[..., 0, :] = 0
    idle = idle_sink(one_head(scores, values))
    assert (idle["token"], idle["moved"], idle["value"], idle["lacks"]) == ("[CLS]", 0, 0, False)
    assert busy_sink(one_head(scores, values))["lacks"]
    assert idle_sink(one_head(scores))["lacks"]
    busy = busy_sink(one_head(scores))
    assert (busy["moved"], busy["lacks"]) == (pytest.approx(busy["taken"]), False)


def test_columns_heads_and_likely_mistakes() -> None:
    weights = random_weights(0, 2, 3, 6)
    weights[1, 2] = np.eye(6, k=-1) + np.eye(6)[[0] * 6] * (np.arange(6) == 0)[:, None]
    weights[0, 1] = np.eye(6)[[0] * 6]
    trace = trace_with_attention(weights, TOKENS)
    previous = heads_of_pattern(trace, HERE, pattern="previous")
    assert (previous.right, previous.fields["best_name"]) == (((1, 2),), "L2 H3")
    assert heads_of_pattern(trace, HERE, pattern="previous", count=True).right == (1,)
    assert (0, 1) in resting(trace, previous)
    assert heads_of_pattern(trace, HERE, pattern="same_token").lacks
    column = strongest_column(trace, Place(0, 1), special=True)
    assert (column.right, column.lacks, special(trace, column)) == ((0,), False, [0])
    assert strongest_column(trace, Place(0, 1), special=False).lacks
    assert word(trace, column) == [1, 2, 3, 4, 5]
    best = strongest_head_of(trace, HERE, query="book", key="the")
    others = np.delete(weights[..., 2, 1], 5)
    assert best.right == ((1, 2),)
    assert second(trace, best) == [divmod(int(others.argmax()), 3)]
    row = strongest_key(trace, Place(1, 2), query="book", least=0.5)
    assert (row.right, row.lacks) == ((1,), False)
    assert strongest_key(trace, Place(1, 2), query="book", least=1.1).lacks
    assert linked_words(trace) is not None
