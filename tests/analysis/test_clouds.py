"""What a picture of queries and keys draws: stages, lines, and its own numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.analysis.normalization import search_layer
from core.analysis.query_key.clouds import best_stage, head_clouds, stage_vectors, strongest_lines
from core.analysis.query_key.faithfulness import Faithfulness
from core.analysis.query_key.scaling import Stages, scale_head
from core.model import load, trace_text
from core.model.trace import Trace
from core.vocabulary import STAGES
from tests.analysis.traces import causal, made_trace, random_trace


@pytest.fixture(scope="module")
def capybara() -> Trace:
    return trace_text(load("bundled/minilm"), "The brown capybara is sleeping now.")


def test_queries_are_joined_to_their_strongest_keys_thin_lines_first() -> None:
    attention = np.array([[0.2, 0.7, 0.1], [0.3, 0.3, 0.4], [1.0, 0.0, 0.0]])
    lines = strongest_lines(attention)
    assert lines.table.tolist() == [[1, 2, 0.4, 1], [0, 1, 0.7, 1], [2, 0, 1, 1]]
    two = strongest_lines(attention, 2)  # of two keys with the same attention the first
    assert two.table[:3].tolist() == [[0, 0, 0.2, 0], [1, 0, 0.3, 0], [1, 2, 0.4, 1]]
    assert len(two.table) == 5  # none without attention


def test_chosen_pairs_get_a_line_however_weak_but_none_that_may_not_attend() -> None:
    attention = np.array([[1.0, 0.0, 0.0], [0.9, 0.1, 0.0], [0.2, 0.1, 0.7]])
    lines = strongest_lines(attention, 1, [0, 1], [0, 1, 2])
    assert lines.table.tolist() == [[1, 1, 0.1, 0], [2, 2, 0.7, 1], [1, 0, 0.9, 1], [0, 0, 1, 1]]
    assert lines.red([0, 1], [0, 1, 2]).tolist() == [False, False, True, True]


def test_of_brown_and_the_pieces_of_capybara_one_head_of_layer_1_alone_is_red(
    capybara: Trace,
) -> None:
    """As AttentionViz draws it: brown's strongest key is a piece of capybara in H4 alone."""
    texts = [token.text for token in capybara.tokens]
    brown, pieces = [texts.index("brown")], [texts.index(each) for each in ("cap", "##y", "##bara")]
    found = {}
    for head in range(capybara.shape[1]):
        attention = capybara.attention(0, head).astype(np.float64)
        lines = strongest_lines(attention, 1, brown, pieces)
        for i, j, weight in lines.table[lines.red(brown, pieces)][:, :3]:
            found[head + 1] = (texts[int(i)], texts[int(j)], round(weight, 3))
    assert found == {4: ("brown", "##bara", 0.264)}


def test_stages_translate_then_scale_and_the_fourth_takes_the_search(capybara: Trace) -> None:
    scaling, search = scale_head(capybara, 3, 1), search_layer(capybara, 3)
    queries, keys = (each[3, 1].astype(float) for each in (capybara.queries, capybara.keys))
    moved = keys + queries.mean(0) - keys.mean(0)
    expected = {
        "raw": (queries, keys),
        "translated": (queries, moved),
        "normalized": (queries * scaling.c, moved / scaling.c),
        "searched": (queries * search.c, (keys + search.a) / search.c),
    }
    result = stage_vectors(capybara, 3, 1, scaling, search)
    assert list(result) == list(expected)
    for stage, sides in expected.items():
        found = np.array(result[stage])  # type: ignore[index]
        np.testing.assert_allclose(found, sides, rtol=1e-6, atol=1e-6)
    ones = np.ones((1, 2, 4, 3))
    trace = made_trace(ones, ones)
    alike = search_layer(trace, 0)  # finds no a and c
    assert "searched" not in stage_vectors(trace, 0, 0, scale_head(trace, 0, 0), alike)


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
    scaling = replace(scale_head(random_trace(1), 0, 0), faithfulness=Stages(*stages))
    assert best_stage(scaling) == best


def test_a_panels_numbers_are_those_of_its_points_and_no_turn_onto_the_one_before() -> None:
    """Picture and full space are compared on the same pairs: the first query has one key."""
    trace = causal(random_trace(2, 1, 1, 7, 4))
    scaling = scale_head(trace, 0, 0)
    strongest = trace.attention(0, 0).argmax(1)
    together = head_clouds(trace, 0, 0, scaling)
    vectors = stage_vectors(trace, 0, 0, scaling)
    for cloud, figures in zip(together, scaling.faithfulness, strict=True):
        for (queries, keys), apart in (
            (vectors[cloud.stage], cloud.apart_in_full),
            ((cloud.picture.queries, cloud.picture.keys), cloud.apart_in_picture),
        ):
            lengths = np.linalg.norm(queries - keys[strongest], axis=1)
            assert apart == pytest.approx(lengths.mean(), rel=1e-6)
        assert cloud.in_full == pytest.approx(figures)
        assert cloud.in_picture.pairs == cloud.in_full.pairs == 7 * 8 // 2 - 1
        (alone,) = head_clouds(trace, 0, 0, scaling, stages=[cloud.stage])
        assert alone.apart_in_picture == pytest.approx(cloud.apart_in_picture)
        assert alone.in_picture == pytest.approx(cloud.in_picture)
    assert [cloud.stage for cloud in together] == list(STAGES)


def test_the_capybara_sentence_has_the_notebooks_mean_distances(capybara: Trace) -> None:
    """1.55 before and 5.55 after: queries to the keys they attend to most, in the PCA plane."""
    scaling, search = scale_head(capybara, 0, 0), search_layer(capybara, 0)
    result = head_clouds(capybara, 0, 0, scaling, search=search, stages=("raw", "searched"))
    assert [round(each.apart_in_picture, 2) for each in result] == [1.55, 5.55]
