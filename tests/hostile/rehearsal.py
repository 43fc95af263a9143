"""What goes well or wrong with attacks themselves; `REHEARSAL` names the one to try."""

from __future__ import annotations

import os
import subprocess
import time

PROCESSOR_SECONDS = 2


def prepare() -> None:
    """What a server does that has run a model: with all threads that it may have."""
    if works_with_several_threads in ATTACKS:
        _multiply()


def works_with_several_threads() -> None:
    """As any model does."""
    _multiply()


def waits_for_ever() -> None:
    """With a process of its own, which waits too."""
    subprocess.run(["sleep", "3600"], check=True)


def works_for_ever() -> None:
    """And never waits."""
    while True:
        pass


def fails_beside_another() -> None:
    """And leaves a process behind."""
    subprocess.Popen(["sleep", "3600"])
    time.sleep(0.1)
    raise AssertionError("as it should")


def _multiply() -> None:
    import torch  # the others need none of it

    side = 600  # OpenMP shares what has more than 32,768 entries
    assert torch.ones(side, side).mul(2).sum().item() == 2 * side * side


ATTACKS = (globals()[os.environ["REHEARSAL"]],)
