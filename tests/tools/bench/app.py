"""The app as a visitor meets it: a server with its memory, and Chromium on its pages."""

from __future__ import annotations

import atexit
import subprocess
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from typing import IO, TYPE_CHECKING
from urllib.parse import urlencode

import psutil
from playwright.sync_api import sync_playwright

from tests.chromium import ARGUMENTS, find_chromium
from tests.server import running_process

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

SAMPLING_S = 0.02  # how often memory is looked at; loading a model takes 100 times as long
PATIENCE_MS = 120_000  # of Playwright, for a busy machine
_IDLE = '[data-testid="stApp"][data-test-script-state="notRunning"]'
_AFTER_PAINT = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


@dataclass
class Server:
    """A running app; `peak` is its largest memory so far, in bytes."""

    url: str  # without a slash at the end
    process: psutil.Process
    peak: int = 0

    def rss(self) -> int:
        """Resident memory of the server and its children, in bytes.

        A child that has not begun its own program shares the server's memory.
        """
        total = 0
        with suppress(psutil.NoSuchProcess):
            own = self.process.cmdline()
            total = self.process.memory_info().rss
            for child in self.process.children(recursive=True):
                with suppress(psutil.NoSuchProcess):  # one that has just ended
                    total += child.memory_info().rss * (child.cmdline() != own)
        self.peak = max(self.peak, total)
        return total


@contextmanager
def running_app(log: IO[bytes] | int = subprocess.DEVNULL, **environment: str) -> Iterator[Server]:
    """``streamlit run app.py``, which nobody has asked yet, until the end of the block."""
    with running_process(log, "--server.address=127.0.0.1", **environment) as (url, process):
        server = Server(url, psutil.Process(process.pid))
        ended = threading.Event()

        def watch() -> None:
            while not ended.wait(SAMPLING_S):
                server.rss()

        threading.Thread(target=watch, daemon=True).start()
        try:
            yield server
        finally:
            ended.set()


_AT_THE_END = ExitStack()
atexit.register(_AT_THE_END.close)


@cache
def shared_app() -> Server:
    """One server for all benchmarks that need no new one."""
    return _AT_THE_END.enter_context(running_app())


@cache
def browser() -> Browser:
    """A headless Chromium with software rendering."""
    found = find_chromium()
    if not found:
        raise FileNotFoundError("No Chromium was found; name one in HEADSCOPE_CHROMIUM.")
    playwright = _AT_THE_END.enter_context(sync_playwright())
    launched = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
    _AT_THE_END.callback(launched.close)
    return launched


@contextmanager
def visit() -> Iterator[Page]:
    """A page of a visitor of their own: nothing is cached, nothing is shared."""
    context = browser().new_context(viewport={"width": 1400, "height": 900})
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    try:
        yield page
    finally:
        context.close()


@contextmanager
def visit_home(server: Server, **parameters: str) -> Iterator[Page]:
    """A new visitor on the first page, with the model loaded."""
    with visit() as page:
        page.goto(link(server, "home", **parameters))
        page.locator(".chips li").first.wait_for()
        wait_until_idle(page)
        yield page


def link(server: Server, name: str, **parameters: str) -> str:
    """The address of a page of the app with its state; an empty name is the site's own address."""
    return f"{server.url}/{name}?{urlencode(parameters)}"


def follow(page: Page, title: str, drawn: str) -> float:
    """Seconds from the press on a page's name in the menu until `drawn`, a selector, is painted."""
    start = time.perf_counter()
    page.get_by_test_id("stSidebarNav").get_by_role("link", name=title, exact=True).click()
    wait_for_picture(page, drawn)
    return time.perf_counter() - start


def wait_until_idle(page: Page) -> None:
    """Until the server has run the script to its end and the page knows it."""
    page.locator(_IDLE).wait_for(state="attached")


def wait_for_picture(page: Page, drawn: str) -> None:
    """Until what the selector finds is in the document and on the screen."""
    page.locator(drawn).first.wait_for(state="attached")
    page.evaluate(_AFTER_PAINT)
