"""What a picture of queries and keys draws: stages, lines, and its own numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.analysis.query_key.clouds import (
    best_stage,
    head_clouds,
    stage_vectors,
    strongest_lines,
    with_chosen,
)
from core.analysis.query_key.faithfulness import Faithfulness
from core.analysis.query_key.scaling import Stages, scale_head
from core.model import load, trace_text
from core.vocabulary import STAGES
from tests.analysis.traces import causal_mask, made_trace

if TYPE_CHECKING:
    from core.model.trace import Trace


def random_trace(seed: int, size: int, *, causal: bool = False) -> Trace:
    vectors = np.random.default_rng(seed).normal(size=(3, 1, 1, size, 4))
    return made_trace(*vectors, mask=causal_mask(size) if causal else None, scaling=0.5)


def test_each_query_is_joined_to_its_strongest_key_thin_lines_first() -> None:
    attention = np.array([[0.2, 0.7, 0.1], [0.3, 0.3, 0.4], [1.0, 0.0, 0.0]])
    lines = strongest_lines(attention)
    assert list(zip(lines.queries, lines.keys, lines.weights, strict=True)) == [
        (1, 2, 0.4),
        (0, 1, 0.7),
        (2, 0, 1.0),
    ]


def test_two_keys_a_query_are_its_strongest_and_none_without_attention() -> None:
    attention = np.array([[1.0, 0.0, 0.0], [0.4, 0.6, 0.0], [0.3, 0.3, 0.4]])
    lines = strongest_lines(attention, 2)
    assert sorted(zip(lines.queries, lines.keys, lines.weights, strict=True)) == [
        (0, 0, 1.0),
        (1, 0, 0.4),
        (1, 1, 0.6),
        (2, 0, 0.3),  # of two keys with the same attention the first
        (2, 2, 0.4),
    ]


def test_chosen_pairs_get_a_line_however_weak_but_none_that_may_not_attend() -> None:
    attention = np.array([[1.0, 0.0, 0.0], [0.9, 0.1, 0.0], [0.2, 0.1, 0.7]])
    lines = with_chosen(strongest_lines(attention), attention, [0, 1], [0, 1, 2])
    assert list(zip(lines.queries, lines.keys, lines.weights, strict=True)) == [
        (1, 1, 0.1),
        (2, 2, 0.7),
        (1, 0, 0.9),
        (0, 0, 1.0),
    ]
    assert lines.strongest.tolist() == [False, True, True, True]
    assert lines.red([0, 1], [0, 1, 2]).tolist() == [False, False, True, True]


def test_of_brown_and_the_pieces_of_capybara_one_head_of_layer_1_alone_is_red() -> None:
    """As AttentionViz draws it: brown's strongest key is a piece of capybara in H4 alone."""
    trace = trace_text(load("bundled/minilm"), "The brown capybara is sleeping now.")
    texts = [token.text for token in trace.tokens]
    brown, pieces = [texts.index("brown")], [texts.index(each) for each in ("cap", "##y", "##bara")]
    found = {}
    for head in range(trace.shape[1]):
        attention = trace.attention(0, head).astype(np.float64)
        lines = with_chosen(strongest_lines(attention), attention, brown, pieces)
        for i, j, weight in lines.table[lines.red(brown, pieces)][:, :3]:
            found[head + 1] = (texts[int(i)], texts[int(j)], round(weight, 3))
    assert found == {4: ("brown", "##bara", 0.264)}


def test_no_line_is_added_where_no_target_is_chosen() -> None:
    attention = np.array([[0.9, 0.1], [0.2, 0.8]])
    lines = with_chosen(strongest_lines(attention), attention, [0], [])
    assert lines.table.tolist() == [[1, 1, 0.8, 1], [0, 0, 0.9, 1]]


def test_stages_translate_then_scale() -> None:
    trace = random_trace(1, 6)
    scaling = scale_head(trace, 0, 0)
    result = stage_vectors(trace, 0, 0, scaling)
    queries, keys = trace.queries[0, 0], trace.keys[0, 0]
    np.testing.assert_allclose(result["raw"].queries, queries)
    np.testing.assert_allclose(
        result["translated"].keys, keys + queries.mean(0) - keys.mean(0), atol=1e-6
    )
    np.testing.assert_allclose(result["translated"].queries, queries)
    np.testing.assert_allclose(
        result["normalized"].keys * scaling.c, result["translated"].keys, atol=1e-6
    )
    np.testing.assert_allclose(result["normalized"].queries, queries * scaling.c, rtol=1e-6)


@pytest.mark.parametrize(
    ("correlations", "nearest", "best"),
    [
        ((-0.80, -0.70, -0.60), (0.1, 0.9, 0.9), "raw"),
        ((-0.50, -0.60, -0.90), (0.9, 0.1, 0.1), "normalized"),
        ((-0.80, -0.81, -0.79), (0.2, 0.3, 0.4), "translated"),  # -0.79 is 0.02 away
        ((-0.80, -0.81, -0.80), (0.2, 0.3, 0.4), "normalized"),  # as good: the nearest keys decide
        ((np.nan, np.nan, np.nan), (np.nan, np.nan, np.nan), "raw"),
        ((np.nan, -0.1, 0.2), (np.nan, 0.1, 0.2), "translated"),
    ],
)
def test_the_best_stage_has_the_correlation_nearest_to_minus_one(
    correlations: tuple[float, ...], nearest: tuple[float, ...], best: str
) -> None:
    nothing = Faithfulness(0, 0, 0, 0, 0)
    stages = [
        nothing._replace(correlation=r, top1=top1)
        for r, top1 in zip(correlations, nearest, strict=True)
    ]
    scaling = replace(scale_head(random_trace(1, 6), 0, 0), faithfulness=Stages(*stages))
    assert best_stage(scaling) == best


def test_a_panels_numbers_are_those_of_its_points() -> None:
    trace = random_trace(2, 7)
    scaling = scale_head(trace, 0, 0)
    raw = head_clouds(trace, 0, 0, scaling)[0]
    strongest = trace.attention(0, 0).argmax(1)
    queries, keys = trace.queries[0, 0].astype(float), trace.keys[0, 0].astype(float)
    apart = [np.linalg.norm(queries[i] - keys[j]) for i, j in enumerate(strongest)]
    assert raw.apart_in_full == pytest.approx(np.mean(apart), rel=1e-6)
    here = [
        np.linalg.norm(raw.picture.queries[i] - raw.picture.keys[j])
        for i, j in enumerate(strongest)
    ]
    assert raw.apart_in_picture == pytest.approx(np.mean(here), rel=1e-6)
    assert raw.in_full == pytest.approx(scaling.faithfulness.raw)


def test_picture_and_full_space_are_compared_on_the_same_pairs() -> None:
    trace = random_trace(2, 7, causal=True)
    for cloud in head_clouds(trace, 0, 0, scale_head(trace, 0, 0)):
        # the first query has one key
        assert cloud.in_picture.pairs == cloud.in_full.pairs == 7 * 8 // 2 - 1


def test_turning_a_panel_onto_the_one_before_changes_no_distance() -> None:
    trace = random_trace(4, 8)
    scaling = scale_head(trace, 0, 0)
    together = head_clouds(trace, 0, 0, scaling)
    for index, stage in enumerate(STAGES):
        (alone,) = head_clouds(trace, 0, 0, scaling, stages=[stage])
        assert alone.apart_in_picture == pytest.approx(together[index].apart_in_picture)
        assert alone.in_picture == pytest.approx(together[index].in_picture)
