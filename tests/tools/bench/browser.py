"""Chromium on the app: where it is, how it is started, when a page has come to rest."""

from __future__ import annotations

import atexit
import shutil
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from playwright.sync_api import sync_playwright

from core.model.catalog import bundled_folder
from core.model.loading import _quiet
from tests.chromium import ARGUMENTS, find_chromium
from tests.tools.bench import extent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

PATIENCE_MS = 120_000  # of Playwright, for a busy machine
IDLE = '[data-testid="stApp"][data-test-script-state="notRunning"]'
_AFTER_PAINT = """() => new Promise((done) => {
  requestAnimationFrame(() => requestAnimationFrame(done))
})"""
# Looks a node up in the document and in the components' shadow roots.
FIND = """(selector) => document.querySelector(selector) ?? [...document.querySelectorAll("*")]
    .map((host) => host.shadowRoot?.querySelector(selector)).find(Boolean)"""
# Milliseconds from an event to the frame after the one in which `done` was true.
_CLOCK = """new Promise((resolve, reject) => {
  setTimeout(() => reject(new Error("it was not painted")), patience)
  addEventListener(event, ({timeStamp}) => {
    const painted = () => resolve(performance.now() - timeStamp)
    const look = () => done()
      ? requestAnimationFrame(() => requestAnimationFrame(painted))
      : setTimeout(look, 5)
    look()
  }, {capture: true, once: true})
})"""


@contextmanager
def running_browser() -> Iterator[Browser]:
    """A headless Chromium with software rendering, closed at the end; the least shares one."""
    if extent.SMOKE:
        yield _shared_browser()
        return
    with _new_browser() as browser:
        yield browser


@cache
def _shared_browser() -> Browser:
    stack = ExitStack()
    browser = stack.enter_context(_new_browser())
    atexit.register(stack.close)
    return browser


@contextmanager
def _new_browser() -> Iterator[Browser]:
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


def arrive(browser: Browser, url: str, **parameters: str) -> Page:
    """A new visitor on the first page, with the model loaded."""
    page = new_page(browser)
    page.goto(link(url, "home", **parameters))
    page.locator(".chips li").first.wait_for()
    wait_until_idle(page)
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


def time_painting(page: Page, event: str, act: Callable[[], object], done: str) -> float:
    """Milliseconds from an event of `act` until what it changes is painted.

    `done` is the body of a JavaScript function that prepares, with `find` for nodes, and returns a
    function that says whether the change is there.
    """
    page.evaluate(
        f"([event, patience]) => {{ const find = {FIND}; const done = (() => {{ {done} }})();"
        f" window.benchPainted = {_CLOCK} }}",
        [event, PATIENCE_MS],
    )
    act()
    return float(page.evaluate("window.benchPainted"))


def save_random_bert(folder: Path, sharper: float = 1.0, **settings: int) -> Path:
    """A random BERT with the bundled model's tokenizer; its queries `sharper` times as long."""
    import torch
    from transformers import BertConfig, BertModel

    torch.manual_seed(0)
    network = BertModel(BertConfig(**settings))
    with torch.no_grad():
        for layer in network.encoder.layer:
            layer.attention.self.query.weight *= sharper
    with _quiet():
        network.save_pretrained(folder)
    for name in ("tokenizer.json", "tokenizer_config.json", "vocab.txt", "special_tokens_map.json"):
        shutil.copy(bundled_folder() / name, folder)
    return folder
