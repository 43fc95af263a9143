"""The model view in the browser: tiles, enlargement, opening a head, keys, fingers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import views
from tests.browser.conftest import TEXT, Open, box_of, follow, pixels
from tests.browser.views import BOOK, BOOK_AT, IT, NAMES, WEIGHTS

if TYPE_CHECKING:
    from numpy.typing import NDArray

SIDE = 236  # pixels of the enlargement's picture


def cell(page: Page, layer: int, head: int) -> Locator:
    """A head's tile, from 1."""
    return page.locator(f'.cell[data-row="{layer - 1}"][data-column="{head - 1}"]')


def look(page: Page, layer: int, head: int) -> NDArray[np.int64]:
    """What is drawn on a tile."""
    box, sheet = box_of(cell(page, layer, head)), page.locator("canvas.sheet")
    left, top = (round(box[axis] - box_of(sheet)[axis]) for axis in ("x", "y"))
    area = pixels(sheet)[top:, left:].astype(np.int64)
    return area[: int(box["height"]) - 2, : int(box["width"]) - 2]


def is_coloured(tile: NDArray[np.int64]) -> bool:
    """Whether a pixel is neither black, white nor grey."""
    return bool((np.ptp(tile[..., :3], axis=-1) > 60).any())


def enter(page: Page, layer: int, head: int) -> None:
    """Rest on a tile until its enlargement stays."""
    cell(page, layer, head).hover()
    expect(page.locator(".panel.settled .title")).to_have_text(f"L{layer} H{head}")


def name_of(page: Page, position: int, side: str, count: int = 13) -> tuple[float, float]:
    """Where the name of a token stands beside the enlargement's lines."""
    box = box_of(page.locator(".panel canvas"))
    x = box["x"] + (12 if side == "rows" else box["width"] - 12)
    return x, box["y"] + 7 + (position + 0.5) / count * SIDE


def alone(page: Page) -> str:
    """The one token whose attention the enlargement shows, if any."""
    return str(page.locator(".panel canvas").get_attribute("data-alone"))


def panel_ink(page: Page) -> int:
    """Pixels of the enlargement that are not paper."""
    drawn = pixels(page.locator(".panel canvas"))
    return int(((drawn[..., 3] > 0) & (drawn[..., 0] < 250)).sum())


def test_a_tile_is_enlarged_controls_change_all_and_a_click_opens_it(goto: Open) -> None:
    page = goto(f"/model_view?text={quote(TEXT)}&layer=4&head=2", width=1280, height=720)
    panel, title = page.locator(".panel"), page.locator(".panel .title")
    expect(page.locator(".cell")).to_have_count(72)
    row, column = np.unravel_index(WEIGHTS.argmax(), WEIGHTS.shape)
    pair = f"Strongest pair: {NAMES[row]} to {NAMES[column]}, {WEIGHTS.max():.3f}"
    expect(cell(page, 4, 2)).to_have_attribute("aria-label", f"Layer 4, head 2. {pair}")
    cell(page, 4, 2).hover()
    expect(title).to_have_text("L4 H2")
    largest = np.sort(WEIGHTS, axis=None)[:-4:-1]
    expect(panel.locator(".pairs li .weight")).to_have_text([f"{w:.3f}" for w in largest])
    page.mouse.move(5, 5)
    expect(panel).to_be_hidden()

    lines = look(page, 1, 3)
    assert not np.array_equal(lines, look(page, 4, 2))
    assert not is_coloured(lines)  # colour is kept for what is searched for
    page.get_by_role("radio", name="tiles").click()
    follow(page, "style=tiles")
    assert not np.array_equal(lines, look(page, 1, 3))
    page.get_by_role("combobox", name=re.compile("Highlight heads")).click()
    page.get_by_role("option", name="previous token").click()
    follow(page, "pattern=previous")
    previous = np.diagonal(BOOK.attention(), -1, 2, 3).mean(axis=-1)  # (layer, head)
    expect(page.locator(".cell.lit")).to_have_count(int((previous > 0.5).sum()))
    expect(cell(page, 1, 3)).to_have_class(re.compile("lit"))
    expect(cell(page, 1, 3).locator(".score")).to_have_text(f"{previous[0, 2]:.2f}")
    assert [is_coloured(look(page, *place)) for place in ((1, 3), (4, 2))] == [True, False]

    cell(page, 1, 3).click()
    expect(page.get_by_role("heading", name="Head view", level=1)).to_be_visible()
    follow(page, r"/head_view\?.*layer=1.*heads=3(&|$)")


