"""Saved pictures of a model of which only layers 3 and 6 attend: numbers, and thin gaps between."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from core.analysis.head_patterns.similarity import order_heads
from core.analysis.model_map import model_map
from core.components.atlas_cloud import AtlasCloud, cloud_page
from core.components.export import standalone_page
from core.components.model_view import Look, view_data
from tests.analysis.traces import HYBRID, numbers_of, random_trace
from tests.browser.conftest import box_of
from tests.browser.test_model_view import cell, tile_ink

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import BrowserContext

    from core.model.trace import Trace

    Show = Callable[[str], Page]


@pytest.fixture
def show(open_context: Callable[..., BrowserContext], tmp_path: Path) -> Show:
    """Open a saved file; nothing may go wrong in it."""

    def open_file(content: str) -> Page:
        path = tmp_path / "saved.html"
        path.write_text(content, "utf-8")
        page = open_context().new_page()
        page.on("pageerror", lambda error: pytest.fail(str(error)))
        page.goto(path.as_uri())
        return page

    return open_file


def model_view(trace: Trace) -> str:
    shown = model_map(trace)
    assert shown is not None
    order = order_heads(trace, "number")
    data = view_data(shown, trace, order, Look())
    return standalone_page("model_view", data, "a model", "")


def test_tiles_of_the_model_view_have_the_model_s_numbers_and_stand_beside_their_labels(
    show: Show,
) -> None:
    trace = random_trace(0, layers=2, heads=3)
    plain = show(model_view(trace))
    inks = [tile_ink(plain, layer, 3) for layer in (1, 2)]
    assert plain.locator(".silent").count() == 0
    page = show(model_view(numbers_of(trace, HYBRID)))
    expect(page.get_by_role("rowheader")).to_have_text(["L3", "L6"])
    expect(page.locator(".silent")).to_have_text(["1–2", "4–5", "7–8"])
    assert [tile_ink(page, layer, 3) for layer in (1, 2)] == inks
    between = page.locator(".silent").nth(1)
    assert box_of(cell(page, 1, 1))["y"] < box_of(between)["y"] < box_of(cell(page, 2, 1))["y"]
    cell(page, 2, 3).hover()
    expect(page.locator(".panel .title")).to_have_text("L6 H3")


def test_a_hidden_layer_leaves_the_numbers_of_those_around_it(show: Show) -> None:
    page = show(model_view(numbers_of(random_trace(0, layers=2, heads=3), HYBRID)))
    page.get_by_role("rowheader", name="layer 3").click()
    expect(page.get_by_role("rowheader")).to_have_text(["L6"])
    expect(page.locator(".silent")).to_have_text(["1–2, 4–5", "7–8"])


def test_keys_step_through_the_atlas_matrix_by_the_model_s_numbers(show: Show) -> None:
    matrix = AtlasCloud(
        layer_labels=HYBRID.layer_labels,
        depth=HYBRID.depth,
        heads=2,
        points=np.random.default_rng(0).normal(size=(4, 6, 2)).astype(np.float32),
        tones=np.zeros(6),
        labels=["a", "b", "c"],
        positions=range(3),
        sentence=[0] * 3,
        texts=["a b c"],
        matches=np.zeros(3, dtype=bool),
    )
    page = show(cloud_page(matrix, "an atlas", ""))
    page.locator("canvas.over").focus()
    for key, name in (("ArrowDown", "L3 H1"), ("ArrowDown", "L6 H1"), ("ArrowRight", "L6 H2")):
        page.keyboard.press(key)
        expect(page.locator(".reading")).to_contain_text(f"{name}. Enter")
