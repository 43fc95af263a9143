"""A process for each type, with limits of time and memory: one type cannot take the others down."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

from tests.model.sweep.kinds import is_text
from tests.model.sweep.verdict import Verdict, described, judge

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SECONDS = 60  # for one type; most take one or two
MEMORY_BYTES = 6 * 2**30  # of address space, torch's own included


def judge_all(kinds: Sequence[str], jobs: int) -> Iterator[Verdict]:
    """A verdict for each type that takes text, in order; `jobs` processes at once."""
    context = multiprocessing.get_context("fork")  # torch and transformers are imported already
    with context.Pool(jobs, maxtasksperchild=1) as pool:
        answers = [pool.apply_async(_limited, (kind,)) for kind in kinds]
        for kind, answer in zip(kinds, answers, strict=True):
            try:  # those before it have ended, so it has begun
                yield answer.get(SECONDS + 5)
            except Exception as error:  # noqa: BLE001 - a time-out too: its process may have ended
                yield Verdict(kind, "crash", reason=described(error))


def _limited(kind: str) -> Verdict:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    signal.alarm(SECONDS)  # which ends the process
    with Path(os.devnull).open("w") as nothing, redirect_stdout(nothing), redirect_stderr(nothing):
        return judge_kind(kind)


def judge_kind(kind: str) -> Verdict:
    """Build the type's tiny model in a temporary folder and judge it."""
    from tests.model.sweep.tiny import build

    try:
        if not is_text(kind):
            return Verdict(kind, "not text")
    except Exception as error:  # noqa: BLE001 - a missing package is a result
        return Verdict(kind, "not text", reason=f"{type(error).__name__}: {error}"[:300])
    with tempfile.TemporaryDirectory(prefix="headscope-sweep-") as name:
        try:
            build(kind, Path(name))
        except Exception as error:  # noqa: BLE001 - whatever it is, there is nothing to open
            return Verdict(kind, reason=described(error))
        return judge(kind, Path(name))
