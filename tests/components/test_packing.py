"""What the browser receives is what was packed."""

from __future__ import annotations

import json
import struct

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.components.packing import pack


@given(st.text(max_size=20), st.integers(0, 5), st.integers(0, 5))
def test_header_and_arrays_come_out_as_they_went_in(text: str, rows: int, columns: int) -> None:
    array = np.random.default_rng(rows).normal(size=(rows, columns)).astype(np.float32)
    packed = pack({"name": text.encode("utf-8", "replace").decode()}, first=array, second=array.T)
    (length,) = struct.unpack_from("<I", packed)
    header = json.loads(packed[4 : 4 + length])
    assert header["name"] == text.encode("utf-8", "replace").decode()
    assert header["arrays"] == {"first": ["f4", array.size], "second": ["f4", array.size]}
    assert (4 + length) % 4 == 0
    floats = np.frombuffer(packed, "<f4", offset=4 + length)
    np.testing.assert_array_equal(floats[: array.size], array.ravel())
    np.testing.assert_array_equal(floats[array.size :], array.T.ravel())


def test_a_matrix_of_512_tokens_takes_four_bytes_a_cell() -> None:
    matrix = np.zeros((512, 512), dtype=np.float32)
    assert len(pack({}, values=matrix)) < 4 * 512 * 512 + 64


def test_bytes_travel_as_bytes_and_leave_floats_aligned() -> None:
    weights = np.array([[0, 128, 255]], dtype=np.uint8)
    packed = pack({}, weights=weights, exact=np.array([0.5], dtype=np.float32))
    (length,) = struct.unpack_from("<I", packed)
    body = packed[4 + length :]
    assert body[:3] == bytes([0, 128, 255])
    assert np.frombuffer(body, "<f4", offset=4).tolist() == [0.5]


def test_uint16_travels_as_it_is() -> None:
    packed = pack({}, places=np.array([0, 1, 65535], dtype=np.uint16), exact=np.ones(1))
    (length,) = struct.unpack_from("<I", packed)
    body = packed[4 + length :]
    assert np.frombuffer(body, "<u2", count=3).tolist() == [0, 1, 65535]
    assert np.frombuffer(body, "<f4", offset=8).tolist() == [1.0]
