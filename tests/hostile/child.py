"""Attacks in processes with little more memory than they have when they begin; see tests/run.

    python -m tests.hostile.child tests.hostile.attacks_on_search [more modules]

All modules are imported, which takes longest. In a fork each module's `prepare` is called: what a
server has in memory before an attack (a model, an atlas) belongs there. Then each of its `ATTACKS`
runs in a fork of that, whose address space is limited to what is taken plus `EXTRA_MB`. An attack
asserts itself that it was refused or answered; the exit status is 0 when none raised an error, such
as one for want of memory.

No clock on the wall decides, since a busy machine may make anything slow: an attack is ended after
`PROCESSOR_SECONDS` of its own work, and all of them when none does any work for `IDLE_SECONDS`.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

EXTRA_MB = 200  # that an attack may take beyond the server's own, unless its module says otherwise
PROCESSOR_SECONDS = 300  # of an attack, or of what is before it
IDLE_SECONDS = 120.0  # in which all wait, so that nothing will come
_ROOT = Path(__file__).parents[2]
_POLL_SECONDS = 0.5


def run_attacks(*modules: str) -> None:
    """Run all attacks of the modules in a child; AssertionError with what failed ones wrote.

    Whatever happens, none of the processes that they started is left.
    """
    command = [sys.executable, "-m", "tests.hostile.child", *modules]
    with tempfile.TemporaryFile() as log:
        child = subprocess.Popen(command, cwd=_ROOT, stdout=log, stderr=log, start_new_session=True)
        try:
            status = _wait(child)
        finally:
            _end(child)
        log.seek(0)
        written = log.read().decode(errors="replace")
    assert status == 0, f"{modules}: {status}\n{written[-6000:]}"


def _wait(child: subprocess.Popen[bytes]) -> int | str:
    """The status of a child that ends; what is wrong with one that never will."""
    worked, since = 0.0, time.monotonic()
    while child.poll() is None:
        if (now := _processor_seconds(child.pid)) != worked:
            worked, since = now, time.monotonic()
        elif time.monotonic() - since > IDLE_SECONDS:
            return f"no end: nothing was done for {IDLE_SECONDS:.0f} s"
        time.sleep(_POLL_SECONDS)
    return child.returncode


def _end(child: subprocess.Popen[bytes]) -> None:
    """End all processes of the child's group, and wait until they have: a signal takes a moment."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    while any(_works(one) for one in _of_session(child.pid)):
        time.sleep(0.01)


def _works(process: psutil.Process) -> bool:
    """Whether it has not ended; one that nobody has asked for its status still has a number."""
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _processor_seconds(session: int) -> float:
    """What the processes of a session have worked, with those that have ended."""
    seconds = 0.0
    for process in _of_session(session):
        with contextlib.suppress(psutil.Error):
            seconds += sum(process.cpu_times()[:4])  # its own, and its ended children's
    return seconds


def _of_session(session: int) -> Iterator[psutil.Process]:
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, ProcessLookupError):
            if os.getsid(process.pid) == session:
                yield process


def main(*names: str) -> int:
    """Import, then attack with each module in a fork; the number of modules that failed.

    With one thread: in the fork of a process that has used more, OpenMP waits for the others, which
    no fork takes along, for ever.
    """
    os.environ["OMP_NUM_THREADS"] = "1"  # read when a library is imported, and none is yet
    _limit(resource.RLIMIT_CPU, PROCESSOR_SECONDS)
    modules = [importlib.import_module(name) for name in names]
    return sum(not _ends_well(partial(_attack_with, module), module.__name__) for module in modules)


def _attack_with(module: ModuleType) -> None:
    """Prepare, and run each attack in a fork that may take `EXTRA_MB` more."""
    module.prepare()
    assert module.ATTACKS
    ended = [_ends_well(partial(_within, module, each), each.__name__) for each in module.ATTACKS]
    assert all(ended)


def _within(module: ModuleType, attack: Callable[[], None]) -> None:
    """The attack, with little more memory than there is, and its own time."""
    extra_mb = getattr(module, "EXTRA_MB", EXTRA_MB)
    _limit(resource.RLIMIT_AS, _address_space() + extra_mb * 2**20)
    _limit(resource.RLIMIT_CPU, PROCESSOR_SECONDS)
    attack()


def _limit(kind: int, most: int) -> None:
    """At most so much from here on, in this process and in each of its forks."""
    resource.setrlimit(kind, (most, resource.getrlimit(kind)[1]))


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
