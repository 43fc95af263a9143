"""The atlas page in Chromium: the matrix, its frames while it moves, a search, a head alone."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from tests.tools.bench.atlas_capture import tell_load
from tests.tools.bench.browser import (
    FIND,
    arrive,
    close,
    running_browser,
    time_painting,
    wait_until_idle,
)
from tests.tools.bench.extent import few
from tests.tools.bench.report import show
from tests.tools.bench.server import running_app
from tests.tools.bench.texts import sentence_of
from tests.tools.bench.views import MB, _count_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Page

VISITS = few(3, 1)
STATE = {"text": sentence_of(13), **few({}, {"budget": "1000"})}
PAINTED_LIMIT_S = 4.0
FRAME_LIMIT_MS = 50.0  # 20 frames a second
SEARCH_LIMIT_S = 0.5
WORDS = ("she", "he", "the", "was", "and")[: few(None, 1)]
HEADS = ((2, 4), (5, 0), (0, 11))[: few(None, 1)]  # opened one after the other, from 0
ACROSS = 12  # heads of the bundled model
GUTTER = {"left": 34, "top": 20}  # pixels beside the tiles, for their names
MOVES, NOTCHES = few(60, 8), few(20, 4)
MATRIX, CLOUD = ".root[data-tile]", ".root[data-chosen]"

# The picture was painted anew: with another number of matches, where `search` is true.
_IS_NEW = """
  const first = find("{selector}")
  const before = {{...first?.dataset}}
  return () => {{
    const root = find("{selector}")
    if (!root?.dataset.painted) return false
    if ({search} && root.dataset.matches === before.matches) return false
    return root !== first || Number(root.dataset.painted) > Number(before.painted)
  }}"""

# When each frame with the points drawn anew was there.
_WATCH_FRAMES = f"""(selector) => {{
  const root = ({FIND})(selector)
  window.benchFrames = []
  window.benchWatch?.disconnect()
  window.benchWatch = new MutationObserver(() => window.benchFrames.push(performance.now()))
  window.benchWatch.observe(root, {{attributeFilter: ["data-painted"]}})
}}"""


class Spot(NamedTuple):
    """A place on the screen, in pixels."""

    x: float
    y: float


def show_page() -> None:
    """One server: the first visitor sees what comes with the app, the others the atlas itself."""
    with running_app() as server, running_browser() as browser:
        first = arrive(browser, server.url, **STATE)
        show("page, nothing cached: matrix painted", [_open(first)[0]], "s")
        close(first)
        visits = []
        for visit in range(VISITS):
            page = arrive(browser, server.url, **STATE)
            visits.append(_open(page))
            if visit < VISITS - 1:
                close(page)
        show("matrix view: painted", [each[0] for each in visits], "s", PAINTED_LIMIT_S)
        show("matrix view: to the browser", [each[1] for each in visits], "MB")
        print("  AttentionViz (its page): “may take up to a minute to render”")
        tell_load()
        print(f"  {_caption(page, 'Each tile')}")
        _show_matrix_frames(page)
        _show_searches(page)
        _show_heads(page)
        close(page)
    tell_load()


def _open(page: Page) -> tuple[float, float]:
    """Follow the menu to the atlas: seconds until it is painted, and megabytes sent."""
    received = _count_bytes(page)
    target = page.get_by_test_id("stSidebarNav").get_by_role("link", name="Atlas", exact=True)
    seconds = _time(page, "pointerdown", target.click, MATRIX)
    wait_until_idle(page)
    return seconds, received() / MB


def _time(
    page: Page, event: str, act: Callable[[], object], selector: str, *, search: bool = False
) -> float:
    done = _IS_NEW.format(selector=selector, search=str(search).lower())
    return time_painting(page, event, act, done) / 1000


def _caption(page: Page, words: str) -> str:
    """What the page says of what it draws."""
    captions = page.get_by_test_id("stCaptionContainer")
    return captions.filter(has_text=re.compile(words)).first.inner_text()


def _show_matrix_frames(page: Page) -> None:
    """Zoom from the whole matrix to one head and back; drag where many and where one is seen."""
    middle = _middle(page, "canvas.over")
    _show_frames(page, MATRIX, "matrix view: zoom, whole to 6.8 times", _zooming(page, middle, 1))
    _show_frames(page, MATRIX, "matrix view: pan, 6.8 times", _dragging(page, middle))
    _show_frames(page, MATRIX, "matrix view: zoom, back to whole", _zooming(page, middle, -1))
    for _ in _zooming(page, middle, 1, NOTCHES // 2):
        pass
    _show_frames(page, MATRIX, "matrix view: pan, 2.6 times", _dragging(page, middle))
    page.get_by_role("button", name="Whole matrix").click()
    tell_load()


def _show_frames(page: Page, selector: str, name: str, moves: Iterator[None]) -> None:
    """Milliseconds from one frame to the next while something moves."""
    page.evaluate(_WATCH_FRAMES, selector)
    for _ in moves:
        pass
    times: list[float] = page.evaluate("window.benchFrames")
    apart = [late - early for early, late in pairwise(times)]
    show(f"{name}: a frame", apart, "ms", FRAME_LIMIT_MS)
    print(f"  {1000 * len(apart) / sum(apart):.0f} frames a second, longest {max(apart):.0f} ms")


def _middle(page: Page, selector: str) -> Spot:
    canvas = page.locator(selector)
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    if box is None:
        raise ValueError(f"{selector} is not on the screen")
    return Spot(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def _zooming(page: Page, at: Spot, sign: int, notches: int = NOTCHES) -> Iterator[None]:
    page.mouse.move(*at)
    page.keyboard.down("Control")
    for _ in range(notches):
        page.mouse.wheel(0, -60 * sign)
        yield
    page.keyboard.up("Control")


def _dragging(page: Page, at: Spot) -> Iterator[None]:
    page.mouse.move(*at)
    page.mouse.down()
    for move in range(MOVES):
        step = abs(move % 40 - 20)
        page.mouse.move(at.x + 8 * step - 80, at.y + 3 * step - 30)
        yield
    page.mouse.up()


def _show_searches(page: Page) -> None:
    box = page.get_by_role("textbox", name="Find")
    taken = []
    for word in WORDS:
        box.fill(word)
        taken.append(_time(page, "keydown", lambda: box.press("Enter"), MATRIX, search=True))
        wait_until_idle(page)
    show("search: from Enter to matches highlighted", taken, "s", SEARCH_LIMIT_S)
    box.fill("")
    box.press("Enter")
    wait_until_idle(page)
    tell_load()


def _show_heads(page: Page) -> None:
    """Click on a head, look at it alone, go back to all."""
    taken, sent = [], []
    received = _count_bytes(page)
    for layer, head in HEADS:
        before = received()
        spot = _tile(page, layer, head)
        taken.append(_time(page, "pointerup", lambda at=spot: page.mouse.click(*at), CLOUD))  # type: ignore[misc]
        wait_until_idle(page)
        sent.append((received() - before) / MB)
        if (layer, head) == HEADS[-1]:
            break
        page.get_by_label("Part", exact=True).click()
        page.get_by_role("option", name="All heads").click()
        page.locator(MATRIX).wait_for()
        wait_until_idle(page)
    show("click on a head: single view painted", taken, "s")
    show("single view: to the browser", sent, "MB")
    print(f"  {_caption(page, 'PCA of')}")
    canvas = _middle(page, f"{CLOUD} canvas >> nth=-1")
    _show_frames(page, CLOUD, "single view: pan", _dragging(page, canvas))
    _show_frames(page, CLOUD, "single view: zoom", _zooming(page, canvas, 1))


def _tile(page: Page, layer: int, head: int) -> Spot:
    """The middle of a tile of the whole matrix."""
    page.locator("canvas.over").scroll_into_view_if_needed()
    box = page.locator("canvas.over").bounding_box()
    side = float(page.locator(MATRIX).get_attribute("data-tile") or 0)
    if box is None:
        raise ValueError("the matrix is not on the screen")
    free = box["width"] - GUTTER["left"] - 1 - ACROSS * side
    return Spot(
        box["x"] + GUTTER["left"] + free / 2 + (head + 0.5) * side,
        box["y"] + GUTTER["top"] + (layer + 0.5) * side,
    )
