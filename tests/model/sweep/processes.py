"""A process for each type, with limits of time and memory: one type cannot take the others down."""

from __future__ import annotations

import multiprocessing
import os
import resource
import sys
import tempfile
import time
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import TYPE_CHECKING

from tests.model.sweep.kinds import is_text
from tests.model.sweep.verdict import Verdict, described, judge

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from multiprocessing.process import BaseProcess

SECONDS = 60.0  # for one type; most take one or two
MEMORY_BYTES = 6 * 2**30  # of address space, torch's own included


@dataclass(frozen=True)
class _Running:
    kind: str
    process: BaseProcess
    began: float

    def seconds_left(self) -> float:
        return max(0.0, self.began + SECONDS - time.monotonic())


def judge_all(kinds: Sequence[str], jobs: int) -> Iterator[Verdict]:
    """A verdict for each type that takes text, as they come; `jobs` processes at once."""
    waiting, running = list(reversed(kinds)), dict[Connection, _Running]()
    while waiting or running:
        while waiting and len(running) < jobs:
            receiver, started = _start(waiting.pop())
            running[receiver] = started
        soonest = min(each.seconds_left() for each in running.values())
        answered = wait(list(running), timeout=soonest)
        done = [each for each in running if each in answered or not running[each].seconds_left()]
        for receiver in done:
            yield _finish(receiver, running.pop(receiver))


def _start(kind: str) -> tuple[Connection, _Running]:
    context = multiprocessing.get_context("fork")  # torch and transformers are imported already
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(kind, sender), daemon=True)
    process.start()
    sender.close()
    return receiver, _Running(kind, process, time.monotonic())


def _finish(receiver: Connection, child: _Running) -> Verdict:
    """The child's answer, or what became of it."""
    try:
        verdict: Verdict = receiver.recv() if receiver.poll() else _overdue(child)
    except EOFError:
        child.process.join()
        reason = f"the process ended without an answer (status {child.process.exitcode})"
        verdict = Verdict(child.kind, "crash", reason=reason)
    child.process.join(timeout=1)
    if child.process.is_alive():
        child.process.kill()
    receiver.close()
    return verdict


def _overdue(child: _Running) -> Verdict:
    child.process.kill()
    return Verdict(child.kind, "crash", reason=f"no answer within {SECONDS:.0f} s", seconds=SECONDS)


def _child(kind: str, sender: Connection) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    with Path(os.devnull).open("w") as nothing, redirect_stdout(nothing), redirect_stderr(nothing):
        sender.send(judge_kind(kind))
    sender.close()
    sys.stdout.flush()


def judge_kind(kind: str) -> Verdict:
    """Build the type's tiny model in a temporary folder and judge it."""
    from tests.model.sweep.tiny import build

    began = time.perf_counter()
    try:
        if not is_text(kind):
            return Verdict(kind, "not text")
    except Exception as error:  # noqa: BLE001 - a missing package is a result
        return Verdict(kind, "not text", reason=f"{type(error).__name__}: {error}"[:300])
    with tempfile.TemporaryDirectory(prefix="headscope-sweep-") as name:
        try:
            build(kind, Path(name))
        except Exception as error:  # noqa: BLE001 - whatever it is, there is nothing to open
            verdict = Verdict(kind, reason=described(error))
        else:
            verdict = judge(kind, Path(name))
    verdict.seconds = time.perf_counter() - began
    return verdict
