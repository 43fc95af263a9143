"""High-norm patches in pictures: frames where they are, and lines for what the legend names."""

from __future__ import annotations

import numpy as np

from core.figures.images.odd_patches import norms_by_layer, patch_picture
from core.figures.palette import palette

COLOURS = palette("light")
NORMS = np.array([[1.0, 2.0, 3.0], [4.0, 50.0, 6.0]])
ODD = np.array([[False, False, False], [False, True, True]])
PIXELS = np.zeros((8, 12, 3), dtype=np.uint8)


def test_each_odd_patch_has_a_frame_around_its_own_square_of_the_image() -> None:
    figure = patch_picture(PIXELS, NORMS, ODD, "title", COLOURS)
    marked = [shape for shape in figure.layout.shapes if shape.line.color == COLOURS.alert]
    corners = {(shape.x0, shape.y0, shape.x1, shape.y1) for shape in marked}
    assert corners == {(0.5, 0.5, 1.5, 1.5), (1.5, 0.5, 2.5, 1.5)}


def test_the_image_lies_under_its_grid_and_the_first_row_is_at_the_top() -> None:
    figure = patch_picture(PIXELS, NORMS, ODD, "title", COLOURS)
    (image,) = figure.layout.images
    assert (image.x, image.y, image.sizex, image.sizey) == (-0.5, -0.5, 3, 2)
    assert list(figure.layout.yaxis.range) == [1.5, -0.5]
    assert figure.data[0].opacity == 0
    assert figure.data[0].customdata[1][2].tolist() == [2, 3]  # people count rows from 1


def test_lengths_by_layer_have_a_line_for_the_median_each_odd_patch_and_the_others() -> None:
    patches = np.array([[1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 2.0, 3.0, 4.0, 90.0]])
    odd = np.array([False, False, False, False, True])
    others = {"CLS": np.array([7.0, 8.0])}
    figure = norms_by_layer(patches, odd, others, ["input", "1"], COLOURS)
    lines = {trace.name: list(trace.y) for trace in figure.data if trace.name}
    assert lines["median patch"] == [3, 3]
    assert lines["high-norm patches (1)"] == [5, 90]
    assert lines["CLS"] == [7, 8]
