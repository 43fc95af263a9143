"""The model view in the browser: tiles, enlargement, opening a head, hiding, keys, the file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from core.analysis.head_patterns import head_scores
from core.model import load, trace_text
from tests.browser.conftest import settle
from tests.model.families import FAMILIES, build

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Browser

    from core.model.trace import Trace

TEXT = "Oh, this book? I've enjoyed it."
VIEW = f"/model_view?text={quote(TEXT)}"
HOSTILE = quote("</script><img src=x onerror=alert(1)> $x$ :red[x] مرحبا")


@pytest.fixture(scope="module")
def trace() -> Trace:
    return trace_text(load("bundled/minilm"), TEXT)


def cell(page: Page, layer: int, head: int) -> Locator:
    """A head's tile, from 1; nothing may be hidden or sorted."""
    return page.locator(f'.cell[data-row="{layer - 1}"][data-column="{head - 1}"]')


def tile_ink(page: Page, layer: int, head: int) -> str:
    """The pixels of a tile, to compare."""
    box = cell(page, layer, head).bounding_box()
    sheet = page.locator("canvas.sheet")
    origin = sheet.bounding_box()
    assert box is not None
    assert origin is not None
    pixels: str = sheet.evaluate(
        """(sheet, [x, y, w, h]) => {
          const data = sheet.getContext("2d").getImageData(x, y, w, h).data
          let hash = 0
          for (const value of data) hash = (hash * 31 + value) | 0
          return String(hash)
        }""",
        [box["x"] - origin["x"], box["y"] - origin["y"], box["width"] - 2, box["height"] - 2],
    )
    return pixels


def test_every_head_has_a_tile_that_names_its_strongest_pair(
    goto: Callable[..., Page], trace: Trace
) -> None:
    page = goto(VIEW)
    expect(page.locator(".cell")).to_have_count(72)
    weights = trace.attention(3, 1)
    row, column = np.unravel_index(weights.argmax(), weights.shape)
    labels = [token.display for token in trace.tokens]
    expect(cell(page, 4, 2)).to_have_attribute(
        "aria-label",
        f"Layer 4, head 2. Strongest pair: {labels[row]} to {labels[column]},"
        f" {weights[row, column]:.3f}",
    )


def test_pointing_at_a_tile_enlarges_it_with_its_three_strongest_pairs(
    goto: Callable[..., Page], trace: Trace
) -> None:
    page = goto(VIEW)
    cell(page, 4, 2).hover()
    panel = page.locator(".panel")
    expect(panel.locator(".title")).to_have_text("L4 H2")
    strongest = np.sort(trace.attention(3, 1), axis=None)[:-4:-1]
    expect(panel.locator(".pairs li .weight")).to_have_text([f"{w:.3f}" for w in strongest])
    cell(page, 6, 12).hover()
    expect(panel.locator(".title")).to_have_text("L6 H12")
    box = panel.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 1400
    page.mouse.move(5, 5)
    expect(panel).to_be_hidden()


def test_a_click_opens_the_head_view_with_that_head_alone(goto: Callable[..., Page]) -> None:
    page = goto(VIEW)
    cell(page, 4, 2).click()
    expect(page.get_by_role("heading", name="Head view", level=1)).to_be_visible()
    page.wait_for_url(re.compile(r"/head_view\?.*layer=4.*heads=2(&|$)"))
    settle(page)
    expect(page.locator('.swatch[aria-pressed="true"]')).to_have_text(["2"])
    expect(page.locator("canvas.sheet")).to_have_attribute("data-drawn", "4")


def test_layers_and_heads_are_hidden_and_the_link_keeps_it(goto: Callable[..., Page]) -> None:
    page = goto(VIEW)
    page.get_by_role("rowheader", name=re.compile("layer 2:")).click()
    expect(page.locator(".cell")).to_have_count(60)
    page.wait_for_url(re.compile("off_layers=2(&|$)"))
    settle(page)
    page.get_by_role("columnheader", name=re.compile("head 5:")).click(modifiers=["Shift"])
    expect(page.locator(".cell")).to_have_count(5)
    page.wait_for_url(re.compile("off_heads="))
    settle(page)
    page.reload()
    settle(page)
    expect(page.locator(".cell")).to_have_count(5)
    page.get_by_role("button", name=re.compile("Show all")).click()
    expect(page.locator(".cell")).to_have_count(72)


