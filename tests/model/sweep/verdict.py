"""Open a saved model as a visitor would, and compare with transformers' own eager attention.

A process for each type, with limits of time and memory: one type cannot take the others down.
"""

from __future__ import annotations

import logging
import math
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import traceback
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from core.model import load, trace_corpus, trace_text
from core.model.errors import ModelError
from tests.model.families import PAIR, SENTENCES
from tests.model.oracle import Oracle
from tests.model.sweep.sizes import is_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from core.model import LoadedModel, Trace

Outcome = Literal["opens", "refused", "wrong", "crash", "unbuilt", "not text"]

TOLERANCE = 1e-4  # of an attention weight; a wrong mask or scale shows as more than 1e-2
OUTPUT_TOLERANCE = 1e-3  # of a hidden state, by the largest of its layer
SHORT = SENTENCES[2]
TARGET = SENTENCES[0]  # for the decoder of an encoder-decoder
LONG = " ".join(SENTENCES[:2])  # longer than every window, and within every limit
BATCH = (SENTENCES[2], SENTENCES[1], SENTENCES[0])  # three lengths, so two are padded


@dataclass
class Verdict:
    """How one type fared.

    Attributes
    ----------
    kind : the type, as config.json names it.
    outcome : "opens" when every check agrees; "refused" when loading says why not; "wrong" when it
        opens and a check differs or is refused; "crash" for any exception that is no refusal, and
        for a model without an answer; "unbuilt" when there is no tiny model to open.
    error : largest difference from the eager attention; None if nothing was compared.
    against : what eager returned to compare with: "weights"; "shares", weights from before a sink
        takes its part, and hidden states; "output", hidden states alone.
    way : in which attention is recorded, see :data:`core.model.capture.forward.Way`.
    reason : the refusal or the exception.
    """

    kind: str
    outcome: Outcome = "unbuilt"
    error: float | None = None
    against: str = ""
    way: str = ""
    reason: str = ""


class CrashError(Exception):
    """An exception behind a refusal: nobody foresaw it, so its sentence explains nothing."""


def judge(kind: str, folder: Path) -> Verdict:
    """Load the model in the folder and run every check."""
    verdict = Verdict(kind)
    try:
        with _crashes_shown():
            model = load(str(folder))
    except ModelError as refusal:
        verdict.outcome, verdict.reason = "refused", f"{refusal.problem} {refusal.advice}"
    except CrashError as crash:
        verdict.outcome, verdict.reason = "crash", f"load: {crash}"
    else:
        verdict.way = model.way
        before = _plain_state(model)
        _run_checks(verdict, model, Oracle(folder))
        if verdict.outcome == "opens" and (changed := _changed(before, _plain_state(model))):
            verdict.outcome, verdict.reason = "wrong", f"left in its modules: {changed}"
    return verdict


def _run_checks(verdict: Verdict, model: LoadedModel, eager: Oracle) -> None:
    checks: dict[str, Callable[[], float]] = {
        "text": lambda: _error(verdict, trace_text(model, SHORT, target=TARGET), eager, SHORT),
        "pair": lambda: _error(verdict, trace_text(model, *PAIR, target=TARGET), eager, *PAIR),
        "long": lambda: _error(verdict, trace_text(model, LONG, target=TARGET), eager, LONG),
        "batch": lambda: _batch_error(verdict, model, eager),
    }
    outcomes: list[tuple[Outcome, str]] = []  # of the checks that failed, with the reason
    errors: list[float] = []
    for name, check in checks.items():
        try:
            with _crashes_shown():
                error = check()
        except ModelError as refusal:
            outcomes.append(("wrong", f"{name}: {refusal.problem} {refusal.advice}"))
        except CrashError as crash:
            outcomes.append(("crash", f"{name}: {crash}"))
        else:
            errors.append(error)
            if not error <= TOLERANCE:  # also for "not a number"
                outcomes.append(("wrong", f"{name}: differs by {error:.1g}"))
    # A crash is worse than a difference; max() keeps the first of equals.
    verdict.outcome, verdict.reason = max(
        outcomes, key=lambda each: each[0] == "crash", default=("opens", "")
    )
    if errors:
        verdict.error = float(np.max(errors))


