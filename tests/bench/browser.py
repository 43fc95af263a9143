"""Chromium on the app: where it is, how it is started, when a page has come to rest."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from playwright.sync_api import sync_playwright

from tests.chromium import ARGUMENTS, find_chromium

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

PATIENCE_MS = 120_000  # of Playwright, for a busy machine
IDLE = '[data-testid="stApp"][data-test-script-state="notRunning"]'
_AFTER_PAINT = """() => new Promise((done) => {
  requestAnimationFrame(() => requestAnimationFrame(done))
})"""


@contextmanager
def running_browser() -> Iterator[Browser]:
    """A headless Chromium with software rendering, closed at the end."""
    found = find_chromium()
    if not found:
        raise FileNotFoundError("No Chromium was found; name one in HEADSCOPE_CHROMIUM.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


def new_page(browser: Browser, width: int = 1400, height: int = 900) -> Page:
    """A page of a visitor of their own: nothing is cached, nothing is shared."""
    page = browser.new_context(viewport={"width": width, "height": height}).new_page()
    page.set_default_timeout(PATIENCE_MS)
    return page


def close(page: Page) -> None:
    """End the visit: the page and its context."""
    page.context.close()


def link(url: str, name: str, **parameters: str) -> str:
    """The address of a page of the app with its state; an empty name is the site's own address."""
    return f"{url}/{name}?{urlencode(parameters)}"


def wait_until_idle(page: Page) -> None:
    """Until the server has run the script to its end and the page knows it."""
    page.locator(IDLE).wait_for(state="attached")


def wait_for_paint(page: Page) -> None:
    """Until what is in the document is on the screen."""
    page.evaluate(_AFTER_PAINT)
