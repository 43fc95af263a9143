"""How much is measured: all, or of everything the least (``python -m tests.tools.bench --smoke``).

The least is for CI: it shows that a benchmark still runs, and its figures mean nothing.
"""

from __future__ import annotations

import os
from typing import TypeVar

_SETTING = "HEADSCOPE_BENCH_SMOKE"  # of the environment, so that processes of their own know it
SMOKE = os.environ.get(_SETTING) == "1"
Extent = TypeVar("Extent")


def few(usual: Extent, least: Extent) -> Extent:
    """The `usual` extent, or the `least` that shows whether a benchmark runs."""
    return least if SMOKE else usual


def ask_for_the_least() -> None:
    """Before any benchmark is imported."""
    global SMOKE  # noqa: PLW0603 - constants of the benchmarks are made from it
    SMOKE = True
    os.environ[_SETTING] = "1"
