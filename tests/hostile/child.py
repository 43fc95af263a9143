"""A child process that runs one attack with little more memory than it has when it begins.

    python -m tests.hostile.child tests.hostile.attacks_on_search:recursive_expression

The module is imported first and its `prepare`, if it has one, is called: what a server has in
memory before the attack (torch, a model, an atlas) belongs there. Then the address space is limited
to what is taken plus `EXTRA_MB`, and the function runs. An attack asserts itself that it was
refused or answered; the exit status is 0 when nothing was raised.
"""

from __future__ import annotations

import importlib
import resource
import subprocess
import sys
from pathlib import Path

EXTRA_MB = 200  # that an attack may take beyond the server's own
SECONDS = 300.0  # for imports, `prepare` and the attacks
_ROOT = Path(__file__).parents[2]


def run_limited(attack: str, *, extra_mb: int = EXTRA_MB, seconds: float = SECONDS) -> None:
    """Run ``module:function`` in a child; raises AssertionError with what it wrote if it failed."""
    command = [sys.executable, "-m", "tests.hostile.child", attack, str(extra_mb)]
    try:
        done = subprocess.run(
            command, cwd=_ROOT, capture_output=True, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise AssertionError(f"{attack} had no end within {seconds:.0f} s") from error
    assert done.returncode == 0, f"{attack}: status {done.returncode}\n{done.stderr[-4000:]}"


def main(attack: str, extra_mb: str) -> None:
    """Import, prepare, limit, attack."""
    name, _, function = attack.partition(":")
    module = importlib.import_module(name)
    if hasattr(module, "prepare"):
        module.prepare()
    extra = int(extra_mb) * 2**20
    before = _memory()
    resource.setrlimit(resource.RLIMIT_AS, (before["VmSize"] + extra, resource.RLIM_INFINITY))
    getattr(module, function)()
    grown = _memory()["VmHWM"] - before["VmRSS"]
    assert grown <= extra, f"{attack} took {grown / 2**20:.0f} MB"


def _memory() -> dict[str, int]:
    """Bytes of the address space (VmSize), of resident memory (VmRSS) and of its peak (VmHWM)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    fields = (line.split() for line in lines)
    return {field[0].rstrip(":"): int(field[1]) * 1024 for field in fields if field[-1] == "kB"}


if __name__ == "__main__":
    main(*sys.argv[1:])
