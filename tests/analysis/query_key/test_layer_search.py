"""The notebook's a and c on a layer, and what queries and keys become with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from numpy.typing import NDArray

from core.analysis.query_key.clouds import head_clouds, stage_vectors
from core.analysis.query_key.layer_search import (
    FittedLine,
    SearchRange,
    fit_line,
    regression_of,
    search_layer,
)
from core.analysis.query_key.scaling import scale_head
from core.model import load, trace_text
from tests.analysis.traces import made_trace

if TYPE_CHECKING:
    from core.model.trace import Trace

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
