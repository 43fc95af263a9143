"""The model view in the browser: tiles, enlargement, opening a head, hiding, keys, the file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from core.model import load, trace_text
from tests.browser.conftest import (
    HOSTILE,
    PATIENCE_MS,
    TEXT,
    Open,
    arrive,
    box_of,
    count_messages,
    follow,
)

if TYPE_CHECKING:
    from playwright.sync_api import Browser, FloatRect

    from core.model.trace import Trace

VIEW = f"/model_view?text={quote(TEXT)}"
IT, BOOK, TOKENS = 10, 4, 13
STEPS = (-1, 0, 1)
SIDE = 236  # pixels of the enlargement's picture


@pytest.fixture(scope="module")
def trace() -> Trace:
    return trace_text(load("bundled/minilm"), TEXT)


def cell(page: Page, layer: int, head: int) -> Locator:
    """A head's tile, from 1; nothing may be hidden or sorted."""
    return page.locator(f'.cell[data-row="{layer - 1}"][data-column="{head - 1}"]')


def set_by(page: Page, radio: str, parameter: str) -> None:
    """Press a radio button and wait until the page has followed."""
    page.get_by_role("radio", name=radio).click()
    follow(page, parameter)


def tile_ink(page: Page, layer: int, head: int) -> str:
    """The pixels of a tile, to compare."""
    box, sheet = box_of(cell(page, layer, head)), page.locator("canvas.sheet")
    origin = box_of(sheet)
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


def enter(page: Page, layer: int, head: int) -> None:
    """Rest on a tile until its enlargement stays."""
    cell(page, layer, head).hover()
    expect(page.locator(".panel.settled .title")).to_have_text(f"L{layer} H{head}")


def name_of(page: Page, position: int, side: str, count: int = TOKENS) -> tuple[float, float]:
    """Where the name of a token stands beside the enlargement's lines."""
    box = box_of(page.locator(".panel canvas"))
    x = box["x"] + (12 if side == "rows" else box["width"] - 12)
    return x, box["y"] + 7 + (position + 0.5) / count * SIDE


def alone(page: Page) -> str:
    """The one token whose attention the enlargement shows, if any."""
    return str(page.locator(".panel canvas").get_attribute("data-alone"))


def strongest(page: Page) -> list[tuple[str, str, float]]:
    """The pairs that the enlargement lists."""
    return [
        (
            line.locator(".from").inner_text(),
            line.locator(".to").inner_text(),
            float(line.locator(".weight").inner_text().split()[-1]),
        )
        for line in page.locator(".panel .pairs li").all()
    ]


def panel_ink(page: Page) -> int:
    """Pixels of the enlargement that are not paper."""
    count: int = page.locator(".panel canvas").evaluate(
        """(canvas) => {
          const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height)
          let count = 0
          for (let i = 0; i < data.length; i += 4) count += data[i + 3] > 0 && data[i] < 250
          return count
        }"""
    )
    return count


def test_a_tile_names_its_strongest_pair_is_enlarged_on_hover_and_opens_on_a_click(
    goto: Open, trace: Trace
) -> None:
    page = goto(VIEW, width=1280, height=720)
    expect(page.locator(".cell")).to_have_count(72)
    weights = trace.attention(3, 1)
    row, column = np.unravel_index(weights.argmax(), weights.shape)
    labels = [token.display for token in trace.tokens]
    expect(cell(page, 4, 2)).to_have_attribute(
        "aria-label",
        f"Layer 4, head 2. Strongest pair: {labels[row]} to {labels[column]},"
        f" {weights[row, column]:.3f}",
    )
    panel = page.locator(".panel")
    cell(page, 4, 2).hover()
    expect(panel.locator(".title")).to_have_text("L4 H2")
    largest = np.sort(weights, axis=None)[:-4:-1]
    expect(panel.locator(".pairs li .weight")).to_have_text([f"{w:.3f}" for w in largest])
    cell(page, 6, 12).hover()
    expect(panel.locator(".title")).to_have_text("L6 H12")
    box = box_of(panel)
    assert 0 <= box["x"] < box["x"] + box["width"] <= 1280
    page.mouse.move(5, 5)
    expect(panel).to_be_hidden()
    cell(page, 4, 2).click()
    expect(page.get_by_role("heading", name="Head view", level=1)).to_be_visible()
    follow(page, r"/head_view\?.*layer=4.*heads=2(&|$)")
    expect(page.locator('.swatch[aria-pressed="true"]')).to_have_text(["2"])
    expect(page.locator("canvas.sheet")).to_have_attribute("data-drawn", "4")


