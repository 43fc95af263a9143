"""Run the benchmarks, or the groups that are named: ``python -m tests.tools.bench class first``.

Everything is measured in this one run, on this machine. A figure over its limit is marked, and
fails nothing. An exception and a counted error do: the exit status is 1.
"""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from typing import TypeAlias

import numpy as np
import psutil

from tests.tools.bench.models import SMOKE_SETTING

# What is measured: its group, a colon, and what it is; what gives one value, or several of which
# the median counts; "s", "MB" (10^6 bytes), "x" (a ratio) or "count" (of errors); and what the
# median should not exceed, None for information.
Bench: TypeAlias = "tuple[str, Callable[[], list[float]], str, float | None]"
_DIGITS = {"s": 3, "MB": 1, "x": 3, "count": 0}  # of each unit, after the point


def table() -> list[Bench]:
    """All benchmarks; imported late, since ``--smoke`` sets their constants."""
    from tests.tools.bench import classroom, models, pages

    phones, large = classroom.lesson, pages.large_atlas
    pupils = partial(classroom.lesson, "lessons")
    rows: list[Bench] = [
        ("forward: traced / plain, 16 tokens", lambda: models.capture(16, 200), "x", 1.1),
        ("forward: traced / plain, 512 tokens", lambda: models.capture(512, 40), "x", 1.1),
        ("first: Home of a cold server", pages.starts, "s", 2.0),
        ("change: layer, 16 tokens", lambda: pages.screen_changes(16), "s", 0.6),
        ("change: layer, 512 tokens", lambda: pages.screen_changes(512), "s", 2.0),
        ("memory: a visitor of every page", pages.memory_of_every_page, "MB", 1000.0),
        ("atlas: built", lambda: large()["built"], "s", None),
        ("atlas: peak", lambda: large()["peak"], "MB", 1500.0),
        ("atlas: ratio of times / ratio of tokens", lambda: large()["growth"], "x", 1.15),
        ("atlas: painted", lambda: large()["painted"], "s", 5.0),
        ("atlas: a search", lambda: large()["searches"], "s", 2.0),
        ("atlas: memory of the server for it", lambda: large()["memory"], "MB", 500.0),
        ("class: first picture", lambda: phones().pictures, "s", 3.0),
        ("class: 95th percentile", lambda: [np.quantile(phones().pictures, 0.95)], "s", 5.0),
        ("class: first picture of a lesson", lambda: pupils().pictures, "s", 3.0),
        ("class: growth of memory", lambda: [classroom.coming_and_going().growth], "x", 1.05),
    ]

    def of_class(name: str, met: Callable[[], classroom.Tally]) -> list[Bench]:
        return [
            (f"class: {name}, errors", lambda: [float(len(met().errors))], "count", 0.0),
            (f"class: {name}, words of others", lambda: [float(len(met().foreign))], "count", 0.0),
            (f"class: {name}, answer to a change", lambda: met().changes, "s", None),
            (f"class: {name}, peak", lambda: [met().peak_mb], "MB", 1200.0),
        ]

    rows += of_class(f"{classroom.PHONES} phones", phones)
    rows += of_class(f"{classroom.PHONES} in a lesson", pupils)
    rows += of_class(f"{classroom.CROWD} without a pause", classroom.crowd)
    rows += of_class(f"{classroom.VISITS} visits", classroom.coming_and_going)
    return rows


def main() -> int:
    """Run what the command line names; everything when it names nothing."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.bench", description=__doc__)
    parser.add_argument("groups", nargs="*", metavar="group")
    parser.add_argument("--smoke", action="store_true", help="of everything the least, for CI")
    arguments = parser.parse_args()
    if arguments.smoke:
        os.environ[SMOKE_SETTING] = "1"
    benches = table()
    groups = {name.partition(":")[0] for name, *_ in benches}
    if unknown := set(arguments.groups) - groups:
        parser.error(f"there is no {unknown.pop()}; there are: {', '.join(sorted(groups))}")
    packages = ", ".join(f"{name} {version(name)}" for name in ("streamlit", "torch"))
    print(f"{packages}; {os.cpu_count()} cores, {psutil.virtual_memory().total / 1e9:.0f} GB")
    print("name: median [middle half of n measurements], limit, median / limit, load")
    wanted = arguments.groups or groups
    good = [show(*bench) for bench in benches if bench[0].partition(":")[0] in wanted]
    return int(not all(good))


def show(name: str, measure: Callable[[], list[float]], unit: str, limit: float | None) -> bool:
    """Measure and print one line; False where it ends in an exception or has counted errors."""
    try:
        values = measure()
    except Exception:  # noqa: BLE001 - the others are still measured
        print(name, traceback.format_exc())
        return False
    digits, median = _DIGITS[unit], float(np.median(values))
    text = f"{name:<48} {median:>9.{digits}f} {unit}"
    if len(values) > 1:
        low, high = np.percentile(values, [25, 75])
        text += f" [{low:.{digits}f} … {high:.{digits}f}, n={len(values)}]"
    if limit is not None:
        verdict = "OVER" if median > limit else "ok"
        text += f"  limit {limit:g}  {median / (limit or 1):.2f} {verdict}"
    # Well above the number of cores, something else was running: measure again.
    print(f"{text}  load {psutil.getloadavg()[0]:.1f}", flush=True)
    return unit != "count" or median == 0


if __name__ == "__main__":
    sys.exit(main())
