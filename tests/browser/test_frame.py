"""What stands around every picture: themes, stepper, Present, examples, a drawer, odd links."""

from __future__ import annotations

import io
import re
from urllib.parse import urlencode

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
    steps = {"ArrowUp": "3&head=2", "PageDown": "3&head=3", "PageUp": "3&head=2"}
    for key, place in (steps | {"ArrowDown": "4&head=2"}).items():
        page.keyboard.press(key)
        follow(page, f"layer={place}")
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
    expect(grid).to_have_attribute("aria-label", re.compile("L3 H2"))
    follow(page, "layer=3&head=2")
    page.evaluate(BEFORE_IT_LEAVES)
    page.go_back()
    follow(page, "/heatmap.*layer=3&head=2")
    assert sum("draw=keys" in each for each in addresses) == 2, addresses  # as they were pushed
    page.go_back()
    follow(page, "/head_view")


def test_the_picture_is_presented_alone_and_as_large_as_the_window(goto: Open) -> None:
    page = goto("/heatmap?layer=4&head=2", width=1920, height=1080)
    page.keyboard.press("p")
    stepper = page.get_by_role("combobox", name="Layer")
    for gone in (page.get_by_test_id("stSidebar"), page.get_by_label("Text", exact=True), stepper):
        expect(gone).to_be_hidden()
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
    page = goto("/projection", width=1920, height=1080)  # whose charts are drawn anew
    legend = page.locator(".js-plotly-plot").first.get_by_text("uniform baseline")
    small = box_of(legend)["height"]
    page.keyboard.press("p")
    expect(legend).to_have_css("font-size", "24px")
    assert box_of(legend)["height"] == pytest.approx(2 * small, rel=0.1)
    chart = box_of(page.locator(".js-plotly-plot").first)
    assert chart["y"] + chart["height"] < 1080
    page.keyboard.press("Escape")
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
    arrow = page.get_by_role("button", name="Next head")
    assert box_of(arrow)["height"] >= 40
    arrow.click()
    follow(page, "head=3")
    page.get_by_role("button", name="Show the picture").click()
    expect(stepper).to_be_hidden()


def test_an_impossible_link_is_reported_and_an_example_gives_two_sentences(goto: Open) -> None:
    link = {"head": "<script>alert(1)</script>", "model": "<img src=x onerror=alert(1)>"}
    page = goto(f"/heatmap?{urlencode(link)}")
    for message in (
        "This link asks for head <script>alert(1)</script>.",
        "public model called <img src=x onerror",
    ):
        expect(page.get_by_test_id("stAlert").filter(has_text=message)).to_be_visible()
    expect(page.get_by_role("grid")).to_be_visible()
    assert page.locator("main img, main script").count() == 0
    page.get_by_role("button", name="Examples").click()
    page.get_by_text("leaves fall in autumn / autumn is marked").click()
    follow(page, "pair=autumn")
    expect(page.locator(".boundary")).to_have_count(2)


def test_home_shows_the_colours_of_either_theme(goto: Open) -> None:
    page = goto("/", anew=True)
    app = page.get_by_test_id("stApp")
    word = page.locator(".st-key-home_arcs .word", has_text="enjoyed")
    expect(word).to_have_css("color", "rgb(14, 18, 28)")
    page.get_by_test_id("stMainMenu").click()
    page.get_by_test_id("stMainMenuPopover").get_by_text("Dark").click()
    expect(app).to_have_css("background-color", "rgb(16, 19, 28)")
    expect(word).to_have_css("color", "rgb(230, 233, 242)")
    page.get_by_role("button", name="Share").click()
    code = page.locator(".st-key-share_box").get_by_test_id("stCode").locator(".keyword").first
    expect(code).to_have_css("color", "rgb(188, 197, 249)")  # outside of the app's own element
