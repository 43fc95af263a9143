"""Pictures of anomalies hold what they were given."""

from __future__ import annotations

import numpy as np
import pytest

from core.analysis.layers import rows_of
from core.figures.anomalies import (
    first_by_layer,
    matrix_pair,
    norm_plane,
    norms_by_position,
    states_figure,
)
from core.figures.palette import palette
from tests.analysis.traces import Stack

COLOURS = palette("light")
VALUES = np.array([[0.1, 0.9, 0.2], [0.4, 0.5, 0.6]])


def test_a_dot_a_head_stands_beside_its_layer_and_carries_its_name() -> None:
    figure = first_by_layer(
        VALUES, np.array([0.3, 0.3]), rows_of(Stack.of(2)), 0.5, "attention", COLOURS
    )
    dots, mean, uniform = figure.data
    assert [list(pair) for pair in dots.customdata] == [
        [layer, head] for layer in (1, 2) for head in (1, 2, 3)
    ]
    np.testing.assert_array_equal(np.round(dots.x), [1, 1, 1, 2, 2, 2])
    np.testing.assert_allclose(dots.y, VALUES.ravel())
    np.testing.assert_allclose(mean.y, [0.4, 0.5])
    np.testing.assert_allclose(uniform.y, [0.3, 0.3])
    assert figure.layout.shapes[0].y0 == 0.5


def test_queries_stand_against_keys_with_a_ring_around_what_is_odd() -> None:
    odd = np.array([[False, True, False], [False, False, False]])
    dots = norm_plane(VALUES * 2, VALUES, odd, (1, 2), COLOURS).data[1]
    np.testing.assert_allclose(dots.x, VALUES.ravel())
    np.testing.assert_allclose(dots.y, 2 * VALUES.ravel())
    assert [colour == COLOURS.alert for colour in dots.marker.line.color] == list(odd.ravel())


def test_lengths_by_position_are_green_circles_and_pink_diamonds() -> None:
    queries, keys = norms_by_position(VALUES[0], VALUES[1], ["a", "<b>", "c"], COLOURS).data
    assert (queries.line.color, queries.marker.symbol) == (COLOURS.query, "circle")
    assert (keys.line.color, keys.marker.symbol) == (COLOURS.key, "diamond")
    assert "<b>" not in queries.text


def test_two_matrices_have_the_same_colours_for_the_same_numbers() -> None:
    left, right = np.eye(2, dtype=np.float32), 3 * np.eye(2, dtype=np.float32)
    figures = matrix_pair(
        left,
        right,
        (["a", "b"], ["a", "b"]),
        "L1 H1",
        ("attention", "moved"),
        ("Attention", "Value-weighted attention"),
        COLOURS,
    )
    assert [figure.data[0].zmax for figure in figures] == [3, 3]
    np.testing.assert_array_equal(figures[1].data[0].z, right)


@pytest.mark.parametrize("values", [np.array([[1.0, 10.0], [100.0, 0.0]]), np.zeros((2, 2))])
def test_hidden_states_are_coloured_by_their_logarithm(
    values: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
) -> None:
    heat = states_figure(values, values, ["input", "after 1"], ["a", "b"], "length", COLOURS).data[
        0
    ]
    positive = values > 0
    np.testing.assert_allclose(np.asarray(heat.z)[positive], np.log10(values[positive]))
    assert np.isnan(np.asarray(heat.z)[~positive]).all()
    assert np.isfinite([heat.zmin, heat.zmax]).all()
