"""What the atlas' matrix is sent: points within a step, equal axes, few bytes; and the file."""

from __future__ import annotations

import dataclasses
import json
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.components.atlas_matrix import AtlasMatrix, matrix_page, quantise
from core.figures.shades import shades

HOSTILE = "</script><img src=x onerror=alert(1)>"
MEGABYTE = 1_000_000


def matrix(layers: int = 2, heads: int = 3, tokens: int = 5, **changes: Any) -> AtlasMatrix:
    """Random clouds; `changes` replace fields."""
    rng = np.random.default_rng(7)
    plain = AtlasMatrix(
        layers,
        heads,
        rng.normal(size=(layers * heads, 2 * tokens, 2)).astype(np.float32),
        np.zeros(2 * tokens),
        "type",
        (),
        [f"token{i % 3}" for i in range(tokens)],
        list(range(tokens)),
        [0] * tokens,
        ["a sentence"],
        np.zeros(tokens, dtype=bool),
    )
    return dataclasses.replace(plain, **changes)


def received(data: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """The header and the arrays, read as the layout says."""
    (length,) = struct.unpack_from("<I", data)
    header = json.loads(data[4 : 4 + length])
    arrays, at = {}, 4 + length
    for name, (kind, size) in header.pop("arrays").items():
        arrays[name] = np.frombuffer(data, {"u1": "u1", "u2": "<u2", "f4": "<f4"}[kind], size, at)
        at += -(-arrays[name].nbytes // 4) * 4
    return header, arrays


@given(st.integers(0, 10_000), st.floats(1e-3, 1e3), st.floats(-100, 100))
def test_every_point_arrives_within_half_a_step_of_its_head_s_frame(
    seed: int, scale: float, shift: float
) -> None:
    rng = np.random.default_rng(seed)
    points = (rng.normal(size=(3, 8, 2)) * scale * [1, 0.2] + shift * scale).astype(np.float32)
    steps, frames = quantise(points)
    for head in range(3):
        x, y, half = frames[head].astype(float)
        back = steps[head].astype(float) / 65535 * 2 * half + [x - half, y - half]
        step = 2 * half / 65535
        float_error = 4e-7 * np.abs(points[head]).max()  # of numbers sent as float32
        assert np.abs(back - points[head]).max() <= step / 2 + float_error


def test_axes_are_equal_in_a_wide_cloud_and_in_a_tall_one() -> None:
    wide = np.array([[0, 0], [8, 0], [8, 2], [0, 2]], dtype=np.float32)
    steps, frames = quantise(np.stack([wide, wide[:, ::-1]]))
    np.testing.assert_allclose(frames, [[4, 1, 4], [1, 4, 4]])
    across, up = np.ptp(steps[0].astype(int), axis=0)
    assert across == 65535
    assert up == pytest.approx(across / 4, abs=1)
    np.testing.assert_array_equal(steps[1], steps[0][:, ::-1])


def test_a_head_not_yet_projected_is_marked_and_leaves_the_others_as_they_are() -> None:
    points = matrix().points.copy()
    before = quantise(points)
    points[4, 3, 1] = np.nan
    steps, frames = quantise(points)
    assert frames[4, 2] == -1
    others = [0, 1, 2, 3, 5]
    np.testing.assert_array_equal(steps[others], before[0][others])
    np.testing.assert_array_equal(frames[others], before[1][others])


def test_points_that_all_coincide_stand_in_the_middle() -> None:
    steps, frames = quantise(np.full((1, 6, 2), 3.5, dtype=np.float32))
    np.testing.assert_array_equal(frames, [[3.5, 3.5, 0]])
    assert np.abs(steps.astype(int) - 32768).max() <= 1


@pytest.mark.parametrize(
    ("layers", "heads", "tokens", "most"), [(6, 12, 2000, 1.4), (24, 16, 500, 1.8)]
)
def test_a_coordinate_is_two_bytes(layers: int, heads: int, tokens: int, most: float) -> None:
    data = matrix(layers, heads, tokens).packed()
    assert layers * heads * tokens * 8 < len(data) <= most * MEGABYTE


def test_tones_travel_as_bytes_for_all_heads_or_for_each() -> None:
    shares = np.array([0, 0.5, 1, 2, -1, np.nan, 0, 0, 0, 0])
    _, arrays = received(
        matrix(colouring="sequential", tones=shares, shades=shades("sequential", 0)).packed()
    )
    assert arrays["tones"].tolist() == [0, 128, 255, 255, 0, 0, 0, 0, 0, 0]
    each = np.arange(60).reshape(6, 10) % 5
    _, arrays = received(
        matrix(
            colouring="category",
            tones=each,
            legend=list("abcde"),
            shades=shades("category", 5),
        ).packed()
    )
    np.testing.assert_array_equal(arrays["tones"], each.ravel())
    assert arrays["tones"].dtype == np.uint8


def test_tokens_matches_and_the_chosen_head_arrive() -> None:
    found = np.array([False, True, False, False, True])
    header, arrays = received(
        matrix(matches=found, searching=True, own_scale=False, chosen=(1, 2)).packed()
    )
    assert arrays["matches"].tolist() == [0, 1, 0, 0, 1]
    assert arrays["positions"].tolist() == [0, 1, 2, 3, 4]
    assert header["labels"] == ["token0", "token1", "token2", "token0", "token1"]
    assert (header["layers"], header["heads"], header["chosen"]) == (2, 3, 5)
    assert (header["searching"], header["ownScale"]) == (True, False)
    assert received(matrix().packed())[0]["chosen"] == -1


def test_points_that_do_not_fit_the_heads_are_refused() -> None:
    with pytest.raises(ValueError, match=r"\(5, 10, 2\); expected \(6, 10, 2\)"):
        matrix(points=np.zeros((5, 10, 2), dtype=np.float32)).packed()


def test_the_file_holds_what_people_typed_as_data_alone() -> None:
    page = matrix_page(matrix(labels=[HOSTILE] * 5, texts=[HOSTILE]), HOSTILE, HOSTILE)
    assert HOSTILE not in page
    assert "<img" not in page


def test_a_matrix_in_space_has_three_equal_axes_and_says_so() -> None:
    box = np.array([[0, 0, 0], [8, 2, 4]], dtype=np.float32)
    steps, frames = quantise(box[None])
    np.testing.assert_allclose(frames, [[4, 1, 4]])
    np.testing.assert_allclose(
        np.ptp(steps[0].astype(int), axis=0), [65535, 65535 / 4, 65535 / 2], atol=1
    )
    solid = matrix(points=np.zeros((6, 10, 3), dtype=np.float32))
    header, arrays = received(solid.packed())
    assert header["dims"] == 3
    assert arrays["places"].size == 6 * 10 * 3
    assert received(matrix().packed())[0]["dims"] == 2
    with pytest.raises(ValueError, match=r"\(6, 10, 4\); expected \(6, 10, 2\)"):
        matrix(points=np.zeros((6, 10, 4), dtype=np.float32)).packed()


def test_labels_of_a_matrix_can_be_switched_off() -> None:
    assert received(matrix().packed())[0]["labelled"] is True
    assert received(matrix(labelled=False).packed())[0]["labelled"] is False
