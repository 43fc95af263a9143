"""The trace that comes with the app: the default model's, of the sentence that pages begin with.

A page draws it while the model is still being loaded. Run as a program, this module writes it
again: ``python -m core.model.bundled.first_trace``.
"""

from __future__ import annotations

import functools
from pathlib import Path

from core.model.catalog import CATALOG
from core.model.trace import Trace
from core.model.trace.stored import read_notes

MODEL, SENTENCE = "bundled/minilm", "Oh, this book? I've enjoyed it."
FILE = Path(__file__).parent / "minilm" / "first_trace.safetensors"
_PIN = CATALOG[0].pins["model.safetensors"]


@functools.cache
def first_trace() -> Trace | None:
    """The trace; None where its file was made with other weights than those pinned here."""
    if read_notes(FILE).get("weights") != _PIN:
        return None
    return Trace.open(FILE)


def compute() -> Trace:
    """The same from the model itself."""
    from core.model.loading import load
    from core.model.running.tracing import trace_text

    return trace_text(load(MODEL), SENTENCE)


if __name__ == "__main__":
    compute().save(FILE, weights=_PIN)
