"""What lessons ask about heads, on traces whose answers are known beforehand."""

from __future__ import annotations

import numpy as np

from core.ui.lessons.answers import Place, find_word
from core.ui.lessons.of_heads import (
    freedom,
    head_with,
    in_the_plane,
    larger_of,
    nearest_key,
    repeats_a_word,
    value,
)
from tests.analysis.traces import (
    causal,
    clouds,
    made_trace,
    plain_tokens,
    random_trace,
    random_weights,
    trace_with_attention,
)

HERE = Place(1, 2)


def test_a_causal_model_leaves_half_the_table_empty_and_its_first_row_no_choice() -> None:
    trace = causal(random_trace(0))
    size = len(trace.tokens)
    assert value(trace, HERE, of="empty").right == (size * (size - 1) / 2,)
    assert value(trace, HERE, of="even").right == (100.0,)
    assert value(trace, HERE, of="first_row").right == (100.0,)
    assert value(random_trace(0), HERE, of="empty", floor=1).lacks


def test_a_moves_scores_and_distances_and_c_only_distances_and_neither_a_weight() -> None:
    queries, keys = clouds(1, 2, 3, 12, 8)
    trace = made_trace(queries.astype(np.float32), keys.astype(np.float32))
    assert freedom(trace, HERE, constant="a").right == (2,)
    assert freedom(trace, HERE, constant="c").right == (1,)
    assert freedom(causal(trace), HERE, constant="a").right == (2,)


def test_the_nearest_key_is_that_of_all_dimensions_not_of_the_two_drawn() -> None:
    rng = np.random.default_rng(3)
    queries, keys = rng.normal(size=(2, 1, 1, 12, 16)).astype(np.float32)
    trace = made_trace(queries, keys)
    for token in trace.tokens:
        answer = nearest_key(trace, Place(0, 0), query=token.display)
        apart = np.linalg.norm(keys[0, 0] - queries[0, 0, token.position], axis=1)
        assert answer.right == (apart.argmin(),)
        assert answer.lacks == (answer.right[0] != trace.attention(0, 0)[token.position].argmax())
    drawn = [
        in_the_plane(trace, answer) == list(answer.right)
        for answer in (nearest_key(trace, Place(0, 0), query=each.display) for each in trace.tokens)
    ]
    assert not all(drawn)


def test_the_head_that_gives_the_first_token_most_and_what_it_is_beside_another() -> None:
    weights = random_weights(0, 2, 3, 6)
    weights[1, 2] = np.eye(6)[[0] * 6]
    trace = trace_with_attention(weights)
    assert head_with(trace, Place(0, 0), of="first_attention").right == (HERE,)
    assert head_with(trace, Place(0, 0), of="first_attention", floor=1.1).lacks
    assert larger_of(trace, HERE, of="first_attention", to="first_uniform").right == (0,)
    assert larger_of(trace, HERE, of="first_uniform", to="first_attention").right == (2,)


def test_the_second_copy_of_a_word_is_found_by_its_label() -> None:
    tokens = plain_tokens("the", "old", "sea", "old")
    trace = trace_with_attention(random_weights(0, 1, 1, 4), tokens)
    assert repeats_a_word(trace) == {"query": "old₂"}
    assert (find_word(trace, "Old"), find_word(trace, "old₂")) == (1, 3)
    assert repeats_a_word(random_trace(0)) is None
