"""What the cloud of one head is sent, what it may send back, and its file."""

from __future__ import annotations

import base64
import json
import re
import struct
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import streamlit as st

from core.components import atlas_cloud
from core.components.atlas_cloud import AtlasCloud, cloud_page, quantised, show_cloud
from core.figures.shades import shades

KINDS = {"u1": "u1", "u2": "<u2", "f4": "<f4"}


def cloud(dims: int = 2) -> AtlasCloud:
    return AtlasCloud(
        points=np.random.default_rng(dims).normal(size=(6, dims)).astype(np.float32),
        tones=np.array([0.0, 0.5, 1.0, np.nan, -1.0, 2.0]),
        colouring="sequential",
        legend=("first", "last"),
        labels=("a", "b", "a"),
        positions=(0, 1, 0),
        sentence=(0, 0, 1),
        texts=("a b", "a"),
        matches=np.array([True, False, True]),
        searching=True,
        picked=2,
        title="L4 H2",
        shades=shades("sequential", 0),
    )


def received(data: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    (length,) = struct.unpack_from("<I", data)
    header = json.loads(data[4 : 4 + length])
    arrays, at = {}, 4 + length
    for name, (kind, size) in header.pop("arrays").items():
        arrays[name] = np.frombuffer(data, KINDS[kind], size, at)
        at += -(-arrays[name].nbytes // 4) * 4
    return header, arrays


@pytest.mark.parametrize("dims", [2, 3])
def test_distances_keep_their_proportions_within_a_step_of_65536(dims: int) -> None:
    points = np.random.default_rng(1).normal(size=(200, dims)) * [1, 40, 7][:dims] + 1000
    grid = quantised(points).astype(np.float64)
    step = np.ptp(points, axis=0).max() / 65535
    between = np.linalg.norm(points[:, None] - points, axis=-1)
    shown = np.linalg.norm(grid[:, None] - grid, axis=-1) * step
    assert np.abs(between - shown).max() <= 2 * step
    assert (grid[:, 1].min(), grid[:, 1].max()) == (0, 65535)
    middle = (grid.min(axis=0) + grid.max(axis=0)) / 2
    assert np.abs(middle - 32767.5).max() <= 1


def test_points_that_are_all_the_same_lie_in_the_middle_and_none_are_none() -> None:
    assert set(quantised(np.full((4, 3), 7.0)).ravel()) <= {32767, 32768}
    assert quantised(np.zeros((0, 2))).shape == (0, 2)


def test_everything_arrives_as_it_was() -> None:
    header, arrays = received(cloud(3).packed())
    assert header["dims"] == 3
    assert header["labels"] == ["a", "b", "a"]
    assert header["texts"] == ["a b", "a"]
    assert (header["searching"], header["picked"], header["title"]) == (True, 2, "L4 H2")
    assert arrays["tones"].tolist() == [0, 128, 255, 0, 0, 255]
    assert arrays["sentence"].tolist() == [0, 0, 1]
    assert arrays["positions"].tolist() == [0, 1, 0]
    assert arrays["matches"].tolist() == [1, 0, 1]
    assert arrays["points"].size == 18


def test_categories_keep_their_numbers_and_nothing_picked_is_minus_one() -> None:
    tones = np.array([0.0, 4, 300, 1, 0, 2])
    header, arrays = received(
        replace(
            cloud(),
            colouring="category",
            legend=("a", "b"),
            shades=shades("category", 2),
            tones=tones,
            picked=None,
        ).packed()
    )
    assert arrays["tones"].tolist() == tones.tolist()
    assert header["picked"] == -1


def test_ten_thousand_tokens_in_space_take_less_than_half_a_megabyte() -> None:
    count = 10_000
    large = replace(
        cloud(),
        points=np.zeros((2 * count, 3), dtype=np.float32),
        tones=np.zeros(2 * count),
        labels=["token"] * count,
        positions=[0] * count,
        sentence=[0] * count,
        matches=np.zeros(count, dtype=np.bool_),
    )
    assert len(large.packed()) < 500_000


def test_points_that_do_not_fit_the_tokens_are_refused() -> None:
    with pytest.raises(ValueError, match=r"expected \(6, 2 or 3\) points, got \(4, 2\)"):
        replace(cloud(), points=np.zeros((4, 2), dtype=np.float32)).packed()


def test_what_a_browser_sends_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: dict[str, Any] = {}
    calls: dict[str, Any] = {}
    monkeypatch.setattr(st, "session_state", {"cloud": sent})
    monkeypatch.setattr(atlas_cloud, "_atlas_cloud", lambda **given: calls.update(given))
    picked: list[int | None] = []
    chosen: list[list[int]] = []
    show_cloud(cloud(), key="cloud", on_pick=picked.append, on_choose=chosen.append)
    for token in (1, None, 3, -1, "1", True, 1.0):
        sent["pick"] = {"token": token}
        calls["on_pick_change"]()
    assert picked == [1, None, None, None, None, None, None]
    for points in ([0, 5, 6, -1, "2"], [], None, [1] * 2001):
        sent["choose"] = {"points": points}
        calls["on_choose_change"]()
    assert chosen == [[0, 5], [], [], [1] * 2000]


def test_the_file_holds_the_same_bytes_and_no_element_of_a_token() -> None:
    hostile = replace(cloud(), labels=("</script><img src=x>", "$x$", "a"))
    page = cloud_page(hostile, "<b>title", "note")
    found = re.search(r'atob\("([^"]+)"\)', page)
    assert found is not None
    assert base64.b64decode(found[1]) == hostile.packed()
    assert "<img" not in page
    assert "&lt;b&gt;title" in page


def test_sizes_go_from_the_shortest_vector_to_the_longest_and_their_norms_are_sent() -> None:
    header, arrays = received(
        replace(cloud(), norms=np.array([1, 1, 3, 5, 5, np.nan], dtype=np.float32)).packed()
    )
    assert arrays["sizes"].argmin() == 5  # no length at all
    assert 0 < arrays["sizes"][0] == arrays["sizes"][1] < arrays["sizes"][2] < 255
    assert arrays["sizes"][3] == arrays["sizes"][4] == 255
    assert header["sizeEnds"] == pytest.approx([0.1, 5])
    header, arrays = received(replace(cloud(), norms=np.full(6, 7.0, dtype=np.float32)).packed())
    assert set(arrays["sizes"]) == {128}
    assert header["sizeEnds"] == [7, 7]
    assert received(cloud().packed())[1]["sizes"].size == 0


def test_lines_travel_strongest_last_and_none_are_none() -> None:
    lines = np.array([[0, 1, 0.9], [2, 2, 1.0], [1, 0, 0.25]])
    _, arrays = received(replace(cloud(), lines=lines).packed())
    assert arrays["lines"].reshape(-1, 3)[:, 2].tolist() == pytest.approx([0.25, 0.9, 1.0])
    assert arrays["lines"][:2].tolist() == [1, 0]
    assert received(cloud().packed())[1]["lines"].size == 0


def test_labels_are_drawn_unless_they_are_switched_off() -> None:
    assert received(cloud().packed())[0]["labelled"] is True
    assert received(replace(cloud(), labelled=False).packed())[0]["labelled"] is False


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_cloud_without_colours_for_a_theme_or_a_category_is_refused(theme: str) -> None:
    given = {**shades("category", 2), theme: (("#000000",), ("#ffffff", "#ffffff"))}
    few = replace(cloud(), colouring="category", shades=given)
    with pytest.raises(ValueError, match=f"category needs 2 colours a kind on {theme} paper"):
        few.packed()
    assert received(replace(cloud(), colouring="type", shades={}).packed())[0]["shades"] == {}
