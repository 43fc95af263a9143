"""What the browser receives is what was packed; and the picture that views cut patches from."""

from __future__ import annotations

import base64
import io

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from core.components.packing import pack, patch_sprite
from tests.analysis.pictures import picture, with_attention
from tests.components.received import received

COLOURS = np.array([[[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[1, 1, 0], [0, 0, 0], [1, 1, 1]]], float)


@settings(deadline=None)
@given(st.text(max_size=20), st.integers(0, 5), st.integers(0, 5))
def test_settings_and_arrays_come_out_as_they_went_in(text: str, rows: int, columns: int) -> None:
    text = text.encode("utf-8", "replace").decode()
    floats = np.random.default_rng(rows).normal(size=(rows, columns)).astype(np.float32)
    numbers = np.arange(rows, dtype=np.uint16) * 13_000
    data = pack({"name": text}, bytes=numbers.astype(np.uint8), floats=floats.T, numbers=numbers)
    back = received(data)
    assert back["name"] == text
    np.testing.assert_array_equal(back["floats"], floats.T.ravel())
    np.testing.assert_array_equal(back["numbers"], numbers)
    np.testing.assert_array_equal(back["bytes"], numbers.astype(np.uint8))
    assert [back[name].itemsize for name in ("bytes", "floats", "numbers")] == [1, 4, 2]


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
