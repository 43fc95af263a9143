"""What the mouse, a finger and keys do in every view: point, read, keep and let go."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser import views
from tests.browser.test_hostile_words import PATHS_FILE
from tests.browser.test_images import TRACE as IMAGE
from tests.browser.views import BOOK, await_report, told

if TYPE_CHECKING:
    from tests.browser.conftest import Open


class View(NamedTuple):
    """A view as a file, and what happens in it."""

    text: str
    keys: tuple[str, str, str]  # what they come to, which, and what has them then for a reader
    reading: tuple[str, str]  # where, and what
    reports: tuple[dict[str, object], dict[str, object]]  # on Enter, on Escape
    pointed: tuple[str, str] | None = None  # what to point at, and where it is read at once


ARROWS = np.array([[[1.0, 0], [0, 1], [-1, 0]]])
ARCS = views.arcs_file(BOOK)
VIEWS = {
    "table": View(
        views.table_file(BOOK, 3, 1),
        ("[role=grid]", "ArrowDown ArrowRight ArrowRight", ""),
        (".sentence", "oh → ,"),
        ({"held": [2, 3]}, {"held": []}),
        (".cell >> nth=30", ".sentence"),
    ),
    "head view": View(
        views.head_view_file(BOOK, layer="4", heads=[2]),
        (".token[tabindex='0']", "End ArrowUp ArrowUp", "it, position 11, attends"),
        (".sentence", "it attends to book 0.93"),
        ({"from": [11]}, {"from": []}),
        (".queries .token >> nth=3", ".sentence"),
    ),
    "model view": View(
        views.model_view_file(BOOK),
        (".cell[tabindex='0']", "ArrowDown ArrowDown ArrowDown ArrowRight", "Layer 4, head 2."),
        (".panel .title", "L4 H2"),
        ({"layer": 3, "head": 1}, {}),
        (".cell >> nth=2", ".panel .title"),
    ),
    "neuron view": View(
        views.neuron_view_file(BOOK, 3, 1, 10),
        ("[role=grid]", "ArrowDown End", "it → book, attention 0.932"),
        (".reading", "it → book · attention 0.932"),
        ({"query": 10, "pairKey": 4}, {"query": 10, "pairKey": None}),
        (".row .asking >> nth=3", ".asked"),
    ),
    "words of Home": View(
        ARCS,
        (".word[tabindex='0']", "ArrowRight ArrowRight ArrowRight ArrowRight", "book"),
        (".claim", "book attends to"),
        ({"layer": "4", "head": 2, "cell": [5, 1]}, {"cell": []}),
        (".word >> nth=3", ".claim"),
    ),
    "heads of Home": View(
        ARCS,
        (".square[tabindex='0']", "ArrowUp ArrowRight", "L3 H3:"),
        (".tip:not([hidden])", "L3 H3"),
        ({"layer": "3", "head": 3}, {}),
    ),
    "paths": View(
        PATHS_FILE,
        (".source[tabindex='0']", "End ArrowUp", ""),
        (".tip", "comes from"),
        ({"token": 3}, {}),
        (".source >> nth=1", ".tip"),
    ),
    "patches": View(
        views.patches_file(IMAGE),
        (".frame", "ArrowRight", ""),
        (".sentence", "r1c5 attends to"),
        ({"patch": "r1c5"}, {"patch": "none"}),
    ),
    "arrows": View(
        views.planes_file(ARROWS, ["a", "b", "c"]),
        ("canvas", "ArrowLeft", "3 arrows"),
        (".reading", "c · Layer 1, (-1.000, 0.000)"),
        ({"arrows": [2]}, {"arrows": []}),
    ),
}
# The name of what has the keys, or of what that says is meant.
NAME = """() => {
  let node = document.activeElement
  while (node.shadowRoot) node = node.shadowRoot.activeElement
  const meant = node.getRootNode().getElementById(node.getAttribute("aria-activedescendant"))
  return (meant ?? node).getAttribute("aria-label") ?? (meant ?? node).innerText
}"""
# What can be read once the pointer has moved there.
READ = """async (node, [pointerType, where]) => {
  const root = node.getRootNode()
  const { left, top, width, height } = node.getBoundingClientRect()
  const place = { clientX: left + width / 2, clientY: top + height / 2 }
  node.dispatchEvent(new PointerEvent("pointermove", { bubbles: true, pointerType, ...place }))
  for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame)
  return root.querySelector(where)?.innerText
}"""


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_keys_read_keep_and_let_go_and_a_mouse_points(open_file: Open, view: View) -> None:
    page = open_file(view.text)
    first, keys, name = view.keys
    stop, reading = page.locator(first), page.locator(view.reading[0])
    expect(stop).to_have_count(1)
    if view.pointed:
        node, where = page.locator(view.pointed[0]), view.pointed[1]
        by_finger = node.evaluate(READ, ["touch", where])
        assert node.evaluate(READ, ["mouse", where]) != by_finger
        node.hover(force=True)
        page.mouse.move(2, 2)
    assert told(page) == []
    stop.focus()
    for key in keys.split():
        page.keyboard.press(key)
    expect(stop).to_have_count(1)
    assert name in page.evaluate(NAME)
    expect(reading).to_contain_text(view.reading[1])
    if view.reading[0] in {".sentence", ".reading", ".claim"}:
        assert reading.evaluate("node => node.ariaLive === 'polite' || node.role === 'status'")
    for key, report in zip(("Enter", "Escape"), view.reports, strict=True):
        page.keyboard.press(key)
        if report:
            await_report(page, **report)
    expect(page.locator(".tip").filter(visible=True)).to_have_count(0)
