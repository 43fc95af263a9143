"""Pictures of hidden states hold what they were given."""

from __future__ import annotations

import numpy as np
import pytest

from core.figures.anomalies import states_figure
from core.figures.palette import palette

COLOURS = palette("light")


@pytest.mark.parametrize("values", [np.array([[1.0, 10.0], [100.0, 0.0]]), np.zeros((2, 2))])
def test_hidden_states_are_coloured_by_their_logarithm(
    values: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
) -> None:
    heat = states_figure(values, values, ["input", "after 1"], ["a", "b"], COLOURS).data[0]
    positive = values > 0
    np.testing.assert_allclose(np.asarray(heat.z)[positive], np.log10(values[positive]))
    assert np.isnan(np.asarray(heat.z)[~positive]).all()
    assert np.isfinite([heat.zmin, heat.zmax]).all()
