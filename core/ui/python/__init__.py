"""The code under Share: the calls that the page made."""

from core.ui.python.calls import (
    MODEL,
    TRACE,
    Call,
    Constant,
    Each,
    Variable,
    call,
    each_of,
    item,
    kept,
    later,
    made,
    recording,
    shown,
)

__all__ = [
    "MODEL",
    "TRACE",
    "Call",
    "Constant",
    "Each",
    "Variable",
    "call",
    "each_of",
    "item",
    "kept",
    "later",
    "made",
    "recording",
    "shown",
]