def test_keys_walk_the_tiles_and_controls_change_them(goto: Open, trace: Trace) -> None:
    page = goto(VIEW)
    cell(page, 1, 1).focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    expect(cell(page, 4, 2)).to_be_focused()
    expect(page.locator(".panel .title")).to_have_text("L4 H2")
    page.keyboard.press("Escape")
    expect(page.locator(".panel")).to_be_hidden()

    lines = tile_ink(page, 1, 3)
    assert lines != tile_ink(page, 4, 2)
    set_by(page, "tiles", "style=tiles")
    assert tile_ink(page, 1, 3) != lines

    page.get_by_role("combobox", name=re.compile("Highlight heads")).click()
    page.get_by_role("option", name="previous token").click()
    follow(page, "pattern=previous")
    previous = np.diagonal(trace.attention(), -1, 2, 3).mean(axis=-1)  # (layer, head)
    expect(page.locator(".cell.lit")).to_have_count(int((previous > 0.5).sum()))
    expect(cell(page, 1, 3)).to_have_class(re.compile("lit"))
    expect(cell(page, 1, 3).locator(".score")).to_have_text(f"{previous[0, 2]:.2f}")

    cell(page, 1, 3).focus()
    page.keyboard.press("Enter")
    follow(page, r"/head_view\?.*heads=3(&|$)")


def overlap(one: FloatRect, other: FloatRect) -> bool:
    """Whether two boxes share more than a pixel."""
    across = one["x"] + one["width"] > other["x"] + 1 and other["x"] + other["width"] > one["x"] + 1
    down = one["y"] + one["height"] > other["y"] + 1 and other["y"] + other["height"] > one["y"] + 1
    return across and down


def test_the_enlargement_covers_neither_the_neighbours_of_its_tile_nor_a_control(
    goto: Open,
) -> None:
    page = goto(VIEW, width=1280, height=720)
    panel = page.locator(".panel")
    controls = page.get_by_role("radio").filter(visible=True)
    expect(controls.first).to_be_visible()
    for layer, head in ((2, 1), (2, 3), (5, 6), (5, 7), (2, 8), (5, 12)):
        cell(page, layer, head).hover()
        expect(panel.locator(".title")).to_have_text(f"L{layer} H{head}")
        box = box_of(panel)
        near = [cell(page, layer + down, head + right) for down in STEPS for right in STEPS]
        boxes = [box_of(tile) for tile in near if tile.count()]
        assert len(boxes) in {6, 9}
        assert not any(overlap(box, other) for other in [*boxes, *map(box_of, controls.all())])
        page.mouse.move(5, 5)


def test_the_enlargement_stands_beside_its_tile(goto: Open) -> None:
    page = goto(f"/model_view?model=bundled/gpt2-novels&text={quote(TEXT)}", width=1280, height=720)
    panel = page.locator(".panel")
    for head in (1, 4):
        tile = cell(page, 1, head)
        tile.hover()
        expect(panel.locator(".title")).to_have_text(f"L1 H{head}")
        place, box = box_of(tile), box_of(panel)
        left, right = place["x"] - box["x"] - box["width"], box["x"] - place["x"] - place["width"]
        assert place["width"] < max(left, right) < 1.2 * place["width"]  # a neighbour between them
        assert box["y"] == pytest.approx(max(8, min(place["y"], 712 - box["height"])), abs=1)


def coloured(page: Page, layer: int, head: int) -> bool:
    """Whether something in a tile is neither black, white nor grey."""
    origin, box = box_of(page.locator("canvas.sheet")), box_of(cell(page, layer, head))
    found: bool = page.locator("canvas.sheet").evaluate(
        """(sheet, [x, y, w, h]) => {
          const { data } = sheet.getContext("2d").getImageData(x, y, w, h)
          for (let i = 0; i < data.length; i += 4)
            if (Math.max(...data.slice(i, i + 3)) - Math.min(...data.slice(i, i + 3)) > 60)
              return true
          return false
        }""",
        [box["x"] - origin["x"], box["y"] - origin["y"], box["width"] - 2, box["height"] - 2],
    )
    return found


def test_colour_is_kept_for_what_is_searched_for_and_the_pages_head_is_ringed(goto: Open) -> None:
    page = goto(f"{VIEW}&layer=4&head=2")
    expect(page.locator(".cell.held")).to_have_count(1)
    expect(cell(page, 4, 2)).to_have_class(re.compile("held"))
    expect(page.get_by_text("Ringed: L4 H2")).to_be_visible()
    assert not coloured(page, 1, 3)
    page.goto(page.url + "&pattern=previous")
    expect(cell(page, 1, 3)).to_have_class(re.compile("lit"))
    assert coloured(page, 1, 3)
    assert not coloured(page, 4, 2)


