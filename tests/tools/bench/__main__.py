"""Run the benchmarks, or those that are named: ``python -m tests.tools.bench forward app``.

Everything is measured in this one run, on this machine. A figure over its limit is marked, and
fails nothing. An exception and a counted error do: the exit status is 1.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import traceback
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import psutil

from tests.tools.bench import extent, report

# By name, the module whose `run` measures it; "families" has options of its own.
BENCHMARKS = {
    "forward": "forward",
    "effect": "effect",
    "first": "first",
    "app": "app",
    "memory": "memory",
    "vectors": "vectors",
    "search": "search",
    "views": "views",
    "heads": "heads",
    "images": "images",
    "looks": "looks",
    "atlas": "atlas",
    "scale": "scale",
    "class": "class_load",
    "families": "families",
}


def main() -> int:
    """Run what the command line names; everything when it names nothing."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(BENCHMARKS))
    parser.add_argument("--smoke", action="store_true", help="of everything the least, for CI")
    parser.add_argument("--only", nargs="+", default=(), metavar="TYPE", help="of the families")
    parser.add_argument("--json", type=Path, metavar="FILE", help="for what the families gave")
    arguments = parser.parse_args()
    names = arguments.names or list(BENCHMARKS)
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"no benchmark is called {unknown[0]}; there are: {', '.join(BENCHMARKS)}")
    if arguments.smoke:
        extent.ask_for_the_least()
    packages = ", ".join(f"{name} {version(name)}" for name in ("streamlit", "torch"))
    print(f"{packages}; {os.cpu_count()} cores, {psutil.virtual_memory().total / 1e9:.0f} GB")
    report.show_columns()
    options = {"families": {"only": arguments.only, "file": arguments.json}}
    broken = [name for name in names if not _runs(name, options.get(name, {}))]
    for name in broken:
        print(f"{name} ended with an exception", flush=True)
    for name in report.COUNTED_ERRORS:
        print(f"{name}: not 0", flush=True)
    return int(bool(broken or report.COUNTED_ERRORS))


def _runs(name: str, options: dict[str, object]) -> bool:
    """Run one benchmark; whether it came to its end. Imported late: `--smoke` sets constants."""
    print(f"\n== {name}", flush=True)
    before, start = psutil.getloadavg()[0], time.perf_counter()
    try:
        import_module(f"tests.tools.bench.{BENCHMARKS[name]}").run(**options)
    except Exception:  # noqa: BLE001 - the others are still measured
        traceback.print_exc()
        return False
    # Well above the number of cores, something else was running: measure again.
    taken = time.perf_counter() - start
    after = psutil.getloadavg()[0]
    print(f"{taken:.0f} s; load: {before:.1f} before, {after:.1f} after", flush=True)
    return True


if __name__ == "__main__":
    sys.exit(main())
