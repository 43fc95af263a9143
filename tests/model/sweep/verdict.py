"""Open a saved model as a visitor would, and compare with transformers' own eager attention.

A process for each type, with limits of time and memory: one type cannot take the others down.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import re
import resource
import signal
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from core.model import LoadedModel, Trace, load, trace_corpus, trace_text
from core.model.errors import ModelError
from tests.model.families import PAIR, SENTENCES
from tests.model.oracle import Oracle
from tests.model.sweep.sizes import is_text
from tests.model.sweep.tiny import build

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
        opens and a check differs or is refused; "crash" where an exception that nobody foresaw is
        behind a refusal or is none, and for a model without an answer; "unbuilt" when there is no
        tiny model to open.
    way : in which attention is recorded, see :data:`core.model.capture.forward.AttentionMode`.
    reason : the refusals or the exception.
    """

    kind: str
    outcome: Outcome = "unbuilt"
    way: str = ""
    reason: str = ""


def judge(kind: str, folder: Path) -> Verdict:
    """Load the model in the folder and run every check."""
    try:
        model = load(str(folder))
    except ModelError as refusal:
        reason = _sentence(refusal)
        return Verdict(kind, "crash" if _UNFORESEEN.search(reason) else "refused", reason=reason)
    before, eager = _plain_state(model), Oracle(folder)
    checks: dict[str, Callable[[], float]] = {
        "text": lambda: _error(trace_text(model, SHORT, target=TARGET), eager, SHORT),
        "pair": lambda: _error(trace_text(model, *PAIR, target=TARGET), eager, *PAIR),
        "long": lambda: _error(trace_text(model, LONG, target=TARGET), eager, LONG),
        "batch": lambda: float(
            np.max(
                [  # each text of a padded batch against itself alone
                    _error(trace, eager, text)
                    for text, trace in zip(BATCH, trace_corpus(model, BATCH), strict=True)
                ]
            )
        ),
    }
    reasons = []
    for name, check in checks.items():
        try:
            error = check()
        except ModelError as refusal:
            reasons.append(f"{name}: {_sentence(refusal)}")
        else:
            if not error <= TOLERANCE:  # also for "not a number"
                reasons.append(f"{name}: differs by {error:.1g}")
    if changed := {name for name, _ in before.items() ^ _plain_state(model).items()}:
        reasons.append(f"left in its modules: {', '.join(sorted(changed)[:3])}")
    if not reasons:
        return Verdict(kind, "opens", model.way)
    crashed = any(map(_UNFORESEEN.search, reasons))
    return Verdict(kind, "crash" if crashed else "wrong", model.way, " ".join(reasons))


# What `core.model.refusal` says of exceptions that nobody foresaw.
_UNFORESEEN = re.compile("led to an error|stopped with an error")


def _sentence(refusal: ModelError) -> str:
    return f"{refusal.problem} {refusal.advice}"


def _plain_state(model: LoadedModel) -> dict[str, object]:
    """Every module's kind and plain attributes, by name."""
    return {
        f"{name}.{key}": value
        for name, module in model.network.named_modules()
        for key, value in [("class", type(module).__name__), *vars(module).items()]
        if isinstance(value, str | int | float | bool | None)
    }


def _error(whole: Trace, eager: Oracle, text: str, pair: str | None = None) -> float:
    """The largest difference of an attention weight of any kind; infinite where shapes differ.

    Where eager returns no weights, or weights from before a sink takes its part, hidden states are
    compared too.
    """
    target = [token.id for token in whole.of_type("decoder").tokens] if whole.others else None
    errors = []
    for trace in (whole, *whole.others):
        actual, limit = trace.attention(), len(whole.tokens)
        expected = eager.layers(limit, text, pair, trace.attention_type, target)
        is_complete = bool(expected)
        if expected and [each.shape for each in actual] != [each.shape for each in expected]:
            return math.inf
        for own, each in zip(actual, expected, strict=is_complete):
            total = own.sum(axis=-1, keepdims=True)
            if np.abs(each.sum(axis=-1) - 1).max() < TOLERANCE < np.abs(total - 1).max():
                own, is_complete = own / total, False  # noqa: PLW2901
            errors.append(np.abs(own - each).max())
        if not is_complete:
            errors.append(_output_error(trace, eager, text, pair))
    return float(np.max(errors))


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
                yield Verdict(kind, "crash", reason=repr(error)[:300])


def _limited(kind: str) -> Verdict:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    signal.alarm(SECONDS)  # which ends the process
    with Path(os.devnull).open("w") as nothing, redirect_stdout(nothing), redirect_stderr(nothing):
        return judge_kind(kind)


def judge_kind(kind: str) -> Verdict:
    """Build the type's tiny model in a temporary folder and judge it."""
    try:
        if not is_text(kind):
            return Verdict(kind, "not text")
    except Exception as error:  # noqa: BLE001 - a missing package is a result
        return Verdict(kind, "not text", reason=repr(error)[:300])
    with tempfile.TemporaryDirectory(prefix="headscope-sweep-") as name:
        try:
            build(kind, Path(name))
        except Exception as error:  # noqa: BLE001 - whatever it is, there is nothing to open
            return Verdict(kind, reason=repr(error)[:300])
        return judge(kind, Path(name))