def test_a_phone_scrolls_the_grid_in_its_own_box_and_enlarges_below_it(
    browser: Browser, app: str
) -> None:
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, color_scheme="dark"
    )
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    page.goto(app + VIEW)
    arrive(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    cell(page, 6, 12).scroll_into_view_if_needed()
    expect(cell(page, 6, 12)).to_be_in_viewport()
    cell(page, 4, 9).tap()
    panel = page.locator(".panel")
    expect(panel.locator(".title")).to_have_text("L4 H9")
    expect(panel).to_be_in_viewport(ratio=0.99)
    box, grid = box_of(panel), box_of(page.locator(".scroller"))
    assert box["y"] >= grid["y"] + grid["height"]
    assert 0 <= box["x"] < box["x"] + box["width"] <= 390
    context.close()


def test_pointing_at_a_token_leaves_only_its_attention_without_asking_the_server(
    goto: Open, trace: Trace
) -> None:
    page = goto(VIEW, width=1280, height=720)
    expect(cell(page, 3, 1)).to_be_visible()
    sent = count_messages(page)
    for head in (1, 2, 3):  # a pointer that does not rest goes on from tile to tile
        box = box_of(cell(page, 3, head))
        page.mouse.move(box["x"] + 20, box["y"] + 20)
        expect(page.locator(".panel .title")).to_have_text(f"L3 H{head}")
    enter(page, 3, 3)
    cell(page, 6, 1).hover()  # away from one that stayed: the next tile's comes in its place
    expect(page.locator(".panel .title")).to_have_text("L6 H1")

    enter(page, 4, 2)
    weights = trace.attention(3, 1)
    whole = panel_ink(page)
    for side, position, row in (("rows", IT, weights[IT]), ("columns", BOOK, weights[:, BOOK])):
        page.mouse.move(*name_of(page, position, side), steps=4)
        assert alone(page) == f"{side} {position}"
        assert panel_ink(page) < whole
        pairs = strongest(page)
        assert [weight for *_, weight in pairs] == pytest.approx(np.sort(row)[:-4:-1], abs=0.011)
        own = {pair[0 if side == "rows" else 1] for pair in pairs}
        assert own == {trace.tokens[position].display}
    queries = np.argsort(-weights[:, BOOK])[:3]
    assert [pair[0] for pair in pairs] == [trace.tokens[i].display for i in queries]
    box = box_of(page.locator(".panel canvas"))
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 100)  # over the lines: all of them
    assert alone(page) == ""
    assert panel_ink(page) == whole
    page.mouse.move(5, 5)
    expect(page.locator(".panel")).to_be_hidden()
    assert sent() == 0


def test_in_tiles_only_the_tokens_row_is_left(goto: Open) -> None:
    page = goto(f"{VIEW}&style=tiles")
    enter(page, 4, 2)
    box = box_of(page.locator(".panel canvas"))
    top = box["height"] - 7 - SIDE
    page.mouse.move(box["x"] + 8, box["y"] + top + (IT + 0.5) / TOKENS * SIDE, steps=3)
    assert alone(page) == f"rows {IT}"
    assert strongest(page)[0][:2] == ("it", "book")
    left = box["x"] + box["width"] - 6 - SIDE
    page.mouse.move(left + (BOOK + 0.5) / TOKENS * SIDE, box["y"] + 8, steps=3)
    assert alone(page) == f"columns {BOOK}"


def test_cells_of_several_tokens_are_named_by_their_first_and_last(goto: Open) -> None:
    page = goto(f"/model_view?text={quote('the cat sat on a mat and ' * 30)}")
    enter(page, 1, 3)
    page.mouse.move(*name_of(page, 100, "rows", 212), steps=3)
    first = page.locator(".panel .pairs .from").first
    expect(first).to_have_text(re.compile(r"^\S+.* … \S+"))


def test_a_finger_enlarges_then_points_then_opens(browser: Browser, app: str) -> None:
    context = browser.new_context(viewport={"width": 1000, "height": 900}, has_touch=True)
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    page.goto(app + VIEW)
    arrive(page)
    cell(page, 4, 2).scroll_into_view_if_needed()
    cell(page, 4, 2).tap()
    expect(page.locator(".panel.settled .title")).to_have_text("L4 H2")
    page.touchscreen.tap(*name_of(page, IT, "rows"))
    assert alone(page) == f"rows {IT}"
    expect(page.locator(".panel")).to_be_visible()
    box = box_of(cell(page, 4, 2))
    page.touchscreen.tap(box["x"] + 4, box["y"] + 4)
    follow(page, r"/head_view\?")
    context.close()


def test_the_file_works_without_a_network_and_hostile_tokens_stay_text_in_it(
    goto: Open, open_saved: Open
) -> None:
    page = goto(f"/model_view?text={HOSTILE}")
    assert page.locator("img[src=x]").count() == 0
    saved = open_saved(page)
    expect(saved.locator(".cell")).to_have_count(72)
    enter(saved, 2, 3)
    count = len(trace_text(load("bundled/minilm"), unquote(HOSTILE)).tokens)
    for position in range(count // 2, count):
        saved.mouse.move(*name_of(saved, position, "rows", count))
        assert alone(saved).startswith("rows ")