def _plain_state(model: LoadedModel) -> dict[str, object]:
    """Every module's kind and plain attributes, by name."""
    return {
        f"{name}.{key}": value
        for name, module in model.network.named_modules()
        for key, value in [("class", type(module).__name__), *vars(module).items()]
        if isinstance(value, str | int | float | bool | None)
    }


def _changed(before: dict[str, object], after: dict[str, object]) -> str:
    names = {*before, *after}
    return ", ".join(sorted(name for name in names if before.get(name) != after.get(name))[:3])


def _batch_error(verdict: Verdict, model: LoadedModel, eager: Oracle) -> float:
    """Each text of a padded batch against itself alone, run by the model itself."""
    traces = list(trace_corpus(model, BATCH))
    errors = [
        _error(verdict, trace, eager, text) for text, trace in zip(BATCH, traces, strict=True)
    ]
    return float(np.max(errors))


def _error(
    verdict: Verdict, trace: Trace, eager: Oracle, text: str, pair: str | None = None
) -> float:
    """The largest difference of an attention weight of any kind; infinite where shapes differ."""
    target = [token.id for token in trace.of_type("decoder").tokens] if trace.others else None
    kinds = (trace, *trace.others)
    limit = len(trace.tokens)
    errors = [
        _error_of_kind(
            verdict,
            each,
            eager,
            eager.layers(limit, text, pair, each.attention_type, target),
            text,
            pair,
        )
        for each in kinds
    ]
    return float(np.max(errors))


def _error_of_kind(
    verdict: Verdict,
    trace: Trace,
    eager: Oracle,
    expected: list[np.ndarray],
    text: str,
    pair: str | None,
) -> float:
    actual = trace.attention()
    if not expected:
        verdict.against = "output"
        return _output_error(trace, eager, text, pair)
    if [each.shape for each in actual] != [each.shape for each in expected]:
        return math.inf
    differences = []
    verdict.against = "weights"
    for own, each in zip(actual, expected, strict=True):
        total = own.sum(axis=-1, keepdims=True)
        if np.abs(each.sum(axis=-1) - 1).max() < TOLERANCE < np.abs(total - 1).max():
            verdict.against = "shares"
            differences.append(np.abs(own / total - each).max())
        else:
            differences.append(np.abs(own - each).max())
    if verdict.against == "shares":
        differences.append(_output_error(trace, eager, text, pair))
    return float(np.max(differences))


def _output_error(trace: Trace, eager: Oracle, text: str, pair: str | None) -> float:
    """The largest difference of a hidden state, in units of the tolerance of weights."""
    actual = trace.hidden_states
    expected = eager.hidden_states(len(trace.tokens), text, pair)
    if actual is None or [each.shape for each in actual] != [each.shape for each in expected]:
        return math.inf
    errors = [
        np.abs(own - each).max() / np.abs(each).max()
        for own, each in zip(actual, expected, strict=True)
    ]
    return float(np.max(errors)) * TOLERANCE / OUTPUT_TOLERANCE


@contextmanager
def _crashes_shown() -> Iterator[None]:
    """Let the exception behind a refusal through; `core.model.refusal` logs such exceptions."""
    log, unforeseen = logging.getLogger("core.model.refusal"), list[str]()

    def note(_: logging.LogRecord) -> bool:
        unforeseen.append(described(sys.exception()))
        return True

    log.addFilter(note)
    try:
        yield
    except ModelError as refusal:
        if unforeseen:
            raise CrashError(unforeseen[-1]) from refusal
        raise
    except Exception as error:
        raise CrashError(described(error)) from error
    finally:
        log.removeFilter(note)


def described(error: BaseException | None) -> str:
    """Class, first line and place of an exception."""
    frames = traceback.extract_tb(error.__traceback__) if error else []
    where = "".join(f" ({Path(f.filename).name}:{f.lineno} {f.name})" for f in frames[-1:])
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}{where}"


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
