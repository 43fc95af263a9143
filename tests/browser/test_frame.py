"""What stands around every picture: stepper, Present, examples, and the drawer of a phone."""

from __future__ import annotations

import io
import re

import pytest
import zxingcpp
from PIL import Image
from playwright.sync_api import expect

from tests.browser.conftest import Open, box_of, follow, settle

LETTERS = """() => Math.min(...[...document.querySelectorAll("*")]
  .flatMap(({ shadowRoot }) => [...(shadowRoot?.querySelectorAll("[role=rowheader]") ?? [])])
  .map((node) => parseFloat(getComputedStyle(node).fontSize) * node.currentCSSZoom))"""

# What Streamlit does when a page that a link leads to has run before the page is left.
BEFORE_IT_LEAVES = """() => {
  for (const page of ["heatmap", "vectors"]) history.pushState({}, "", `/${page}?draw=keys`)
}"""


def test_arrow_keys_step_and_back_undoes_an_example_and_leaves_the_page_else(goto: Open) -> None:
    page = goto("/head_view")
    page.get_by_role("link", name="Heatmap table").click()
    follow(page, "/heatmap.*layer=4&head=2")
    for key, place in (
        ("ArrowUp", "layer=3&head=2"),
        ("ArrowRight", "layer=3&head=3"),
        ("PageDown", "layer=3&head=4"),
        ("ArrowLeft", "layer=3&head=3"),
        ("PageUp", "layer=3&head=2"),
        ("ArrowDown", "layer=4&head=2"),
    ):
        page.keyboard.press(key)
        follow(page, place)
    page.get_by_label("Text", exact=True).focus()
    page.keyboard.press("ArrowUp")
    page.get_by_role("gridcell").first.focus()
    page.keyboard.press("ArrowRight")  # from cell to cell
    settle(page)
    grid = page.get_by_role("grid")
    expect(grid).to_have_attribute("aria-label", re.compile("L4 H2"))
    page.get_by_role("button", name="Next head").press("ArrowUp")  # a button has no use for it
    follow(page, "layer=3&head=2")
    page.get_by_role("button", name="Mean of the last layer").click()
    follow(page, "layer=6&head=mean")
    addresses: list[str] = []
    page.on("framenavigated", lambda frame: addresses.append(frame.url))
    page.go_back()
    follow(page, "layer=3&head=2")
    page.evaluate(BEFORE_IT_LEAVES)
    page.go_back()
    follow(page, "/heatmap.*layer=3&head=2")
    assert sum("layer=3&head=2" not in each for each in addresses) == 2  # those of the line above
    page.get_by_test_id("stSidebarNav").get_by_text("Vector grid").click()
    follow(page, "/vectors.*draw=attention")
    page.go_back()
    follow(page, "/heatmap.*layer=3&head=2")
    expect(grid).to_have_attribute("aria-label", re.compile("L3 H2"))
    page.go_back()
    follow(page, "/head_view")


def test_the_picture_is_presented_alone_and_as_large_as_the_window(goto: Open) -> None:
    page = goto("/heatmap?layer=4&head=2", width=1920, height=1080)
    expect(page.get_by_test_id("stSidebar")).to_be_visible()
    page.keyboard.press("p")
    for gone in (page.get_by_test_id("stSidebar"), page.get_by_label("Text", exact=True)):
        expect(gone).to_be_hidden()
    expect(page.get_by_role("combobox", name="Layer")).to_be_hidden()
    expect(page.get_by_role("button", name="PNG")).to_be_hidden()
    assert page.evaluate(LETTERS) >= 24
    assert box_of(page.get_by_role("grid"))["width"] > 0.9 * 1920
    # The pointer finds what lies under it.
    page.locator('.cell[data-row="5"][data-column="4"]').hover()
    expect(page.locator(".sentence")).to_contain_text("book → this")
    page.keyboard.press("ArrowDown")
    follow(page, "layer=5&head=2")
    page.keyboard.press("q")
    code = page.get_by_role("img", name="QR code of this view")
    expect(code.locator("img")).to_be_visible()
    assert box_of(code.locator("img"))["height"] > 0.9 * 1080
    (read,) = zxingcpp.read_barcodes(Image.open(io.BytesIO(page.screenshot())))
    assert re.search(r"/heatmap\?.*layer=5&head=2", read.text)
    page.keyboard.press("Escape")
    expect(code).to_be_hidden()
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("stSidebar")).to_be_visible()


def test_charts_are_drawn_larger_where_they_are_presented(goto: Open) -> None:
    page = goto("/projection", width=1920, height=1080)
    legend = page.locator(".js-plotly-plot").first.get_by_text("uniform baseline")
    small = box_of(legend)["height"]
    page.keyboard.press("p")
    expect(legend).to_have_css("font-size", "24px")
    assert box_of(legend)["height"] == pytest.approx(2 * small, rel=0.1)
    chart = box_of(page.locator(".js-plotly-plot").first)
    assert chart["y"] + chart["height"] < 1080
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("stSidebar")).to_be_visible()
    expect(legend).to_have_css("font-size", "12px")


def test_a_phone_shows_the_picture_and_has_the_rest_in_a_drawer(goto: Open) -> None:
    page = goto("/heatmap", width=390, height=844)
    stepper = page.get_by_role("combobox", name="Layer")
    expect(stepper).to_be_hidden()
    expect(page.get_by_label("Text", exact=True)).to_be_visible()
    page.get_by_role("button", name="Controls").click()
    for control in (stepper, page.get_by_role("button", name="Examples")):
        expect(control).to_be_visible()
    expect(page.get_by_label("Text", exact=True)).to_be_hidden()
    grid, drawer = page.get_by_role("grid"), page.locator(".st-key-drawer")
    assert box_of(drawer)["y"] - box_of(grid)["y"] > 250, "the picture stays in sight"
    for arrow in ("Previous layer", "Next head"):
        assert box_of(page.get_by_role("button", name=arrow))["height"] >= 40
    page.get_by_role("button", name="Next head").click()
    follow(page, "head=3")
    page.get_by_role("button", name="Show the picture").click()
    expect(stepper).to_be_hidden()
