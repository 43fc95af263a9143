"""What views of points are sent: points within a step, equal axes, few bytes; and their files."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import streamlit
from hypothesis import given
from hypothesis import strategies as st

from core.components import points
from core.components.packing import quantise_points
from core.components.points import AtlasCloud, Clouds, Panel, show_points
from core.figures.shades import shades
from tests.components.received import received


def atlas_matrix(layers: int = 2, heads: int = 3, tokens: int = 5, **changes: Any) -> AtlasCloud:
    """Random clouds; `changes` replace fields."""
    points = np.random.default_rng(7).normal(size=(layers * heads, 2 * tokens, 2))
    plain = AtlasCloud(
        layer_labels=tuple(range(1, layers + 1)),
        across=heads,
        points=points.astype(np.float32),
        tones=np.zeros(2 * tokens),
        labels=[f"token{i % 3}" for i in range(tokens)],
        position=np.arange(tokens),
        spans=np.zeros((tokens, 2), dtype=int),
        sentence=np.zeros(tokens, dtype=int),
        texts=["a sentence"],
    )
    return replace(plain, **changes)


def cloud(tokens: int = 3, **changes: Any) -> Clouds:
    """A random cloud of one head; `changes` replace fields of it or of its panel."""
    points = np.random.default_rng(2).normal(size=(2 * tokens, 2)).astype(np.float32)
    of_panel: dict[str, Any] = {
        "points": points,
        "tones": np.zeros(2 * tokens),
        "lines": np.zeros((0, 4)),
    }
    of_panel |= {name: changes.pop(name) for name in of_panel if name in changes}
    plain = Clouds(
        panels=[Panel("L4 H2", (), **of_panel)],
        labels=["a", "b", "a"] * (tokens // 3),
        position=np.array([0, 1, 0] * (tokens // 3)),
        spans=np.array([[0, 1], [2, 3], [0, 1]] * (tokens // 3)),
        sentence=np.array([0, 0, 1] * (tokens // 3)),
        texts=("a b", "a"),
    )
    return replace(plain, **changes)


@given(st.integers(0, 10_000), st.floats(1e-3, 1e3), st.floats(-100, 100))
def test_a_point_arrives_within_half_a_step_of_its_frame(
    seed: int, scale: float, shift: float
) -> None:
    rng = np.random.default_rng(seed)
    spread = np.array([[[1, 0.2]], [[0.2, 1]], [[1, 1]]])
    points = (rng.normal(size=(3, 8, 2)) * scale * spread + shift * scale).astype(np.float32)
    steps, frames = quantise_points(points)
    for cloud, (x, y, half), sent in zip(points, frames.astype(float), steps, strict=True):
        back = (sent / 65535 * 2 - 1) * half  # from the middle of the frame, on axes that are equal
        low, high = cloud.min(axis=0), cloud.max(axis=0)
        np.testing.assert_allclose([x, y], (low + high) / 2, rtol=1e-5, atol=1e-6 * scale)
        assert half == pytest.approx((high - low).max() / 2, rel=1e-5)
        error = half / 65535 + 8e-7 * np.abs(cloud).max()  # half a step, and float32
        assert np.abs(back + (low + high) / 2 - cloud).max() <= error


def test_heads_without_points_are_marked_and_points_may_coincide() -> None:
    points = atlas_matrix().points.copy()
    steps_before, frames_before = quantise_points(points)
    points[4, 3, 1] = np.nan
    steps, frames = quantise_points(points)
    assert frames[4, 2] == -1
    others = [0, 1, 2, 3, 5]
    np.testing.assert_array_equal(steps[others], steps_before[others])
    np.testing.assert_array_equal(frames[others], frames_before[others])
    steps, frames = quantise_points(np.full((1, 6, 2), 3.5, dtype=np.float32))
    np.testing.assert_array_equal(frames, [[3.5, 3.5, 0]])
    assert np.abs(steps.astype(int) - 32768).max() <= 1  # in the middle
    assert quantise_points(np.zeros((1, 0, 2)))[0].shape == (1, 0, 2)


@pytest.mark.parametrize(
    ("sent", "max_bytes"),
    [
        (atlas_matrix(6, 12, 2000), 1_400_000),
        (atlas_matrix(24, 16, 500), 1_800_000),
    ],
)
def test_a_coordinate_takes_two_bytes(sent: AtlasCloud, max_bytes: int) -> None:
    assert 2 * sent.points.size < len(sent.packed()) <= max_bytes
    assert len(cloud(9_999).packed()) <= 600_000


def test_tones_are_steps_of_a_scale_or_categories() -> None:
    count = len(cloud().panels[0].tones)
    tones = np.resize([0, 0.5, 1, 2, -1, np.nan], count)
    scale = cloud(colouring="sequential", tones=tones, shades=shades("sequential", 0))
    expected = np.resize([1, 33, 64, 64, 1, 0], count)  # of 64 steps; 0: no number
    assert received(scale.packed())["tones"].tolist() == expected.tolist()
    two: dict[str, Any] = {"legend": ("a", "b"), "shades": shades("category", 2)}
    categories = cloud(colouring="category", tones=np.resize([0, 1, 9, np.nan], count), **two)
    assert received(categories.packed())["tones"].tolist() == [*np.resize([1, 2, 2, 0], count)]
    assert not received(cloud(tones=tones).packed())["tones"].any()  # queries against keys


def test_what_is_known_of_tokens_and_the_head_arrives() -> None:
    matches = np.array([False, True, False, False, True])
    sent = received(atlas_matrix(matches=matches, chosen=(1, 2)).packed())
    assert sent["matches"].tolist() == [0, 1, 0, 0, 1]
    assert sent["position"].tolist() == [0, 1, 2, 3, 4]
    assert [sent[name] for name in ("numbers", "across", "chosen")] == [[1, 2], 3, 5]
    sent = received(cloud(pinned=2).packed())
    assert [sent[name] for name in ("pinned", "titles")] == [2, ["L4 H2"]]
    assert (sent["sentence"].tolist(), sent["texts"]) == ([0, 0, 1], ["a b", "a"])
    assert received(cloud().packed())["pinned"] == -1


def test_points_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="cannot reshape"):
        atlas_matrix(points=np.zeros((6, 8, 2))).packed()


def test_what_a_browser_sends_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: dict[str, Any] = {}
    calls: dict[str, Any] = {}
    monkeypatch.setattr(streamlit, "session_state", {"cloud": sent})
    monkeypatch.setattr(points, "_points", lambda **options: calls.update(options))
    picked: list[int | None] = []
    show_points(cloud(), key="cloud", on_pick=picked.append)
    for point in (1, None, 6, -1, "1", True, 1.0):
        sent["pick"] = {"point": point}
        calls["on_pick_change"]()
    assert picked == [1, None, None, None, None, None, None]
