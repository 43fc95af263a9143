"""Attacks in processes with little more memory than they have when they begin.

    python -m tests.hostile.child tests.hostile.attacks_on_search [more modules]

All modules are imported, which takes longest. In a fork each module's `prepare` is called: what a
server has in memory before an attack (a model, an atlas) belongs there. Then each of its `ATTACKS`
runs in a fork of that, whose address space is limited to what is taken plus `EXTRA_MB`. An attack
asserts itself that it was refused or answered; the exit status is 0 when none raised an error, such
as one for want of memory.
"""

from __future__ import annotations

import importlib
import os
import resource
import subprocess
import sys
import traceback
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

EXTRA_MB = 200  # that an attack may take beyond the server's own, unless its module says otherwise
SECONDS = 300.0  # for imports, `prepare` and the attacks
_ROOT = Path(__file__).parents[2]


def run_attacks(*modules: str) -> None:
    """Run all attacks of the modules in a child; AssertionError with what failed ones wrote."""
    try:
        done = subprocess.run(
            [sys.executable, "-m", "tests.hostile.child", *modules],
            cwd=_ROOT,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise AssertionError(f"{modules} had no end within {SECONDS:.0f} s") from error
    assert done.returncode == 0, f"{modules}: status {done.returncode}\n{done.stderr[-6000:]}"


def main(*names: str) -> int:
    """Import, then attack with each module in a fork; the number of modules that failed."""
    modules = [importlib.import_module(name) for name in names]
    return sum(not _ends_well(partial(_attack_with, module), module.__name__) for module in modules)


def _attack_with(module: ModuleType) -> None:
    """Prepare, and run each attack in a fork that may take `EXTRA_MB` more."""
    module.prepare()
    limit = getattr(module, "EXTRA_MB", EXTRA_MB) * 2**20
    assert module.ATTACKS
    ended = [_ends_well(partial(_within, limit, each), each.__name__) for each in module.ATTACKS]
    assert all(ended)


def _within(limit: int, attack: Callable[[], None]) -> None:
    most = _address_space() + limit
    resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))
    attack()


def _ends_well(deed: Callable[[], None], name: str) -> bool:
    """Whether the deed raises nothing in a fork."""
    sys.stderr.flush()
    process = os.fork()
    if process:
        status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        if status:
            sys.stderr.write(f"{name}: status {status}\n")
        return status == 0
    try:
        deed()
    except BaseException:  # noqa: BLE001 - a fork never returns to its parent's code
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def _address_space() -> int:
    """What this process has reserved, in bytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
