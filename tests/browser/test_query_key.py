"""Clouds of queries and keys in the browser: equal axes, isolated points, links, the report."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from core.analysis.query_key.clouds import head_clouds
from core.analysis.query_key.scaling import scale_head
from core.model import load, trace_text
from tests.browser.conftest import (
    TEXT,
    Open,
    box_of,
    choose,
    click_head,
    follow,
    pixels,
    place,
    settle,
)
from tests.browser.test_pictures import save_as_shown
from tests.looks.visit import wait_until_drawn

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray
    from playwright.sync_api import Locator

BOOK = quote(TEXT)
HOSTILE = quote("</script><img src=x onerror=alert(1)> $x$ :red[x]")
BOOK_KEY, IT_QUERY = 4, 10  # positions from 0


def panel(page: Page, index: int) -> Locator:
    return page.locator("figure").nth(index)


@pytest.fixture(scope="module")
def clouds() -> list[NDArray[np.float64]]:
    """Points of L4 H2 at the three stages, (26, 2) each, queries first."""
    trace = trace_text(load("bundled/minilm"), TEXT)
    result = head_clouds(trace, 3, 1, scale_head(trace, 3, 1))
    return [np.vstack([each.picture.queries, each.picture.keys]) for each in result]


def test_three_panels_have_equal_axes_and_a_click_isolates_a_point_in_all_of_them(
    goto: Open, clouds: list[NDArray[np.float64]], tmp_path: Path
) -> None:
    """On a projector one row of controls and one of examples are above them."""
    page = goto(f"/query_key?text={BOOK}&layer=4&head=2", width=1280, height=720)
    expect(page.locator("figure")).to_have_count(3)
    assert box_of(page.locator(".legend").first)["y"] < 260
    canvas = box_of(page.locator("figure canvas").nth(2))
    assert canvas["y"] + canvas["height"] < 720
    saved = save_as_shown(page, page.locator("figure canvas").first, tmp_path)
    assert saved.name == "queries-and-keys-minilm-L4H2"
    assert (saved.facts["text"], saved.facts["layer"]) == (TEXT, "4")
    hover_all(page, clouds, [0, 0, 0])
    expect(panel(page, 2).locator("figcaption")).to_have_text(
        re.compile(r"^L4 H2 normalized: mean distance \d+\.\d\d$")
    )
    page.mouse.move(5, 5)
    for index in range(3):
        expect(panel(page, index)).to_have_attribute("data-lines", "13")
    page.mouse.click(*place(panel(page, 0), clouds[0][IT_QUERY]))
    page.mouse.move(5, 5)
    for index in range(3):
        expect(panel(page, index)).to_have_attribute("data-lines", "1")
    expect(page.locator(".reading")).to_have_text("Query it → book 0.932")
    follow(page, "point=q11")
    expect(panel(page, 0)).to_have_attribute("data-lines", "1")
    first = page.locator("figure canvas").first
    first.press("Escape")
    expect(panel(page, 1)).to_have_attribute("data-lines", "13")
    first.press("ArrowRight")  # the keyboard steps from point to point
    expect(page.locator(".reading")).to_contain_text("Query [CLS] →")
    first.press("ArrowRight")
    expect(page.locator(".reading")).to_contain_text("Query oh →")
    first.press("Enter")
    follow(page, "point=q2")
    page.set_viewport_size({"width": 390, "height": 844})
    wait_until_drawn(page)
    hover_all(page, clouds, [0, 1, 2])


def hover_all(page: Page, clouds: list[NDArray[np.float64]], rows: list[int]) -> None:
    """Point at a query and a key in each panel, which stand in these rows, inside the page."""
    boxes = [box_of(each) for each in page.locator("figure").all()]
    tops = [round(box["y"]) for box in boxes]
    assert [sorted(set(tops)).index(top) for top in tops] == rows
    width = page.evaluate("innerWidth")
    for index, points in enumerate(clouds):
        figure = panel(page, index)
        figure.scroll_into_view_if_needed()
        box = box_of(figure)
        assert 0 <= box["x"] <= box["x"] + box["width"] <= width
        for which, kind in ((IT_QUERY, "query"), (13 + BOOK_KEY, "key")):
            page.mouse.move(*place(figure, points[which]))
            expect(page.locator(".tip")).to_contain_text("it" if kind == "query" else "book")
            expect(page.locator(".tip")).to_contain_text(kind)


def painted(figure: Locator, colour: Sequence[int]) -> int:
    """How many pixels of a panel on white have about this colour."""
    rgba = pixels(figure.locator("canvas")).astype(float)
    opacity = rgba[..., 3:] / 255
    shown = opacity * rgba[..., :3] + (1 - opacity) * 255
    return int((np.abs(shown - colour) < 12).all(axis=-1).sum())


def test_a_chosen_pair_is_red_only_where_it_is_the_querys_strongest(goto: Open) -> None:
    """In L4 H2 "it" attends most to "book", 0.932; in L4 H3 to another key.

    The theme's blue at 0.6 on white, and its red; no red where nothing is chosen.
    """
    blue, red = (128, 176, 214), (200, 55, 45)
    page = goto(f"/query_key?text={BOOK}&layer=4&head=2&from=11&to=5")
    expect(page.locator(".legend")).to_contain_text("chosen pair, a source's strongest")
    for index in range(3):
        assert painted(panel(page, index), blue) > 100
        assert painted(panel(page, index), red) > 50
    page.get_by_role("button", name="Next head").click()
    follow(page, "head=3")
    settle(page)
    expect(page.get_by_text("of a chosen source is a chosen target: here none")).to_be_visible()
    assert [painted(panel(page, index), red) for index in range(3)] == [0, 0, 0]
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_role("button", name="Clear all").first.click()
    settle(page)
    page.get_by_role("button", name="Clear all").first.click()
    settle(page)
    expect(page.locator(".legend")).not_to_contain_text("chosen")
    assert painted(panel(page, 0), blue) > 100


# Charts take their place after a moment.
BEGINS_HIGH = """() => {
  const first = document.querySelector(".js-plotly-plot")
  return first && first.getBoundingClientRect().y < 260
}"""


def test_the_ranges_of_the_search_stay_in_the_link_and_a_clicked_square_opens_its_picture(
    goto: Open,
) -> None:
    page = goto(f"/query_key?text={BOOK}&layer=1&part=search", width=1280, height=720)
    page.wait_for_function(BEGINS_HIGH, polling=50)
    page.get_by_label("a from − to +").fill("50")
    page.get_by_label("a from − to +").press("Enter")
    follow(page, "a_range=50")
    page.get_by_label("Steps of each").fill("9")  # a whole number, sent as such
    page.get_by_label("Steps of each").press("Enter")
    follow(page, "steps=9")
    choose(page, "Part", "All heads")
    follow(page, "part=heads.*a_range=50")
    expect(page.locator(".st-key-query_key_map .js-plotly-plot")).to_be_visible()
    page.wait_for_function(BEGINS_HIGH, polling=50)
    click_head(page, "query_key_map", 4, 2)
    follow(page, "layer=4&head=2&part=picture")
    expect(panel(page, 0)).to_contain_text("L4 H2 raw")


def test_the_report_opens_from_disk_without_a_network(goto: Open, open_saved: Open) -> None:
    page = goto(f"/query_key?text={HOSTILE}&part=heads&layer=1")
    assert page.locator("img[src=x]").count() == 0
    report = open_saved(page, "Report of layer 1")
    expect(report.locator("figure")).to_have_count(36)
    expect(report.locator("figcaption").nth(1)).to_contain_text(
        "L1 H1 a and c of the search: mean distance"
    )
    expect(report.locator("td", has_text="onerror=alert(1)").first).to_be_visible()
    canvas = report.locator("figure canvas").first
    canvas.focus()
    for _ in range(4):
        canvas.press("ArrowRight")
    expect(report.locator(".reading")).to_contain_text("Query script →")
