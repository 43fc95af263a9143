"""Attacks in processes with little more memory than they have when they begin.

    python -m tests.hostile.child tests.hostile.attacks_on_search [name of an attack]

The module is imported and its `prepare` called: what a server has in memory before an attack
(torch, a model, an atlas) belongs there. Then each of its `ATTACKS` runs in a fork, whose address
space is limited to what is taken plus `EXTRA_MB`. An attack asserts itself that it was refused or
answered; the exit status is 0 when none raised an error, such as one for want of memory.
"""

from __future__ import annotations

import importlib
import os
import resource
import subprocess
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

EXTRA_MB = 200  # that an attack may take beyond the server's own, unless its module says otherwise
SECONDS = 300.0  # for imports, `prepare` and the attacks
_ROOT = Path(__file__).parents[2]


def run_attacks(module: str) -> None:
    """Run all attacks of a module in a child; raises AssertionError with what the failed wrote."""
    try:
        done = subprocess.run(
            [sys.executable, "-m", "tests.hostile.child", module],
            cwd=_ROOT,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise AssertionError(f"{module} had no end within {SECONDS:.0f} s") from error
    assert done.returncode == 0, f"{module}: status {done.returncode}\n{done.stderr[-6000:]}"


def main(name: str, only: str = "") -> int:
    """Import, prepare, attack in forks; the number of attacks that failed."""
    module = importlib.import_module(name)
    module.prepare()
    limit = getattr(module, "EXTRA_MB", EXTRA_MB) * 2**20
    attacks = [each for each in module.ATTACKS if not only or each.__name__ == only]
    assert attacks, f"{name} has no attack {only}"
    return sum(not _survives(attack, limit) for attack in attacks)


def _survives(attack: Callable[[], None], limit: int) -> bool:
    """Whether the attack ends well in a fork that may take `limit` bytes more."""
    sys.stderr.flush()
    process = os.fork()
    if process:
        status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        if status:
            sys.stderr.write(f"{attack.__name__}: status {status}\n")
        return status == 0
    try:
        most = _address_space() + limit
        resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))
        attack()
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
