"""The atlas: what it costs to make, how that grows, its command line, and the page in Chromium."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np

from tests.server import ROOT
from tests.tools.bench import extent
from tests.tools.bench.atlas_browser import show_page
from tests.tools.bench.atlas_capture import (
    MOST,
    USUAL,
    Made,
    large_corpus,
    make_atlas,
    show_costs,
    tell_load,
)
from tests.tools.bench.command import build_apart
from tests.tools.bench.extent import few
from tests.tools.bench.report import show

GROWTH_LIMIT = 1.15  # (time / time) / (tokens / tokens)
MEMORY_LIMIT_MB = 2500.0
COMMAND_TOKENS = few(20_000, 500)
GROWN = few((USUAL, MOST, USUAL), (USUAL,))


def run() -> None:
    """Everything, each with its limit and the load of the machine."""
    show_costs()
    _show_growth()
    if not extent.SMOKE:  # `scale` runs the same command
        _show_command()
    show_page()


def _show_growth() -> None:
    """The larger corpus between two of the smaller, so that a slow minute is told from growth."""
    make = few(_make_apart, make_atlas)  # the least starts few processes: each loads PyTorch
    all_made = [make(tokens) for tokens in GROWN]
    for made in all_made:
        name = f"{made.tokens} tokens, new process"
        show(f"{name}: capture", [made.capture], "s")
        show(f"{name}: projecting", [made.project], "s")
        show(f"{name}: peak", [made.peak], "MB", MEMORY_LIMIT_MB)
    rates = [made.capture / made.tokens for made in all_made]
    growth = max(rates[1:2], default=rates[0]) / float(np.mean([rates[0], rates[-1]]))
    show("capture: ratio of times / ratio of tokens", [growth], "x", GROWTH_LIMIT)
    tell_load()


def _make_apart(tokens: int) -> Made:
    command = [sys.executable, "-m", "tests.tools.bench.atlas_capture", str(tokens)]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return Made(*json.loads(done.stdout.splitlines()[-1]))


def _show_command() -> None:
    """``python -m core.atlas_build``, from starting it until it has ended."""
    tokens = ("--tokens", str(COMMAND_TOKENS))
    built = build_apart(large_corpus(), *tokens, out="out.atlas.zip")
    name = f"command line, {COMMAND_TOKENS} tokens"
    show(f"{name}: start to file", [built.seconds], "s")
    show(f"{name}: peak", [built.peak_mb], "MB")
    show(f"{name}: file", [built.bytes / 1e6], "MB")
    tell_load()
