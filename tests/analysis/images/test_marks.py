"""Heads worth showing first, on heads planted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from core.analysis.images.colour import standing_out
from core.analysis.images.marks import head_marks
from tests.analysis.images.pictures import of_hue, picture, with_attention

# Ten columns of two hues in turn: the same hue stands far away as well as near.
STRIPES = picture(of_hue(np.tile([0.0, 0.5], (10, 5))))
COUNT = 100


def attention(kind: str) -> np.ndarray:
    """(token, token), CLS first."""
    column = np.arange(COUNT) % 10 % 2
    patches = {
        "uniform": np.ones((COUNT, COUNT)),
        "itself": np.eye(COUNT) * 1e6 + 1,
        "colour": np.where(column[:, None] == column, 1.0, 1e-9),
        "CLS": np.full((COUNT, COUNT), 1e-9),
    }[kind]
    weights = np.ones((COUNT + 1, COUNT + 1))
    weights[1:, 1:] = patches
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def test_each_planted_head_has_its_mark() -> None:
    kinds = ("uniform", "itself", "colour", "CLS")
    weights = np.stack([attention(kind) for kind in kinds])[None]
    marks = head_marks(with_attention(STRIPES, weights))
    assert marks.cls is not None
    assert marks.itself[0] == pytest.approx([1 / 101, 1, 1 / 51, 0], abs=2e-4)
    assert marks.cls[0] == pytest.approx([1 / 101, 0, 1 / 51, 1], abs=2e-4)
    # As far as patches that are attended to alike go, colour says nothing; of like ones, all.
    assert marks.colour[0] == pytest.approx([0, 0, 1, 0], abs=1e-4)


def test_patches_that_are_alike_because_they_are_near_do_not_count() -> None:
    place = np.stack(np.divmod(np.arange(COUNT), 10))
    near = np.abs(place[:, :, None] - place[:, None, :]).max(axis=0) < 2
    ramp = picture(of_hue(np.tile(np.linspace(0, 0.5, 10), (10, 1))))
    weights = np.full((1, 1, COUNT + 1, COUNT + 1), 1e-6)
    weights[0, 0, 1:, 1:] += near
    weights /= weights.sum(axis=-1, keepdims=True)
    assert head_marks(with_attention(ramp, weights)).colour[0, 0] == pytest.approx(0, abs=1e-3)


def test_an_image_of_one_colour_and_a_model_without_cls() -> None:
    grey = picture(np.full((10, 10, 3), 0.5))
    weights = np.full((1, 1, COUNT, COUNT), 1 / COUNT)
    marks = head_marks(with_attention(grey, weights, specials=()))
    assert marks.cls is None
    assert marks.colour[0, 0] == 0
    assert marks.itself[0, 0] == pytest.approx(1 / COUNT)


def test_the_patch_that_stands_out_is_the_one_of_another_colour() -> None:
    colours = np.full((4, 5, 3), 0.8)
    colours[2, 3] = (0.9, 0.1, 0.1)
    assert standing_out(picture(colours)) == 2 * 5 + 3
