"""Atlases of any size: what the command line takes to build one, and the page to show it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from core.corpus.sample import sample_sentences
from core.model import DEFAULT_MODEL
from tests.server import ROOT
from tests.tools.bench.models import few
from tests.tools.bench.pages import link, running_app, visit_home, wait_for_picture, wait_until_idle

SMALL, LARGE = few((50_000, 1_000_000), (500, 1_000))  # tokens
WORDS = ("she", "he", "the", "was", "and")[: few(None, 1)]
_PLACE = TemporaryDirectory()  # of the atlases, until the end


class Built(NamedTuple):
    """One command: seconds from start to end, and its largest memory."""

    seconds: float
    peak_mb: float


@cache
def built(tokens: int) -> Built:
    """``python -m core.atlas_build`` of so many tokens, as a process of its own.

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
    return Built(time.perf_counter() - start, usage.ru_maxrss * 1024 / 1e6)


def growth() -> list[float]:
    """The ratio of times over the ratio of tokens, of the large atlas and the small one."""
    return [(built(LARGE).seconds / LARGE) / (built(SMALL).seconds / SMALL)]


class Shown(NamedTuple):
    """The large atlas on its page: seconds, and megabytes of the server beyond a first page."""

    painted: list[float]  # from its link
    searches: list[float]  # from Enter to what is found
    memory_mb: list[float]


@cache
def shown() -> Shown:
    """A visitor follows the link of the large atlas and searches it."""
    built(LARGE)
    with running_app(HEADSCOPE_ATLASES=_PLACE.name) as server, visit_home(server) as page:
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
        return Shown([painted], searches, [server.memory_mb() - before])
