"""What stands around every picture: stepper, Present, examples, and the drawer of a phone."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
import zxingcpp
from PIL import Image
from playwright.sync_api import expect

from core.ui.words.pages import PAGES
from tests.browser.conftest import Open, box_of, follow, settle

if TYPE_CHECKING:
    from playwright.sync_api import Page

# Of the names of rows and columns, as large as the screen shows them.
NOTICE = """() => {
  const notice = document.createElement("div")
  notice.id = "notice"
  notice.style.cssText = "height: 150px; flex: none"
  document.querySelector("[data-testid=stMainBlockContainer] > *").prepend(notice)
}"""
PRESENTED = """() => {
  const kinds = "PlotlyChart BidiComponentRegular BidiComponentIsolated DataFrame".split(" ")
  const pictures = kinds.map((kind) => `[data-testid=stMain] [data-testid=st${kind}]`).join()
  const first = [...document.querySelectorAll(pictures)]
    .find((node) => node.getBoundingClientRect().height > 90)
  let whole = first
  for (let node = first; node; node = node.parentElement)
    if (node.matches("[data-testid=stHorizontalBlock]")) whole = node
  const below = (node) => [...node.children, ...(node.shadowRoot?.children ?? [])]
    .flatMap((each) => [each, ...below(each)])
  return [document.querySelector(".st-key-page_title"), whole].filter(Boolean).flatMap(below)
    .filter((node) => node.checkVisibility({ opacityProperty: true, visibilityProperty: true }))
    .flatMap((node) => {
      const { width, height, bottom, right } = node.getBoundingClientRect()
      const words = [...node.childNodes].filter(({ nodeType }) => nodeType === 3)
        .map(({ data }) => data.trim()).join("")
      if (width < 3 || height < 3 || node.closest("style, script")) return []
      if (!words && !node.matches("canvas, svg, td, button")) return []
      const letters = words ? parseFloat(getComputedStyle(node).fontSize) * node.currentCSSZoom : 99
      return [{ what: words || `${node.tagName}.${node.className}`, bottom, right, letters }]
    })
}"""
LARGE = f"(least) => ({PRESENTED})().every(({{ letters }}) => letters >= least)"
ZOOM = "() => document.querySelector('[data-testid=stMainBlockContainer]').currentCSSZoom"
OPENED = {"atlas": "?budget=1000"}  # addresses that make a page quick to open
LONG = "The old sailor told the children that the sea had taken his ship and his brother. " * 3
LETTERS = """() => Math.min(...[...document.querySelectorAll("*")]
  .flatMap(({ shadowRoot }) => [...(shadowRoot?.querySelectorAll("[role=rowheader]") ?? [])])
  .map((node) => parseFloat(getComputedStyle(node).fontSize) * node.currentCSSZoom))"""


def head_of(page: Page) -> str:
    return page.get_by_role("grid").get_attribute("aria-label") or ""


def test_arrow_keys_step_unless_somebody_types(goto: Open) -> None:
    page = goto("/heatmap?layer=4&head=2")
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
    assert "L4 H2" in head_of(page)
    page.get_by_role("button", name="Next head").press("ArrowUp")  # a button has no use for it
    follow(page, "layer=3&head=2")


def test_keys_and_clickers_step_after_a_click_on_blank_space_and_after_enter(goto: Open) -> None:
    page = goto("/heatmap?layer=2&head=2")

    def click_beside_the_picture() -> None:
        box = box_of(page.get_by_test_id("stMain"))
        page.mouse.click(box["x"] + box["width"] - 12, box["y"] + box["height"] / 2)

    click_beside_the_picture()
    page.keyboard.press("ArrowDown")
    follow(page, "layer=3&head=2")
    page.keyboard.press("p")
    click_beside_the_picture()
    page.keyboard.press("PageDown")
    follow(page, "layer=3&head=3")
    page.keyboard.press("Escape")
    page.get_by_label("Text", exact=True).fill("leaves fall")
    page.keyboard.press("Enter")
    follow(page, "text=leaves")
    page.keyboard.press("ArrowDown")
    follow(page, "layer=4&head=3")
    page.get_by_text("Second sentence: fed together").click()
    follow(page, "pair=")
    page.keyboard.press("ArrowRight")
    follow(page, "layer=4&head=4")


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


@pytest.mark.parametrize("name", [page.name for page in PAGES])
def test_a_presented_picture_fits_in_the_window(goto: Open, name: str) -> None:
    """With its headline and what stands beside it, in letters of at least 1/60 of the height."""
    page = goto(f"/{name}{OPENED.get(name, '')}", width=1920, height=1080)
    page.keyboard.press("p")
    for width, height in ((1920, 1080), (1280, 720)):
        page.set_viewport_size({"width": width, "height": height})
        # charts follow when they are drawn anew
        page.wait_for_function(LARGE, arg=height / 60 - 0.01)
        zoom_at_rest(page)
        shown = page.evaluate(PRESENTED)
        assert len(shown) > 10, "the picture is not there"
        cut = [each for each in shown if each["bottom"] > height + 1 or each["right"] > width + 1]
        assert not cut
        small = [each for each in shown if each["letters"] < height / 60 - 0.01]
        assert not small


def test_a_presented_picture_grows_and_shrinks_with_what_is_shown(goto: Open) -> None:
    page = goto(f"/heatmap?text={quote(LONG)}", width=1920, height=1080)
    page.get_by_role("link", name="Model view").click()
    follow(page, "/model_view")
    page.keyboard.press("p")
    assert 1.75 < zoom_at_rest(page) <= 2
    page.go_back()
    follow(page, "/heatmap")
    assert zoom_at_rest(page) == 1.5  # the rows of so many tokens fit at no zoom
    page.go_forward()
    follow(page, "/model_view")
    assert 1.75 < zoom_at_rest(page) <= 2


def test_a_presented_picture_is_as_large_as_before_once_a_notice_above_it_is_gone(
    goto: Open,
) -> None:
    page = goto("/head_view", width=1920, height=1080)
    page.keyboard.press("p")
    alone = zoom_at_rest(page)
    for _ in range(2):
        page.evaluate(NOTICE)
        assert zoom_at_rest(page) < alone - 0.1
        page.evaluate("document.getElementById('notice').remove()")
        assert zoom_at_rest(page) == pytest.approx(alone, abs=0.05)


def zoom_at_rest(page: Page) -> float:
    """The zoom of what is presented, once it has stayed for half a second."""
    page.wait_for_timeout(300)
    settle(page)
    zooms = [-1.0]
    for _ in range(100):
        zooms.append(page.evaluate(ZOOM))
        if len(zooms) > 6 and len(set(zooms[-6:])) == 1:
            return zooms[-1]
        page.wait_for_timeout(100)
    pytest.fail(f"the picture never rests: {zooms}")


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


def test_back_undoes_an_example_and_leaves_the_page_else(goto: Open) -> None:
    page = goto("/head_view")
    page.get_by_role("link", name="Heatmap table").click()
    follow(page, "/heatmap.*layer=4&head=2")
    page.keyboard.press("ArrowUp")
    follow(page, "layer=3&head=2")
    page.get_by_role("button", name="Mean of the last layer").click()
    follow(page, "layer=6&head=mean")
    page.go_back()
    follow(page, "layer=3&head=2")
    page.go_back()
    follow(page, "/head_view")


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
