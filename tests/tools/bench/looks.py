"""How every page looks: where its picture begins, controls, words, letters, contrast, its link.

At three sizes, in both themes. Texts on canvases and in shadow roots count, and what is
further below counts like what is in view.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from core.ui.words.pages import PAGES
from tests.looks.visit import (
    MIN_CONTRAST,
    MIN_SIZE,
    controls_above,
    picture_top,
    texts_of,
    wait_until_drawn,
    watch_canvases,
    words_in_view,
)
from tests.tools.bench.browser import PATIENCE_MS, close, link, running_browser, wait_until_idle
from tests.tools.bench.extent import few
from tests.tools.bench.server import running_app

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, ViewportSize

SIZES = ((1280, 720), (1400, 900), (390, 844))[: few(None, 1)]  # projector, laptop, phone
THEMES = ("light", "dark")[: few(None, 1)]
# Asked: pixels above the picture by width, controls above it, characters of a link, and pixels of
# the smallest letters while the picture is presented on a large screen.
MAX_TOP = {1280: 190, 390: 260}
MAX_CONTROLS, MAX_LINK, MIN_PRESENTED = 8, 150, 18
LARGE: ViewportSize = {"width": 1920, "height": 1080}


def run() -> None:
    """A line for each page, theme and size."""
    print("page, theme, size: picture from, controls, words, smallest letters, lowest contrast")
    with running_app() as server, running_browser() as browser:
        for page in PAGES[: few(None, 2)]:
            for theme in THEMES:
                for size in SIZES:
                    _show(browser, server.url, page.name, theme, size)


def _show(browser: Browser, url: str, name: str, theme: str, size: tuple[int, int]) -> None:
    """Visit one page as a new visitor, and print what is there."""
    width, height = size
    page = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if theme == "dark" else "light",
    ).new_page()
    page.set_default_timeout(PATIENCE_MS)
    watch_canvases(page)
    page.goto(link(url, name))
    wait_until_idle(page)
    wait_until_drawn(page)
    texts, top = texts_of(page), picture_top(page)
    controls, words = controls_above(page), words_in_view(page)
    link_length, presented = _presented(page) if size == SIZES[0] else (0, 0.0)
    close(page)
    smallest, lowest = min(text.size for text in texts), min(text.contrast for text in texts)
    marks = [
        f"y = {top}" + (" LOW" if top > MAX_TOP.get(width, math.inf) else ""),
        f"{controls} controls" + (" MANY" if controls > MAX_CONTROLS else ""),
        f"{words} words",
        f"{smallest:.1f} px" + (" SMALL" if smallest < MIN_SIZE - 0.01 else ""),
        f"{lowest:.2f}" + (" FAINT" if lowest < MIN_CONTRAST else ""),
    ]
    if presented:
        small, long = presented < MIN_PRESENTED, link_length > MAX_LINK
        marks += [
            f"presented {presented:.1f} px" + (" SMALL" if small else ""),
            f"link of {link_length}" + (" LONG" if long else ""),
        ]
    print(f"{name:<12} {theme:<6} {width:>4} x {height}: {', '.join(marks)}", flush=True)


def _presented(page: Page) -> tuple[int, float]:
    """The length of the shared link, and the smallest letters of the picture presented alone."""
    page.get_by_role("button", name="Share", exact=True).click()
    shared = page.locator(".st-key-share_box code").first.inner_text()
    page.keyboard.press("Escape")
    page.set_viewport_size(LARGE)
    page.keyboard.press("p")
    page.wait_for_timeout(300)  # until the server has begun to draw charts larger
    wait_until_idle(page)
    wait_until_drawn(page)
    return len(shared), min(text.size for text in texts_of(page))