def test_the_enlargement_stands_beside_its_tile_and_covers_no_neighbour(open_file: Open) -> None:
    page = open_file(views.model_view_file(BOOK), width=1280, height=720)
    panel = page.locator(".panel")
    for layer, head in ((1, 1), (2, 3), (5, 6), (5, 7), (6, 12)):
        tile = cell(page, layer, head)
        tile.hover()
        expect(panel.locator(".title")).to_have_text(f"L{layer} H{head}")
        place, box = box_of(tile), box_of(panel)
        assert 0 <= box["x"] < box["x"] + box["width"] <= 1280
        left, right = place["x"] - box["x"] - box["width"], box["x"] - place["x"] - place["width"]
        assert place["width"] < max(left, right) < 1.2 * place["width"]  # a neighbour between them
        assert box["y"] == pytest.approx(max(8, min(place["y"], 712 - box["height"])), abs=1)


def test_pointing_at_a_token_leaves_only_its_attention(open_file: Open) -> None:
    page = open_file(views.model_view_file(BOOK), width=1280, height=720)
    enter(page, 4, 2)
    whole = panel_ink(page)
    sides = (("rows", IT, WEIGHTS[IT]), ("columns", BOOK_AT, WEIGHTS[:, BOOK_AT]))
    for side, position, row in sides:
        page.mouse.move(*name_of(page, position, side))
        assert alone(page) == f"{side} {position}"
        assert panel_ink(page) < whole
        own = page.locator(".panel .pairs").locator(".from" if side == "rows" else ".to")
        expect(own).to_have_text([NAMES[position]] * 3)
        listed = page.locator(".panel .pairs .weight").all_inner_texts()
        weights = [float(each.split()[-1]) for each in listed]
        assert weights == pytest.approx(np.sort(row)[:-4:-1], abs=0.011)
    box = box_of(page.locator(".panel canvas"))
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 100)  # over the lines: all of them
    assert alone(page) == ""
    assert panel_ink(page) == whole
    page.mouse.move(5, 5)
    expect(page.locator(".panel")).to_be_hidden()
    assert views.told(page) == []


def test_cells_of_several_tokens_are_named_by_their_first_and_last(open_file: Open) -> None:
    page = open_file(views.model_view_file(views.trace_of("the cat sat on a mat and " * 30)))
    enter(page, 1, 3)
    page.mouse.move(*name_of(page, 100, "rows", 212))
    first = page.locator(".panel .pairs .from").first
    expect(first).to_have_text(re.compile(r"^\S+.* … \S+"))


def test_a_finger_enlarges_then_points_then_opens(open_file: Open) -> None:
    page = open_file(views.model_view_file(BOOK), scheme="dark", width=1000, has_touch=True)
    panel = page.locator(".panel")
    cell(page, 4, 2).tap()
    expect(page.locator(".panel.settled .title")).to_have_text("L4 H2")
    page.touchscreen.tap(*name_of(page, IT, "rows"))
    assert alone(page) == f"rows {IT}"
    box = box_of(cell(page, 4, 2))
    page.touchscreen.tap(box["x"] + 4, box["y"] + 4)
    views.await_report(page, layer=3, head=1)

    page.set_viewport_size({"width": 390, "height": 844})
    expect(panel).to_have_attribute("data-spot", "below")
    cell(page, 4, 9).tap()
    expect(panel.locator(".title")).to_have_text("L4 H9")
    expect(panel).to_be_in_viewport(ratio=0.99)
    box, grid = box_of(panel), box_of(page.locator(".scroller"))
    assert box["y"] >= grid["y"] + grid["height"]
