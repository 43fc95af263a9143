"""How errors, limits and odd links are told to a person."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import streamlit as st

if TYPE_CHECKING:
    from core.model import ModelError, Trace

_NOTICES = "_notices"
_LONGEST_QUOTE = 60  # characters


def quote(text: str) -> str:
    """`text` as inline code, so that no Markdown, HTML, TeX or emoji code in it takes effect."""
    flat = " ".join(text.split()) or " "
    if len(flat) > _LONGEST_QUOTE:
        flat = flat[: _LONGEST_QUOTE - 1] + "…"
    ticks = max((len(run) for run in re.findall("`+", flat)), default=0)
    fence = "`" * (ticks + 1)
    gap = " " if ticks else ""
    return f"{fence}{gap}{flat}{gap}{fence}"


def plain(text: str) -> str:
    """A sentence with values in Python quotes, those set as inline code."""
    return re.sub(r"'([^']*)'", lambda found: quote(found[1]), text)


def notice(text: str) -> None:
    """Remember something to tell at the top of the page (Markdown; quote what people typed)."""
    st.session_state.setdefault(_NOTICES, []).append(text)


def show_notices() -> None:
    """Tell what was remembered, once."""
    for text in st.session_state.pop(_NOTICES, []):
        st.warning(text)


def show_model_error(error: ModelError) -> None:
    """What was found, and the way out."""
    st.error(f"{plain(error.found)}\n\n{plain(error.way_out)}")


def show_trace_limits(trace: Trace) -> None:
    """Say how many tokens were cut, if any."""
    if trace.dropped:
        kept = len(trace.tokens)
        st.info(
            f"The text is longer than this model takes: the first {kept} tokens are shown,"
            f" **{trace.dropped} tokens were cut**."
        )
