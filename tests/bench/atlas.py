"""The atlas: what it costs to make, how that grows, its command line, and the page in Chromium."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from core.model import DEFAULT_MODEL
from tests.bench.atlas_browser import show_page
from tests.bench.atlas_capture import MOST, USUAL, Made, large_corpus, show_costs, tell_load
from tests.bench.report import show
from tests.bench.timing import milliseconds
from tests.server import ROOT

GROWTH_LIMIT = 1.15  # (time / time) / (tokens / tokens)
MEMORY_LIMIT_MB = 2500.0
COMMAND_TOKENS = 20_000


def run() -> None:
    """Everything, each with its limit and the load of the machine."""
    show_costs()
    _show_growth()
    _show_command()
    show_page()


def _show_growth() -> None:
    """The larger corpus between two of the smaller, so that a slow minute is told from growth."""
    before, large, after = (_make_apart(tokens) for tokens in (USUAL, MOST, USUAL))
    for made in (before, large, after):
        name = f"{made.tokens} tokens, new process"
        show(f"{name}: capture", [made.capture], "s")
        show(f"{name}: projecting", [made.project], "s")
        show(f"{name}: peak", [made.peak], "MB", MEMORY_LIMIT_MB)
    small = [before.capture / before.tokens, after.capture / after.tokens]
    growth = large.capture / large.tokens / float(np.mean(small))
    show("capture: ratio of times / ratio of tokens", [growth], "x", GROWTH_LIMIT)
    tell_load()


def _make_apart(tokens: int) -> Made:
    command = [sys.executable, "-m", "tests.bench.atlas_capture", str(tokens)]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return Made(*json.loads(done.stdout.splitlines()[-1]))


def _show_command() -> None:
    """``python -m core.atlas_build``, from starting it until it has ended."""
    with tempfile.TemporaryDirectory() as folder:
        corpus, out = Path(folder) / "corpus.txt", Path(folder) / "out.atlas.zip"
        corpus.write_text("\n".join(large_corpus()), "utf-8")
        command = [
            *(sys.executable, "-m", "core.atlas_build", "--model", DEFAULT_MODEL),
            *("--corpus", str(corpus), "--out", str(out), "--tokens", str(COMMAND_TOKENS)),
        ]
        peak = 0.0

        def build() -> None:
            nonlocal peak
            # wait4 tells the largest memory of this one child.
            child = os.posix_spawn(
                sys.executable,
                command,
                os.environ | {"PYTHONPATH": str(ROOT)},
                file_actions=[(os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)],
            )
            _, status, usage = os.wait4(child, 0)
            if status:
                raise RuntimeError(f"the command line ended with status {status}")
            peak = usage.ru_maxrss * 1024 / 1e6

        seconds = milliseconds(build) / 1e3
        name = f"command line, {COMMAND_TOKENS} tokens"
        show(f"{name}: start to file", [seconds], "s")
        show(f"{name}: peak", [peak], "MB")
        show(f"{name}: file", [out.stat().st_size / 1e6], "MB")
    tell_load()
