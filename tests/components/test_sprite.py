"""The picture that views cut patches from."""

from __future__ import annotations

import base64
import io

import numpy as np
from PIL import Image

from core.components.sprite import patch_sprite
from tests.analysis.pictures import picture, with_attention

COLOURS = np.array([[[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[1, 1, 0], [0, 0, 0], [1, 1, 1]]], float)


def test_each_patch_lies_at_its_row_and_column_of_the_picture() -> None:
    trace = with_attention(picture(COLOURS), np.full((1, 1, 7, 7), 1 / 7))
    sprite = patch_sprite(trace)
    assert sprite is not None
    assert (sprite["rows"], sprite["columns"]) == (2, 3)
    kind, data = sprite["url"].split(",")
    assert kind == "data:image/jpeg;base64"
    drawn = np.asarray(Image.open(io.BytesIO(base64.b64decode(data)))).astype(float) / 255
    side = drawn.shape[0] // 2
    assert drawn.shape == (2 * side, 3 * side, 3)
    middles = drawn[side // 2 :: side, side // 2 :: side]
    assert np.abs(middles - COLOURS).max() < 0.1
