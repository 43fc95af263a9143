"""What the model view's component is sent: its size, its numbers; and the file."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from core.analysis.model_map import model_map
from core.components.model_view import Appearance, Marks, view_data
from core.model.trace import Trace
from tests.analysis.traces import random_weights, token, trace_with_attention
from tests.components.received import received


def sent(
    trace: Trace, look: Appearance | None = None, marks: Marks | None = None
) -> dict[str, Any]:
    shown = model_map(trace)
    assert shown is not None
    return received(view_data(shown, trace, look or Appearance(), marks))


def test_every_weight_arrives_as_one_byte_alone_and_the_strongest_as_floats() -> None:
    weights = random_weights(2, 2, 3, 7)
    view = sent(trace_with_attention(weights))
    tiles = view["tiles"].reshape(2, 3, 7, 7)
    assert view["tiles"].itemsize == 1
    assert np.abs(tiles - 255 * np.sqrt(weights)).max() <= 0.51
    rows, columns = view["pairs"].reshape(2, 3, 3, 2).astype(int)[1, 2].T
    exact = view["strongest"].reshape(2, 3, 3)[1, 2]
    np.testing.assert_allclose(exact, weights[1, 2][rows, columns], rtol=1e-5)
    assert exact[0] == pytest.approx(weights[1, 2].max(), rel=1e-5)
    assert (view["layers"], view["heads"], view["shape"]) == (2, 3, {"rows": 7, "columns": 7})


def test_marks_travel_with_the_tiles_and_with_where_the_second_sentence_begins() -> None:
    tokens = (token("a", 0, 0), token("b", 1, 1), token("c", 2, 2, segment=1))
    trace = trace_with_attention(random_weights(4, 2, 2, 3), tokens)
    lit = np.array([[False, True], [False, False]])
    marks = Marks("previous token", np.array([[0.1, 0.9], [0.2, np.nan]]), lit, (0, 1))
    view = sent(trace, Appearance("tiles", (1, 1)), marks)
    assert [view[side]["segments"] for side in ("rows", "columns")] == [[0, 0, 1]] * 2
    assert view["lit"].tolist() == [0, 1, 0, 0]
    assert view["held"] == 3
    np.testing.assert_allclose(view["score"], [0.1, 0.9, 0.2, np.nan], atol=1e-7)
    none = Marks("next token", np.full((2, 2), 0.3), np.zeros((2, 2), bool), (1, 0))
    view = sent(trace, None, none)
    assert (view["lit"].size, view["closest"]) == (0, 2)  # none is dimmed, the closest is named
