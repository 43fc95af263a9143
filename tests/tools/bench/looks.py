"""How every page looks: where its picture begins, its smallest letters, its lowest contrast.

At three sizes, in both themes. Texts on canvases and in shadow roots count, and what is
further below counts like what is in view.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.ui.words.pages import PAGES
from tests.looks.visit import (
    MIN_CONTRAST,
    MIN_SIZE,
    picture_top,
    texts_of,
    wait_until_drawn,
    watch_canvases,
)
from tests.tools.bench.browser import PATIENCE_MS, close, link, running_browser, wait_until_idle
from tests.tools.bench.extent import few
from tests.tools.bench.server import running_app

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SIZES = ((1280, 720), (1400, 900), (390, 844))[: few(None, 1)]  # projector, laptop, phone
THEMES = ("light", "dark")[: few(None, 1)]
MAX_TOP = 260  # pixels, on the projector


def run() -> None:
    """A line for each page, theme and size."""
    print("page, theme, size: picture from, smallest letters, lowest contrast")
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
    close(page)
    smallest, lowest = min(text.size for text in texts), min(text.contrast for text in texts)
    marks = [
        f"y = {top}" + (" LOW" if size == SIZES[0] and (top or 0) > MAX_TOP else ""),
        f"{smallest:.1f} px" + (" SMALL" if smallest < MIN_SIZE - 0.01 else ""),
        f"{lowest:.2f}" + (" FAINT" if lowest < MIN_CONTRAST else ""),
    ]
    print(f"{name:<12} {theme:<6} {width:>4} x {height}: {', '.join(marks)}", flush=True)
