"""Run the benchmarks, or those that are named: ``python -m tests.bench forward app``.

Everything is measured in this one run, on this machine. A figure over its limit is marked, and
fails nothing: the exit status is 0.
"""

from __future__ import annotations

import argparse
import os
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from tests.bench import (
    app,
    atlas,
    class_load,
    families,
    forward,
    heads,
    images,
    looks,
    memory,
    scale,
    search,
    vectors,
    views,
)
from tests.bench.report import show_columns

if TYPE_CHECKING:
    from collections.abc import Callable

BENCHMARKS: dict[str, Callable[[], None]] = {
    "forward": forward.run,
    "app": app.run,
    "memory": memory.run,
    "vectors": vectors.run,
    "search": search.run,
    "views": views.run,
    "heads": heads.run,
    "images": images.run,
    "looks": looks.run,
    "atlas": atlas.run,
    "scale": scale.run,
    "class": class_load.run,
    "families": families.run,
}


def main() -> None:
    """Run what the command line names; everything when it names nothing."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(BENCHMARKS))
    parser.add_argument("--only", nargs="+", default=(), metavar="TYPE", help="of the families")
    parser.add_argument("--json", type=Path, metavar="FILE", help="for what the families gave")
    arguments = parser.parse_args()
    names = arguments.names or list(BENCHMARKS)
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"no benchmark is called {unknown[0]}; there are: {', '.join(BENCHMARKS)}")
    benchmarks = BENCHMARKS | {
        "families": partial(families.run, only=arguments.only, file=arguments.json)
    }
    packages = ", ".join(f"{name} {version(name)}" for name in ("streamlit", "torch"))
    print(f"{packages}; {os.cpu_count()} cores, {psutil.virtual_memory().total / 1e9:.0f} GB")
    show_columns()
    for name in names:
        print(f"\n== {name}", flush=True)
        before = psutil.getloadavg()[0]
        benchmarks[name]()
        # Well above the number of cores, something else was running: measure again.
        print(f"load: {before:.1f} before, {psutil.getloadavg()[0]:.1f} after", flush=True)


if __name__ == "__main__":
    main()
