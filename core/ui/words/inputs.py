"""What pages call the text or image that is shown, where a sentence names it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.model import Trace


def input_word(trace: Trace) -> str:
    """Either "text" or "image"."""
    return "text" if trace.patches is None else "image"


def this_input(trace: Trace) -> str:
    """Either "this text" or "this image"."""
    return f"this {input_word(trace)}"


def your_input(trace: Trace) -> str:
    """Either "your text", or "this image", which may be one of the box."""
    return "your text" if trace.patches is None else "this image"


def special_tokens(trace: Trace) -> str:
    """What the tokens are called that are no word and no patch; "" where there are none."""
    if trace.patches is None:
        return "special tokens"
    return "CLS and registers" if trace.patches.first > 1 else "CLS" * trace.patches.first


def hide_special(trace: Trace) -> str:
    """The label of the switch that hides special tokens; "" where there are none to hide."""
    names = special_tokens(trace)
    return f"Hide {names}" if names else ""
