"""A page as it looks, measured in the browser: letters, contrast, and what axe finds."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from playwright.sync_api import Page

HERE = Path(__file__).parent
_MEASURE = (HERE / "measure.js").read_text("utf-8")
_AXE = HERE.parent / "scripts/node_modules/axe-core/axe.min.js"
MIN_SIZE, MIN_CONTRAST = 12.0, 4.5  # CSS pixels; what counts is the number that a browser computes
_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# Rules Streamlit breaks, and where: its menu has <div>s between <ul> and <li>, seen from either.
STREAMLITS_OWN = {"list": r"stSidebarNavItems", "listitem": r"<li class=\"st-emotion-cache"}
# Streamlit's elements are there before the pictures in them.
_DRAWN = """() => {
  const visible = (selector) =>
    [...document.querySelectorAll(selector)].filter((node) => node.checkVisibility())
  return visible("[data-testid=stSkeleton]").length === 0
    && !document.getAnimations().some(({ transitionProperty }) => transitionProperty)
    && visible("*").every(({ shadowRoot }) => !shadowRoot || shadowRoot.children[1])
    && visible("[data-testid=stPlotlyChart]").every((chart) => chart.querySelector(".main-svg"))
}"""
# Where the first picture begins: what is drawn, not what is written.
_PICTURE = """() => {
  const kinds = "PlotlyChart BidiComponentRegular BidiComponentIsolated DataFrame".split(" ")
  const selectors = kinds.map((kind) => `[data-testid=stMain] [data-testid=st${kind}]`)
  const boxes = [...document.querySelectorAll(selectors.join())]
    .map((node) => node.getBoundingClientRect()).filter(({ height }) => height > 90)
  return boxes.length ? Math.round(Math.min(...boxes.map(({ y }) => y))) : null
}"""

# Words of the page itself that are on the screen: not of pictures, controls and menus.
_WORDS = """() => {
  const main = document.querySelector("[data-testid=stMain]")
  const walker = document.createTreeWalker(main, NodeFilter.SHOW_TEXT)
  let words = 0
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement
    if (!parent.checkVisibility() || parent.closest("button, label, textarea, svg, style")) continue
    const { top, bottom } = parent.getBoundingClientRect()
    if (bottom <= 0 || top >= innerHeight) continue
    words += node.textContent.split(/\\s+/).filter(Boolean).length
  }
  return words
}"""


class Text(NamedTuple):
    """A text on the screen: its letters in CSS pixels, its contrast, and what it stands in."""

    text: str
    where: str
    size: float
    contrast: float


def watch_canvases(page: Page) -> None:
    """Before the page opens: note what is written on canvases from its first script on."""
    page.add_init_script(path=HERE / "canvas.js")


def wait_until_drawn(page: Page) -> None:
    """Until charts and components show something, nothing slides, and the last frame is painted."""
    for _ in range(2):  # what a new size lets slide, as the menu over a page, is a frame late
        page.wait_for_function(_DRAWN, polling=50)
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")


def texts_of(page: Page) -> list[Text]:
    """All texts of the page, on canvases too where :func:`watch_canvases` was called."""
    return [Text(**row) for row in _measured(page, "[...measureTexts(), ...measureCanvases()]")]


def unreadable(texts: Iterable[Text]) -> list[Text]:
    """Those whose letters are too small or too faint."""
    return [
        text
        for text in texts
        if text.size < MIN_SIZE - 0.01 or text.contrast < MIN_CONTRAST - 0.005
    ]


def violations_of(page: Page) -> list[tuple[str, str]]:
    """What axe finds on the page: a rule, and where."""
    overlay = "#stFloatingOverlayPortal"  # left by shut menus
    only = f"{{ resultTypes: ['violations'], runOnly: {_TAGS} }}"
    call = f"axe.run({{ exclude: ['{overlay}'] }}, {only}).then((found) => found.violations)"
    return [
        (rule["id"], f"{node['target']} {node['html'][:160]}")
        for rule in _measured(page, call)
        for node in rule["nodes"]
    ]


def is_streamlits(rule: str, where: str) -> bool:
    """Whether Streamlit's own elements break this rule of axe's."""
    return rule in STREAMLITS_OWN and bool(re.search(STREAMLITS_OWN[rule], where))


def cut_labels(page: Page) -> list[str]:
    """Labels of controls that are cut, options of menus and what is behind "More" included."""
    cut = _measured(page, "cutLabels()")
    for menu in page.locator("[data-testid=stSelectbox] input").all():
        if menu.is_visible():
            menu.click()
            page.locator("[role=option]").first.wait_for()
            cut += _measured(page, "cutOptions()")
            page.keyboard.press("Escape")
    for more in page.get_by_test_id("stPopoverButton").filter(has_text=re.compile("^More")).all():
        if more.is_visible():
            more.evaluate("(node) => node.click()")  # no tip is left behind
            box = page.get_by_test_id("stPopoverBody")
            box.wait_for()
            cut += _measured(page, "cutLabels()")
            more.evaluate("(node) => node.click()")  # an open one would take the next press
            box.wait_for(state="hidden")
    return cut


def _measured(page: Page, call: str) -> list[Any]:
    """What a call in measure.js gives, for which axe is loaded."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(_AXE.read_text("utf-8"))
    return [*page.evaluate(f"() => {{ {_MEASURE}; return {call} }}")]


def picture_top(page: Page) -> int:
    """Where the first picture begins, in pixels from the top of the screen, once there is one."""
    return int(page.wait_for_function(_PICTURE, polling=50).json_value())


def words_in_view(page: Page) -> int:
    """How many words of the page itself are on the screen."""
    return int(page.evaluate(_WORDS))
