"""What the browser receives is what was packed."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from core.components.packing import pack
from tests.components.received import received


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
