"""Run the benchmarks, or those that are named: ``python -m tests.bench forward app``.

Everything is measured in this one run, on this machine. A figure over its limit is marked, and
fails nothing: the exit status is 0.
"""

from __future__ import annotations

import argparse
import os
from importlib.metadata import version
from typing import TYPE_CHECKING

import psutil

from tests.bench import app, atlas, class_load, forward, heads, memory, search, vectors, views
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
    "atlas": atlas.run,
    "class": class_load.run,
}


def main() -> None:
    """Run what the command line names; everything when it names nothing."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(BENCHMARKS))
    names = parser.parse_args().names or list(BENCHMARKS)
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"no benchmark is called {unknown[0]}; there are: {', '.join(BENCHMARKS)}")
    packages = ", ".join(f"{name} {version(name)}" for name in ("streamlit", "torch"))
    print(f"{packages}; {os.cpu_count()} cores, {psutil.virtual_memory().total / 1e9:.0f} GB")
    show_columns()
    for name in names:
        print(f"\n== {name}", flush=True)
        before = psutil.getloadavg()[0]
        BENCHMARKS[name]()
        # Well above the number of cores, something else was running: measure again.
        print(f"load: {before:.1f} before, {psutil.getloadavg()[0]:.1f} after", flush=True)


if __name__ == "__main__":
    main()
