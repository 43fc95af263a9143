"""``python -m core.atlas_build`` as a process of its own: what it takes from start to end."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from core import atlas_build
from core.model import DEFAULT_MODEL
from tests.server import ROOT
from tests.tools.bench.atlas_capture import _peak_mb
from tests.tools.bench.extent import few

if TYPE_CHECKING:
    from collections.abc import Iterable


class Built(NamedTuple):
    """One command: seconds from start to end, its largest memory, and the bytes it wrote."""

    seconds: float
    peak_mb: float
    bytes: int


def build_apart(texts: Iterable[str], *options: str, out: str = "out.atlas") -> Built:
    """Build the atlas of the texts; the least does so in this process, which has torch already."""
    with tempfile.TemporaryDirectory() as folder:
        corpus, path = Path(folder) / "corpus.txt", Path(folder) / out
        corpus.write_text("\n".join(texts), "utf-8")
        arguments = ["--model", DEFAULT_MODEL, "--corpus", str(corpus), "--out", str(path)]
        start = time.perf_counter()
        status, peak = few(_run_apart, _run_here)([*arguments, *options])
        seconds = time.perf_counter() - start
        if status:
            raise RuntimeError(f"the command line ended with status {status}")
        files = path.iterdir() if path.is_dir() else [path]
        return Built(seconds, peak, sum(file.stat().st_size for file in files))


def _run_apart(arguments: list[str]) -> tuple[int, float]:
    """Its status, and the largest memory of this one child, which wait4 tells."""
    child = os.posix_spawn(
        sys.executable,
        [sys.executable, "-m", "core.atlas_build", *arguments],
        os.environ | {"PYTHONPATH": str(ROOT)},
        file_actions=[(os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)],
    )
    _, status, usage = os.wait4(child, 0)
    return status, usage.ru_maxrss * 1024 / 1e6


def _run_here(arguments: list[str]) -> tuple[int, float]:
    return atlas_build.main(arguments), _peak_mb()
