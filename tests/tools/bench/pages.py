"""The app as a visitor meets it in Chromium, a server with its memory, and large atlases."""

from __future__ import annotations

import atexit
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, NamedTuple
from urllib.parse import urlencode

from playwright.sync_api import Browser, Page, sync_playwright

from core.corpus.sample import sample_sentences
from core.model.opening.catalog import DEFAULT_MODEL
from core.ui.words.pages import PAGES
from tests.server import ARGUMENTS, ROOT, find_chromium, running_process
from tests.tools.bench.models import few, sentence_of

PATIENCE_MS = 120_000  # of Playwright, for a busy machine
ROUNDS, CHANGES = few(3, 1), few(15, 1)
LAYERS = 6  # of the bundled model
SMALL, LARGE = few((50_000, 1_000_000), (500, 1_000))  # tokens of atlases
WORDS = ("she", "he", "the", "was", "and")[: few(None, 1)]
_PLACE = TemporaryDirectory()  # of the atlases, until the end
_IDLE = '[data-testid="stApp"][data-test-script-state="notRunning"]'
_AFTER_PAINT = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
_AT_THE_END = ExitStack()
atexit.register(_AT_THE_END.close)


class Server(NamedTuple):
    """A running app on Linux; its address is without a slash at the end."""

    url: str
    pid: int

    def memory_mb(self, name: str = "VmHWM") -> float:
        """Its largest memory so far, or with "VmRSS" what it is now, in 10^6 bytes."""
        status = Path(f"/proc/{self.pid}/status").read_text("utf-8")
        return int(status.split(f"{name}:")[1].split()[0]) * 1024 / 1e6


@contextmanager
def running_app(log: IO[bytes] | int = subprocess.DEVNULL, **environment: str) -> Iterator[Server]:
    """``streamlit run app.py``, which nobody has asked yet, until the end of the block."""
    with running_process(log, "--server.address=127.0.0.1", **environment) as (url, process):
        yield Server(url, process.pid)


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


def link(server: Server, name: str, **parameters: str) -> str:
    """The address of a page of the app with its state."""
    return f"{server.url}/{name}?{urlencode(parameters)}"


def wait_until_idle(page: Page) -> None:
    """Until the server has run the script to its end and the page knows it."""
    page.locator(_IDLE).wait_for(state="attached")


def wait_for_picture(page: Page, drawn: str) -> None:
    """Until what the selector finds is in the document and on the screen."""
    page.locator(drawn).first.wait_for(state="attached")
    page.evaluate(_AFTER_PAINT)


def starts() -> list[float]:
    """Seconds from a cold server's first answer until Home's picture is painted."""
    seconds = []
    for _ in range(ROUNDS):
        with running_app() as server, visit() as page:
            start = time.perf_counter()
            page.goto(link(server, "home"), wait_until="commit")
            wait_for_picture(page, ".st-key-home_arcs .sheet[data-drawn]")
            seconds.append(time.perf_counter() - start)
    return seconds


def screen_changes(tokens: int) -> list[float]:
    """Seconds from the press on a layer until the heatmap's table of that layer is painted."""
    seconds, text = [], sentence_of(tokens)
    with visit() as page:
        page.goto(link(shared_app(), "heatmap", text=text, layer=str(LAYERS), head="mean"))
        wait_for_picture(page, "[role=grid] [role=gridcell]")
        for layer in (1 + change % LAYERS for change in range(CHANGES)):
            wait_until_idle(page)
            start = time.perf_counter()
            page.get_by_role("combobox", name="Layer").select_option(str(layer))
            wait_for_picture(page, f'[role=grid][aria-label*="layer {layer},"]')
            seconds.append(time.perf_counter() - start)
    return seconds


def memory_of_every_page() -> list[float]:
    """Largest memory of a server, in megabytes, of which one visitor opens page after page."""
    with running_app() as server, visit() as page:
        for tokens in few((13, 512), (13,)):
            for target in PAGES[: few(None, 2)]:
                of_text = "text" in target.modalities
                parameters = {"text": sentence_of(tokens)} if of_text else {}
                page.goto(link(server, target.name, **parameters))
                page.get_by_role("heading", name=target.title).first.wait_for(state="attached")
                wait_until_idle(page)
        return [server.memory_mb()]


@cache
def large_atlas() -> dict[str, list[float]]:
    """What it takes to build a large atlas, and for a visitor to follow its link and search it.

    Seconds, megabytes ("peak" of the command, "memory" of the server beyond a first page), and
    "growth": the ratio of times over the ratio of tokens, of the large atlas and a small one.
    """
    (small, _), (large, peak) = _build(SMALL), _build(LARGE)
    with running_app(HEADSCOPE_ATLASES=_PLACE.name) as server, visit() as page:
        page.goto(link(server, "home"))
        page.locator(".chips li").first.wait_for()  # by now the model is there
        before, start, searches = server.memory_mb(), time.perf_counter(), []
        page.goto(link(server, "atlas", corpus="prepared", prepared=str(LARGE)))
        wait_for_picture(page, ".root[data-painted]")
        painted = time.perf_counter() - start
        box = page.get_by_role("textbox", name="Find")
        for word in WORDS:
            wait_until_idle(page)
            box.fill(word)
            start = time.perf_counter()
            box.press("Enter")
            page.wait_for_url(re.compile(rf"find={word}\b"))
            wait_until_idle(page)
            searches.append(time.perf_counter() - start)
        memory = server.memory_mb() - before
    growth = (large / LARGE) / (small / SMALL)
    one = {"built": large, "peak": peak, "growth": growth, "painted": painted, "memory": memory}
    return {"searches": searches, **{name: [value] for name, value in one.items()}}


def _build(tokens: int) -> tuple[float, float]:
    """``python -m core.atlas_build`` of so many tokens: its seconds, and its largest memory in MB.

    Its corpus is the sample corpus over and over, each round with its number before every sentence.
    """
    out, corpus = (Path(_PLACE.name) / f"{tokens}.{ending}" for ending in ("atlas", "txt"))
    rounds = range(1 + tokens // 5_000)  # one has over 5,000 tokens
    texts = (f"{turn}. {text}\n" for turn in rounds for text in sample_sentences())
    corpus.write_text("".join(texts), "utf-8")
    command = [sys.executable, "-m", "core.atlas_build", "--model", DEFAULT_MODEL]
    command += ["--corpus", str(corpus), "--out", str(out), "--tokens", str(tokens)]
    start = time.perf_counter()
    child = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        raise RuntimeError(f"the command line ended with status {status}")
    return time.perf_counter() - start, usage.ru_maxrss * 1024 / 1e6
