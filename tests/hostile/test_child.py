"""Attacks end, whatever they do, and leave no process behind."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import psutil
import pytest

from tests.hostile import child
from tests.hostile.child import run_attacks

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

ATTACKS = "tests.hostile.rehearsal"
MARK = "STARTED_BY"


def test_a_model_that_ran_before_the_attacks_runs_in_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """OpenMP waits for ever in the fork of a process in which it has started other threads."""
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    monkeypatch.setenv("REHEARSAL", "works_with_several_threads")
    run_attacks(ATTACKS)


@pytest.mark.parametrize(
    ("attack", "idle_seconds", "message"),
    [
        ("waits_for_ever", 5.0, "no end: nothing was done for 5 s"),
        ("works_for_ever", 120.0, "works_for_ever: status -24"),  # SIGXCPU
        ("fails_beside_another", 120.0, "as it should"),
    ],
)
def test_what_has_no_end_is_ended_and_nothing_stays(
    attack: str,
    idle_seconds: float,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("REHEARSAL", attack)
    monkeypatch.setenv(MARK, str(tmp_path))
    monkeypatch.setattr(child, "IDLE_SECONDS", idle_seconds)
    with pytest.raises(AssertionError, match=message):
        run_attacks(ATTACKS)
    left = psutil.process_iter(["environ"])
    marked = [one.pid for one in left if (one.info["environ"] or {}).get(MARK) == str(tmp_path)]
    assert set(marked) <= {os.getpid()}
