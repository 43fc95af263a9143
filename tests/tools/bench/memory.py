"""How much memory the server takes: one visitor on every page."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote_plus

from core.ui.words.pages import PAGES, TEXT_PAGES
from tests.tools.bench.browser import close, link, new_page, running_browser, wait_until_idle
from tests.tools.bench.extent import few
from tests.tools.bench.report import show
from tests.tools.bench.server import running_app, watching_memory
from tests.tools.bench.texts import sentence_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from playwright.sync_api import Page

    from core.ui.words.pages import Page as AtlasPage
    from tests.tools.bench.server import MemoryWatch

SHORT, LONG = 13, few(512, 16)  # tokens
EVERY_PAGE_LIMIT_MB = 1000.0


def run() -> None:
    """One visitor opens every page at 13 tokens, types 512, and opens every page again."""
    with (
        running_browser() as browser,
        running_app() as server,
        watching_memory(server) as watch,
    ):
        page = new_page(browser)
        show("server, before the first visit", [watch.look() / 1e6], "MB")
        page.goto(link(server.url, PAGES[0].name, text=sentence_of(SHORT)))
        _wait_for(page, PAGES[0])
        texts = TEXT_PAGES[: few(None, 2)]
        _show_peak(f"every page of texts, {SHORT} tokens", _visit(page, watch, texts))
        _open(page, PAGES[0])
        _type(page, sentence_of(LONG))
        _show_peak(f"every page of texts, {LONG} tokens", _visit(page, watch, texts))
        of_images = [each for each in PAGES if "image" in each.modalities][: few(None, 1)]
        of_images.sort(key=lambda each: "text" in each.modalities)  # the others lead to these
        _show_peak("then every page with an image", _visit(page, watch, of_images))
        show("server, after the last page", [watch.look() / 1e6], "MB")
        close(page)


def _visit(page: Page, watch: MemoryWatch, targets: Iterable[AtlasPage]) -> dict[str, float]:
    """Largest memory while each page was on the screen, in megabytes, by the page's name."""
    peaks = {}
    for target in targets:
        watch.begin()
        _open(page, target)
        peaks[target.name] = watch.peak / 1e6
    return peaks


def _open(page: Page, target: AtlasPage) -> None:
    """Follow the sidebar's link, which keeps the session; an address would start a new one.

    From an image, the way to a page that shows texts too is the button that keeps it.
    """
    same_view = page.get_by_role("button", name="Same view of this image")
    if "image" in target.modalities and "text" in target.modalities and same_view.count():
        same_view.click()
        page.get_by_role("menuitem", name=target.title, exact=True).click()
    else:
        page.locator(f'[data-testid="stSidebarNavLink"][href*="/{target.name}"]').click()
    _wait_for(page, target)


def _type(page: Page, text: str) -> None:
    """Replace the text in the sidebar and wait until the page shows the new one."""
    box = page.get_by_role("textbox", name="Text")
    box.fill(text)
    box.press("Control+Enter")
    page.wait_for_url(lambda url: quote_plus(text) in url)
    wait_until_idle(page)


def _wait_for(page: Page, target: AtlasPage) -> None:
    page.get_by_role("heading", name=target.title, exact=True).wait_for(state="attached")
    wait_until_idle(page)


def _show_peak(name: str, peaks: dict[str, float]) -> None:
    most = max(peaks, key=lambda page: peaks[page])
    show(f"{name}: peak (on {most})", [peaks[most]], "MB", EVERY_PAGE_LIMIT_MB)
    for page, peak in peaks.items():
        show(f"  {page}", [peak], "MB")
