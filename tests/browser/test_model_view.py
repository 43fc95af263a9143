"""The model view in the browser: tiles, enlargement, opening a head, keys, fingers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import TEXT, Open, box_of, follow
from tests.browser.views import await_report, first_trace, model_view_file, told, trace_of

if TYPE_CHECKING:
    from playwright.sync_api import FloatRect

IT, BOOK, TOKENS = 10, 4, 13
STEPS = (-1, 0, 1)
SIDE = 236  # pixels of the enlargement's picture
NAMES = [token.display for token in first_trace().tokens]
WEIGHTS = first_trace().attention(3, 1)


def cell(page: Page, layer: int, head: int) -> Locator:
    """A head's tile, from 1."""
    return page.locator(f'.cell[data-row="{layer - 1}"][data-column="{head - 1}"]')


# The pixels of a tile to compare, and whether one is neither black, white nor grey.
PIXELS = """(sheet, [x, y, w, h]) => {
  const { data } = sheet.getContext("2d").getImageData(x, y, w, h)
  let [hash, isColoured] = [0, false]
  for (const value of data) hash = (hash * 31 + value) | 0
  for (let i = 0; i < data.length; i += 4) {
    const colour = data.slice(i, i + 3)
    isColoured ||= Math.max(...colour) - Math.min(...colour) > 60
  }
  return [String(hash), isColoured]
}"""


def look(page: Page, layer: int, head: int) -> tuple[str, bool]:
    """What `PIXELS` tells of a tile."""
    box, sheet = box_of(cell(page, layer, head)), page.locator("canvas.sheet")
    origin = box_of(sheet)
    place = [box["x"] - origin["x"], box["y"] - origin["y"], box["width"] - 2, box["height"] - 2]
    pixels, is_coloured = sheet.evaluate(PIXELS, place)
    return pixels, is_coloured


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


def overlap(one: FloatRect, other: FloatRect) -> bool:
    """Whether two boxes share more than a pixel."""
    across = one["x"] + one["width"] > other["x"] + 1 and other["x"] + other["width"] > one["x"] + 1
    down = one["y"] + one["height"] > other["y"] + 1 and other["y"] + other["height"] > one["y"] + 1
    return across and down


def test_a_tile_is_enlarged_beside_its_neighbours_controls_change_all_and_a_click_opens_it(
    goto: Open,
) -> None:
    page = goto(f"/model_view?text={quote(TEXT)}&layer=4&head=2", width=1280, height=720)
    panel, title = page.locator(".panel"), page.locator(".panel .title")
    expect(page.locator(".cell")).to_have_count(72)
    expect(page.locator(".cell.held")).to_have_count(1)
    expect(cell(page, 4, 2)).to_have_class(re.compile("held"))
    expect(page.get_by_text("Ringed: L4 H2")).to_be_visible()
    row, column = np.unravel_index(WEIGHTS.argmax(), WEIGHTS.shape)
    pair = f"Strongest pair: {NAMES[row]} to {NAMES[column]}, {WEIGHTS.max():.3f}"
    expect(cell(page, 4, 2)).to_have_attribute("aria-label", f"Layer 4, head 2. {pair}")
    cell(page, 4, 2).hover()
    expect(title).to_have_text("L4 H2")
    largest = np.sort(WEIGHTS, axis=None)[:-4:-1]
    expect(panel.locator(".pairs li .weight")).to_have_text([f"{w:.3f}" for w in largest])
    page.mouse.move(5, 5)
    expect(panel).to_be_hidden()

    # It covers neither the neighbours of its tile nor a control.
    controls = page.get_by_role("radio").filter(visible=True)
    expect(controls.first).to_be_visible()
    for layer, head in ((2, 1), (2, 3), (5, 6), (5, 7), (2, 8), (5, 12)):
        cell(page, layer, head).hover()
        expect(title).to_have_text(f"L{layer} H{head}")
        box = box_of(panel)
        assert 0 <= box["x"] < box["x"] + box["width"] <= 1280
        near = [cell(page, layer + down, head + right) for down in STEPS for right in STEPS]
        boxes = [box_of(tile) for tile in near if tile.count()]
        assert len(boxes) in {6, 9}
        assert not any(overlap(box, other) for other in [*boxes, *map(box_of, controls.all())])
        page.mouse.move(5, 5)

    lines, is_coloured = look(page, 1, 3)
    assert lines != look(page, 4, 2)[0]
    assert not is_coloured  # colour is kept for what is searched for
    page.get_by_role("radio", name="tiles").click()
    follow(page, "style=tiles")
    assert look(page, 1, 3)[0] != lines
    page.get_by_role("combobox", name=re.compile("Highlight heads")).click()
    page.get_by_role("option", name="previous token").click()
    follow(page, "pattern=previous")
    previous = np.diagonal(first_trace().attention(), -1, 2, 3).mean(axis=-1)  # (layer, head)
    expect(page.locator(".cell.lit")).to_have_count(int((previous > 0.5).sum()))
    expect(cell(page, 1, 3)).to_have_class(re.compile("lit"))
    expect(cell(page, 1, 3).locator(".score")).to_have_text(f"{previous[0, 2]:.2f}")
    assert [look(page, *place)[1] for place in ((1, 3), (4, 2))] == [True, False]

    cell(page, 1, 3).click()
    expect(page.get_by_role("heading", name="Head view", level=1)).to_be_visible()
    follow(page, r"/head_view\?.*layer=1.*heads=3(&|$)")
    expect(page.locator('.swatch[aria-pressed="true"]')).to_have_text(["3"])
    expect(page.locator("canvas.sheet")).to_have_attribute("data-drawn", "1")