def test_lines_and_tiles_are_different_pictures_of_the_same_head(
    goto: Callable[..., Page],
) -> None:
    page = goto(VIEW)
    lines = tile_ink(page, 1, 3)
    assert lines != tile_ink(page, 4, 2)
    page.get_by_role("radio", name="tiles").click()
    page.wait_for_url(re.compile("style=tiles"))
    settle(page)
    assert tile_ink(page, 1, 3) != lines


def test_heads_of_a_pattern_are_marked_with_their_measured_score(
    goto: Callable[..., Page], trace: Trace
) -> None:
    page = goto(VIEW)
    page.get_by_role("radio", name="previous token").click()
    page.wait_for_url(re.compile("pattern=previous"))
    settle(page)
    measured = head_scores(trace)["previous"]
    expect(page.locator(".cell.lit")).to_have_count(int((measured > 0.5).sum()))
    expect(cell(page, 1, 3)).to_have_class(re.compile("lit"))
    expect(cell(page, 1, 3).locator(".score")).to_have_text(f"{measured[0, 2]:.2f}")


def test_sorted_heads_keep_their_numbers(goto: Callable[..., Page]) -> None:
    page = goto(VIEW)
    page.get_by_role("radio", name="entropy").click()
    page.wait_for_url(re.compile("sort=entropy"))
    settle(page)
    numbers = page.locator('.cell[data-row="0"] .number').all_inner_texts()
    assert sorted(map(int, numbers)) == list(range(1, 13))
    assert numbers[0] == "3"  # the head that puts all on the token before


def test_the_keyboard_walks_the_tiles_and_opens_one(goto: Callable[..., Page]) -> None:
    page = goto(VIEW)
    cell(page, 1, 1).focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    expect(cell(page, 4, 2)).to_be_focused()
    expect(page.locator(".panel .title")).to_have_text("L4 H2")
    page.keyboard.press("Escape")
    expect(page.locator(".panel")).to_be_hidden()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/head_view\?.*heads=2(&|$)"))


def test_two_sentences_have_pairs_to_choose(goto: Callable[..., Page]) -> None:
    pair = f"text={quote('leaves fall in autumn')}&pair={quote('autumn is colorful')}&two=1"
    page = goto(f"/model_view?{pair}")
    before = tile_ink(page, 1, 1)
    page.get_by_role("radio", name="A → B").click()
    page.wait_for_url(re.compile("filter=ab"))
    settle(page)
    assert tile_ink(page, 1, 1) != before
    cell(page, 1, 1).hover()
    expect(page.locator(".panel .pairs li").first).to_be_visible()


def test_a_causal_model_of_grouped_heads_is_drawn(
    goto: Callable[..., Page], tmp_path: Path
) -> None:
    folder = quote(str(build(FAMILIES["llama"], tmp_path)))
    page = goto(f"/model_view?model={folder}&text={quote(TEXT)}")
    cells = page.locator(".cell")
    expect(cells.first).to_be_visible()
    layers = page.get_by_role("rowheader").count()
    assert cells.count() == layers * page.get_by_role("columnheader").count()
    cells.first.hover()
    expect(page.locator(".panel .pairs li")).to_have_count(3)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_scrolls_the_grid_in_its_own_box(goto: Callable[..., Page], scheme: str) -> None:
    page = goto(VIEW, width=390, height=844, scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    cell(page, 6, 12).scroll_into_view_if_needed()
    expect(cell(page, 6, 12)).to_be_in_viewport()


def test_the_picture_is_sharp_on_dense_screens(browser: Browser, app: str) -> None:
    context = browser.new_context(device_scale_factor=2)
    page = context.new_page()
    page.goto(app + VIEW)
    sheet = page.locator("canvas.sheet")
    box = sheet.bounding_box()
    assert box is not None
    assert sheet.evaluate("sheet => sheet.width") == pytest.approx(2 * box["width"], abs=2)
    context.close()


def test_the_file_opens_from_disk_without_a_network_and_still_hovers(
    goto: Callable[..., Page], open_saved: Callable[..., Page]
) -> None:
    page = goto(f"/model_view?text={HOSTILE}")
    assert page.locator("img[src=x]").count() == 0
    saved = open_saved(page)
    expect(saved.locator(".cell")).to_have_count(72)
    cell(saved, 2, 3).hover()
    expect(saved.locator(".panel .title")).to_have_text("L2 H3")
    saved.get_by_role("rowheader", name=re.compile("layer 2:")).click()
    expect(saved.locator(".cell")).to_have_count(60)
