"""Atlases of any size: what the command line takes to build one, and the page to show it."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import sys
import tempfile
import time
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from core.corpus.sample import sample_sentences
from core.model import DEFAULT_MODEL
from tests.server import ROOT
from tests.tools.bench.models import MB, few
from tests.tools.bench.pages import link, running_app, visit_home, wait_for_picture, wait_until_idle

SMALL, LARGE = few((50_000, 1_000_000), (500, 1_000))  # tokens
WORDS = ("she", "he", "the", "was", "and")[: few(None, 1)]
_MATRIX = ".root[data-painted]"
_WATCH_FRAMES = """(root) => {
  window.benchFrames = []
  new MutationObserver(() => window.benchFrames.push(performance.now()))
    .observe(root, {attributeFilter: ["data-painted"]})
}"""


class Built(NamedTuple):
    """One command: seconds from start to end, and its largest memory."""

    seconds: float
    peak_mb: float


@cache
def _folder() -> Path:
    """Where the atlases lie until the end."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder)
    return Path(folder)


@cache
def built(tokens: int) -> Built:
    """``python -m core.atlas_build`` of so many tokens, as a process of its own.

    Its corpus is the sample corpus over and over, each round with its number before every sentence.
    """
    out, corpus = _folder() / f"{tokens}.atlas", _folder() / f"{tokens}.txt"
    rounds = range(1 + tokens // 5_000)  # one has over 5,000 tokens
    texts = (f"{turn}. {text}\n" for turn in rounds for text in sample_sentences())
    corpus.write_text("".join(texts), "utf-8")
    command = [sys.executable, "-m", "core.atlas_build", "--model", DEFAULT_MODEL]
    command += ["--corpus", str(corpus), "--out", str(out), "--tokens", str(tokens)]
    start = time.perf_counter()
    child = os.posix_spawn(
        sys.executable,
        command,
        os.environ | {"PYTHONPATH": str(ROOT)},
        file_actions=[(os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)],
    )
    _, status, usage = os.wait4(child, 0)
    if status:
        raise RuntimeError(f"the command line ended with status {status}")
    return Built(time.perf_counter() - start, usage.ru_maxrss * 1024 / MB)


def growth() -> list[float]:
    """The ratio of times over the ratio of tokens, of the large atlas and the small one."""
    return [(built(LARGE).seconds / LARGE) / (built(SMALL).seconds / SMALL)]


class Shown(NamedTuple):
    """The large atlas on its page: seconds, and megabytes of the server beyond a first page."""

    painted: list[float]  # from its link
    frames: list[float]  # from one to the next, while the matrix is zoomed
    searches: list[float]  # from Enter to what is found
    memory_mb: list[float]


@cache
def shown() -> Shown:
    """A visitor follows the link of the large atlas, zooms into it and searches it."""
    built(LARGE)
    with running_app(HEADSCOPE_ATLASES=str(_folder())) as server, visit_home(server) as page:
        before = server.peak = server.rss()
        start = time.perf_counter()
        page.goto(link(server, "atlas", corpus="prepared", prepared=str(LARGE)))
        wait_for_picture(page, _MATRIX)
        painted = time.perf_counter() - start
        wait_until_idle(page)
        page.locator(_MATRIX).first.evaluate(_WATCH_FRAMES)
        page.locator(f"{_MATRIX} canvas").last.hover()
        page.keyboard.down("Control")
        for _ in range(few(20, 4)):
            page.mouse.wheel(0, -60)
        page.keyboard.up("Control")
        frames: list[float] = page.evaluate("window.benchFrames")
        searches, box = [], page.get_by_role("textbox", name="Find")
        for word in WORDS:
            wait_until_idle(page)
            box.fill(word)
            start = time.perf_counter()
            box.press("Enter")
            page.wait_for_url(re.compile(rf"find={word}\b"))
            wait_until_idle(page)
            searches.append(time.perf_counter() - start)
        apart = [(late - early) / 1e3 for early, late in pairwise(frames)]
        return Shown([painted], apart, searches, [(server.peak - before) / MB])