def test_the_enlargement_stands_beside_its_tile(open_file: Open) -> None:
    page = open_file(model_view_file(trace_of(TEXT, 2, 4)), width=1280, height=720)
    panel = page.locator(".panel")
    for head in (1, 4):
        tile = cell(page, 1, head)
        tile.hover()
        expect(panel.locator(".title")).to_have_text(f"L1 H{head}")
        place, box = box_of(tile), box_of(panel)
        left, right = place["x"] - box["x"] - box["width"], box["x"] - place["x"] - place["width"]
        assert place["width"] < max(left, right) < 1.2 * place["width"]  # a neighbour between them
        assert box["y"] == pytest.approx(max(8, min(place["y"], 712 - box["height"])), abs=1)


def test_keys_walk_the_tiles_and_open_one(open_file: Open) -> None:
    page = open_file(model_view_file(first_trace()))
    cell(page, 1, 1).focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    expect(cell(page, 4, 2)).to_be_focused()
    expect(page.locator(".panel .title")).to_have_text("L4 H2")
    page.keyboard.press("Escape")
    expect(page.locator(".panel")).to_be_hidden()
    page.keyboard.press("Enter")
    await_report(page, layer=3, head=1)


def test_pointing_at_a_token_leaves_only_its_attention_without_asking_the_server(
    open_file: Open,
) -> None:
    page = open_file(model_view_file(first_trace()), width=1280, height=720)
    for head in (1, 2, 3):  # a pointer that does not rest goes on from tile to tile
        box = box_of(cell(page, 3, head))
        page.mouse.move(box["x"] + 20, box["y"] + 20)
        expect(page.locator(".panel .title")).to_have_text(f"L3 H{head}")
    enter(page, 3, 3)
    cell(page, 6, 1).hover()  # away from one that stayed: the next tile's comes in its place
    expect(page.locator(".panel .title")).to_have_text("L6 H1")

    enter(page, 4, 2)
    whole = panel_ink(page)
    for side, position, row in (("rows", IT, WEIGHTS[IT]), ("columns", BOOK, WEIGHTS[:, BOOK])):
        page.mouse.move(*name_of(page, position, side), steps=4)
        assert alone(page) == f"{side} {position}"
        assert panel_ink(page) < whole
        pairs = strongest(page)
        assert [weight for *_, weight in pairs] == pytest.approx(np.sort(row)[:-4:-1], abs=0.011)
        own = {pair[0 if side == "rows" else 1] for pair in pairs}
        assert own == {NAMES[position]}
    queries = np.argsort(-WEIGHTS[:, BOOK])[:3]
    assert [pair[0] for pair in pairs] == [NAMES[i] for i in queries]
    box = box_of(page.locator(".panel canvas"))
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 100)  # over the lines: all of them
    assert alone(page) == ""
    assert panel_ink(page) == whole
    page.mouse.move(5, 5)
    expect(page.locator(".panel")).to_be_hidden()
    assert told(page) == []


def test_in_tiles_only_the_tokens_row_is_left(open_file: Open) -> None:
    page = open_file(model_view_file(first_trace(), draw="tiles"))
    enter(page, 4, 2)
    box = box_of(page.locator(".panel canvas"))
    top = box["height"] - 7 - SIDE
    page.mouse.move(box["x"] + 8, box["y"] + top + (IT + 0.5) / TOKENS * SIDE, steps=3)
    assert alone(page) == f"rows {IT}"
    assert strongest(page)[0][:2] == ("it", "book")
    left = box["x"] + box["width"] - 6 - SIDE
    page.mouse.move(left + (BOOK + 0.5) / TOKENS * SIDE, box["y"] + 8, steps=3)
    assert alone(page) == f"columns {BOOK}"


def test_cells_of_several_tokens_are_named_by_their_first_and_last(open_file: Open) -> None:
    page = open_file(model_view_file(trace_of("the cat sat on a mat and " * 30)))
    enter(page, 1, 3)
    page.mouse.move(*name_of(page, 100, "rows", 212), steps=3)
    first = page.locator(".panel .pairs .from").first
    expect(first).to_have_text(re.compile(r"^\S+.* … \S+"))


def test_a_finger_enlarges_then_points_then_opens_and_a_phone_scrolls_the_grid_alone(
    open_file: Open,
) -> None:
    page = open_file(model_view_file(first_trace()), scheme="dark", width=1000, has_touch=True)
    panel = page.locator(".panel")
    cell(page, 4, 2).tap()
    expect(page.locator(".panel.settled .title")).to_have_text("L4 H2")
    page.touchscreen.tap(*name_of(page, IT, "rows"))
    assert alone(page) == f"rows {IT}"
    expect(panel).to_be_visible()
    box = box_of(cell(page, 4, 2))
    page.touchscreen.tap(box["x"] + 4, box["y"] + 4)
    await_report(page, layer=3, head=1)

    page.set_viewport_size({"width": 390, "height": 844})
    expect(panel).to_have_attribute("data-spot", "below")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    cell(page, 6, 12).scroll_into_view_if_needed()
    expect(cell(page, 6, 12)).to_be_in_viewport()
    cell(page, 4, 9).tap()
    expect(panel.locator(".title")).to_have_text("L4 H9")
    expect(panel).to_be_in_viewport(ratio=0.99)
    box, grid = box_of(panel), box_of(page.locator(".scroller"))
    assert box["y"] >= grid["y"] + grid["height"]
    assert 0 <= box["x"] < box["x"] + box["width"] <= 390
