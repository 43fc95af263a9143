"""The model view's enlargement: it can be entered, and a token there has its attention alone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from core.model import load, trace_text
from tests.browser.conftest import PATIENCE_MS, count_messages, settle
from tests.browser.test_model_view import HOSTILE, TEXT, VIEW, cell

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Browser

    from core.model.trace import Trace

IT, BOOK = 10, 4
TOKENS = 13


@pytest.fixture(scope="module")
def trace() -> Trace:
    return trace_text(load("bundled/minilm"), TEXT)


def enter(page: Page, layer: int, head: int) -> None:
    """Rest on a tile until its enlargement stays."""
    cell(page, layer, head).hover()
    expect(page.locator(".panel.settled .title")).to_have_text(f"L{layer} H{head}")


def name_at(page: Page, position: int, side: str, count: int = TOKENS) -> tuple[float, float]:
    """Where the name of a token stands in the enlargement's lines; 236 x 236 pixels of picture."""
    box = page.locator(".panel canvas").bounding_box()
    assert box is not None
    x = box["x"] + (12 if side == "rows" else box["width"] - 12)
    return x, box["y"] + 7 + (position + 0.5) / count * 236


def alone(page: Page) -> str:
    return str(page.locator(".panel canvas").get_attribute("data-alone"))


def pairs(page: Page) -> list[tuple[str, str, float]]:
    lines = page.locator(".panel .pairs li")
    return [
        (
            line.locator(".from").inner_text(),
            line.locator(".to").inner_text(),
            float(line.locator(".weight").inner_text().split()[-1]),
        )
        for line in lines.all()
    ]


def ink(page: Page) -> int:
    """Pixels of the picture that are not paper."""
    return int(
        page.locator(".panel canvas").evaluate(
            """(canvas) => {
              const pen = canvas.getContext("2d")
              const { data } = pen.getImageData(0, 0, canvas.width, canvas.height)
              let count = 0
              for (let at = 0; at < data.length; at += 4) {
                count += data[at + 3] > 0 && data[at] < 250
              }
              return count
            }"""
        )
    )


def test_pointing_at_a_token_leaves_only_its_attention(
    goto: Callable[..., Page], trace: Trace
) -> None:
    page = goto(VIEW)
    enter(page, 4, 2)
    weights = trace.attention(3, 1)
    whole = ink(page)
    for side, position, row in (("rows", IT, weights[IT]), ("columns", BOOK, weights[:, BOOK])):
        page.mouse.move(*name_at(page, position, side), steps=4)
        assert alone(page) == f"{side} {position}"
        assert ink(page) < whole
        found = pairs(page)
        assert [weight for *_, weight in found] == pytest.approx(np.sort(row)[:-4:-1], abs=0.011)
        own = {pair[0 if side == "rows" else 1] for pair in found}
        assert own == {trace.tokens[position].display}
    strongest = np.argsort(-weights[:, BOOK])[:3]
    assert [pair[0] for pair in found] == [trace.tokens[i].display for i in strongest]
    box = page.locator(".panel canvas").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 100)  # over the lines: all of them
    assert alone(page) == ""
    assert ink(page) == whole


def test_no_server_is_asked_and_leaving_closes_it(goto: Callable[..., Page]) -> None:
    page = goto(VIEW)
    sent = count_messages(page)
    enter(page, 2, 3)
    for position in range(TOKENS):
        page.mouse.move(*name_at(page, position, "rows"))
        assert alone(page) == f"rows {position}"
    assert sent() == 0
    page.mouse.move(5, 5)
    expect(page.locator(".panel")).to_be_hidden()


def test_a_pointer_that_does_not_rest_goes_on_from_tile_to_tile(goto: Callable[..., Page]) -> None:
    page = goto(VIEW)
    for head in (1, 2, 3, 4, 5):
        box = cell(page, 3, head).bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + 20, box["y"] + 20)
        expect(page.locator(".panel .title")).to_have_text(f"L3 H{head}")
    enter(page, 3, 5)
    cell(page, 6, 1).hover()  # away from one that stayed: the next tile's comes in its place
    expect(page.locator(".panel .title")).to_have_text("L6 H1")


def test_in_tiles_only_the_tokens_row_is_left(goto: Callable[..., Page], trace: Trace) -> None:
    page = goto(f"{VIEW}&style=tiles")
    enter(page, 4, 2)
    box = page.locator(".panel canvas").bounding_box()
    assert box is not None
    top = box["height"] - 7 - 236
    page.mouse.move(box["x"] + 8, box["y"] + top + (IT + 0.5) / TOKENS * 236, steps=3)
    assert alone(page) == f"rows {IT}"
    assert pairs(page)[0][:2] == ("it", "book")
    page.mouse.move(box["x"] + box["width"] - 6 - 236 + 4.5 / TOKENS * 236, box["y"] + 8, steps=3)
    assert alone(page) == f"columns {BOOK}"


def test_cells_of_several_tokens_are_named_by_their_first_and_last(
    goto: Callable[..., Page],
) -> None:
    page = goto(f"/model_view?text={quote('the cat sat on a mat and ' * 30)}")
    enter(page, 1, 3)
    page.mouse.move(*name_at(page, 100, "rows", 212), steps=3)
    first = page.locator(".panel .pairs .from").first
    expect(first).to_have_text(re.compile(r"^\S+.* … \S+"))


def test_a_finger_enlarges_then_points_then_opens(browser: Browser, app: str) -> None:
    context = browser.new_context(viewport={"width": 1000, "height": 900}, has_touch=True)
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    page.goto(app + VIEW)
    settle(page)
    cell(page, 4, 2).scroll_into_view_if_needed()
    cell(page, 4, 2).tap()
    expect(page.locator(".panel.settled .title")).to_have_text("L4 H2")
    page.touchscreen.tap(*name_at(page, IT, "rows"))
    assert alone(page) == f"rows {IT}"
    expect(page.locator(".panel")).to_be_visible()
    box = cell(page, 4, 2).bounding_box()
    assert box is not None
    page.touchscreen.tap(box["x"] + 4, box["y"] + 4)
    page.wait_for_url(re.compile(r"/head_view\?"))
    context.close()


def test_hostile_tokens_stay_text_in_an_enlargement(
    goto: Callable[..., Page], open_saved: Callable[..., Page]
) -> None:
    page = goto(f"/model_view?text={HOSTILE}")
    saved = open_saved(page)
    enter(saved, 2, 3)
    count = len(trace_text(load("bundled/minilm"), unquote(HOSTILE)).tokens)
    for position in range(count // 2, count):
        saved.mouse.move(*name_at(saved, position, "rows", count))
        assert alone(saved).startswith("rows ")
    assert saved.locator("img").count() == 0
