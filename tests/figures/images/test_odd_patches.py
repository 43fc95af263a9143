"""High-norm patches by layer: lines for what the legend names."""

from __future__ import annotations

import numpy as np

from core.figures.images.odd_patches import norms_by_layer
from core.figures.palette import palette

COLOURS = palette("light")


def test_lengths_by_layer_have_a_line_for_the_median_each_odd_patch_and_the_others() -> None:
    patches = np.array([[1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 2.0, 3.0, 4.0, 90.0]])
    odd = np.array([False, False, False, False, True])
    others = {"CLS": np.array([7.0, 8.0])}
    figure = norms_by_layer(patches, odd, others, ["input", "1"], COLOURS)
    lines = {trace.name: list(trace.y) for trace in figure.data if trace.name}
    assert lines["median patch"] == [3, 3]
    assert lines["high-norm patches (1)"] == [5, 90]
    assert lines["CLS"] == [7, 8]
