"""The app as a visitor meets it: a server with its memory, and Chromium on its pages."""

from __future__ import annotations

import atexit
import shutil
import subprocess
import tempfile
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING
from urllib.parse import urlencode

import psutil
import torch
from playwright.sync_api import sync_playwright

from core.model.opening.catalog import bundled_folder
from core.model.opening.load import _quiet
from core.ui.words.pages import PAGES
from tests.server import ARGUMENTS, find_chromium, running_process
from tests.tools.bench.models import MB, few, sentence_of

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


def wait_until_idle(page: Page) -> None:
    """Until the server has run the script to its end and the page knows it."""
    page.locator(_IDLE).wait_for(state="attached")


def wait_for_picture(page: Page, drawn: str) -> None:
    """Until what the selector finds is in the document and on the screen."""
    page.locator(drawn).first.wait_for(state="attached")
    page.evaluate(_AFTER_PAINT)


STARTS, CHANGES = few(3, 1), few(15, 1)
LAYERS = 6  # of the bundled model
PICTURES = {
    "home": ".st-key-home_arcs .sheet[data-drawn]",
    "heatmap": "[role=grid] [role=gridcell]",
}


def starts() -> list[float]:
    """Seconds from a cold server's first answer until Home's picture is painted."""
    return [_start() for _ in range(STARTS)]


def _start() -> float:
    with running_app() as server, visit() as page:
        answered = time.monotonic()
        page.goto(link(server, "home"), wait_until="commit")
        wait_for_picture(page, PICTURES["home"])
        return time.monotonic() - answered


def screen_changes(tokens: int) -> list[float]:
    """Seconds from the press on a layer until the heatmap's table of that layer is painted."""
    with visit() as page:
        text = sentence_of(tokens)
        page.goto(link(shared_app(), "heatmap", text=text, layer=str(LAYERS), head="mean"))
        wait_for_picture(page, PICTURES["heatmap"])
        return [_change_layer(page, 1 + change % LAYERS) for change in range(CHANGES)]


def _change_layer(page: Page, layer: int) -> float:
    wait_until_idle(page)
    start = time.perf_counter()
    page.get_by_role("combobox", name="Layer").select_option(str(layer))
    wait_for_picture(page, f'[role=grid][aria-label*="layer {layer},"]')
    return time.perf_counter() - start


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
        return [server.peak / MB]


VISITS = few(3, 1)
BERT_BASE = 12  # layers, and heads of each
SIZES = {"hidden_size": few(768, 96), "intermediate_size": 64}  # what no view draws
# As drawn, the scores would be so small that no line were strong enough to be drawn: longer
# queries make attention about as sharp as BERT's. The least has shorter vectors.
SHARPER = few(10.0, 80.0)
# Title, and what is in the document once the picture is painted.
VIEWS = {
    "model_view": ("Model view", ".st-key-model_view [role=grid] canvas.sheet"),
    "head_view": ("Head view", ".st-key-head_view canvas.sheet[data-drawn='12']"),
}
# View, tokens, seconds until it should be painted.
SHOWN = (("head_view", few(128, 16), 1.0), ("model_view", 64, 1.2), ("model_view", 128, 2.0))


@cache
def _model() -> Path:
    """A random BERT with the bundled model's tokenizer."""
    from transformers import BertConfig, BertModel

    torch.manual_seed(0)
    network, folder = BertModel(BertConfig(**SIZES)), Path(tempfile.mkdtemp()) / "bert-base-shaped"
    with torch.no_grad():
        for layer in network.encoder.layer:
            layer.attention.self.query.weight *= SHARPER
    with _quiet():
        network.save_pretrained(folder)
    for name in ("tokenizer.json", "tokenizer_config.json", "vocab.txt", "special_tokens_map.json"):
        shutil.copy(bundled_folder() / name, folder)
    return folder


def painted(view: str, tokens: int) -> list[float]:
    """Seconds from the press on its name in the menu to its picture, by new visitors."""
    title, drawn = VIEWS[view]
    every_head = ",".join(map(str, range(1, BERT_BASE + 1)))
    state = {"layer": str(BERT_BASE), "heads": every_head, "text": sentence_of(tokens)}
    seconds = []
    for _ in range(VISITS):
        with visit_home(shared_app(), model=str(_model()), **state) as page:
            start = time.perf_counter()
            menu = page.get_by_test_id("stSidebarNav")
            menu.get_by_role("link", name=title, exact=True).click()
            wait_for_picture(page, drawn)
            seconds.append(time.perf_counter() - start)
    return seconds
