"""What a picture of queries and keys draws: stages, lines, and its own numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from numpy.typing import NDArray

from core.analysis.normalization import (
    FittedLine,
    SearchRange,
    fit_line,
    regression_of,
    search_layer,
)
from core.analysis.query_key.clouds import (
    best_stage,
    head_clouds,
    stage_vectors,
    strongest_lines,
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
    lines = strongest_lines(attention, 1, [0, 1], [0, 1, 2])
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
        lines = strongest_lines(attention, 1, brown, pieces)
        for i, j, weight in lines.table[lines.red(brown, pieces)][:, :3]:
            found[head + 1] = (texts[int(i)], texts[int(j)], round(weight, 3))
    assert found == {4: ("brown", "##bara", 0.264)}


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


Floats = NDArray[np.float64]
CAPYBARA = "The brown capybara is sleeping now."


@pytest.fixture(scope="module")
def capybara() -> Trace:
    return trace_text(load("bundled/minilm"), CAPYBARA)


def mean_distance(queries: Floats, keys: Floats, attended: NDArray[np.intp]) -> float:
    """From each query to the key it attends to most, in the plane of both: plain NumPy."""
    rows = np.vstack([queries, keys])
    rows = rows - rows.mean(axis=0)
    plane = rows @ np.linalg.svd(rows)[2][:2].T
    size = len(queries)
    return float(np.linalg.norm(plane[:size] - plane[size:][attended], axis=1).mean())


def test_the_capybara_sentence_has_the_notebooks_mean_distances(capybara: Trace) -> None:
    """1.55 before and 5.55 after: queries to the keys they attend to most, in the PCA plane."""
    queries, keys = (side[0, 0].astype(float) for side in (capybara.queries, capybara.keys))
    attended = (queries @ keys.T).argmax(axis=1)
    before = mean_distance(queries, keys, attended)
    after = mean_distance(-2 * queries, (keys - 0.5) / -2, attended)
    assert (round(before, 2), round(after, 2)) == (1.55, 5.55)
    search = search_layer(capybara, 0)
    assert (search.a, search.c) == (-0.5, -2.0)
    scaling = scale_head(capybara, 0, 0)
    result = head_clouds(capybara, 0, 0, scaling, search=search, stages=("raw", "searched"))
    assert [each.apart_in_picture for each in result] == pytest.approx([before, after])


def test_the_fourth_stage_adds_a_to_every_key_and_divides_by_c(capybara: Trace) -> None:
    search = search_layer(capybara, 3)
    scaling = scale_head(capybara, 3, 1)
    result = stage_vectors(capybara, 3, 1, scaling, search)["searched"]
    np.testing.assert_allclose(result.queries, search.c * capybara.queries[3, 1], rtol=1e-6)
    np.testing.assert_allclose(
        result.keys * search.c, capybara.keys[3, 1] + search.a, rtol=1e-6, atol=1e-6
    )


def test_without_an_a_and_a_c_there_is_no_fourth_stage() -> None:
    ones = np.ones((1, 2, 4, 3))
    trace = made_trace(ones, ones)
    search = search_layer(trace, 0)
    assert not search.defined
    assert "searched" not in stage_vectors(trace, 0, 0, scale_head(trace, 0, 0), search)


def test_a_wider_range_is_searched(capybara: Trace) -> None:
    search = search_layer(capybara, 0, SearchRange(50.0, 1.0, 41))
    assert search.a_values[[0, 20, 40]].tolist() == [-50, 0, 50]
    assert search.c_values[[0, 20, 40]].tolist() == [-1, 0, 1]
    assert not search.a_on_edge
    assert abs(search.correlation) > abs(search_layer(capybara, 0).correlation)


def test_the_regression_is_of_dot_products_by_cosine_distance(capybara: Trace) -> None:
    search = search_layer(capybara, 0)
    queries = -2 * capybara.queries[0].astype(float).reshape(-1, 32)
    keys = (capybara.keys[0].astype(float).reshape(-1, 32) - 0.5) / -2
    products = (queries * keys).sum(axis=1)
    lengths = np.linalg.norm(queries, axis=1) * np.linalg.norm(keys, axis=1)
    distances = 1 - products / lengths
    result = regression_of(capybara, 0, search)
    np.testing.assert_allclose(result.distances, distances, atol=1e-9)
    np.testing.assert_allclose(result.products, products, rtol=1e-9)
    assert result.line == pytest.approx(np.polyfit(distances, products, 1))
    assert np.corrcoef(distances, products)[0, 1] == pytest.approx(search.correlation)


def test_a_line_of_least_squares_is_fitted_in_y() -> None:
    """Through (0, 0), (1, 1), (2, 5): slope 5 / 2 about the middle (1, 2)."""
    line = fit_line(np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 5.0]))
    assert line == pytest.approx(FittedLine(2.5, -0.5))


@pytest.mark.parametrize("x", [[], [1.0], [2.0, 2.0, 2.0]])
def test_no_line_is_fitted_where_x_does_not_vary(x: list[float]) -> None:
    assert fit_line(np.array(x), np.arange(len(x), dtype=float)) is None
