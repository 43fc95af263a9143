"""The switch that hides special tokens, as pages label it."""

from __future__ import annotations

from core.model.trace import Trace


def hide_special(trace: Trace) -> str:
    """The label of the switch; "" where there are none to hide."""
    names = trace.input.specials
    return f"Hide {names}" if names else ""
