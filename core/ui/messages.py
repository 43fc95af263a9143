"""How errors, limits and odd links are told to a person."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import streamlit as st

if TYPE_CHECKING:
    from core.model import ModelError, Trace

_SLOT, _BOX, _NOTICES = "_notice_slot", "_notice_box", "_notices"
_LONGEST_QUOTE = 60  # characters
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~$:])")


def quote(text: str) -> str:
    """`text` as inline code, so that no Markdown, HTML, TeX or emoji code in it takes effect."""
    flat = " ".join(text.split()) or " "
    if len(flat) > _LONGEST_QUOTE:
        flat = flat[: _LONGEST_QUOTE - 1] + "…"
    ticks = max((len(run) for run in re.findall("`+", flat)), default=0)
    fence = "`" * (ticks + 1)
    gap = " " if ticks else ""
    return f"{fence}{gap}{flat}{gap}{fence}"


def escape(text: str) -> str:
    """`text` with every character that Markdown gives a meaning to escaped."""
    return _MARKDOWN.sub(r"\\\1", text)


def start_notices() -> None:
    """Forget what the run before said, and where."""
    st.session_state.pop(_SLOT, None)
    st.session_state.pop(_BOX, None)
    st.session_state[_NOTICES] = []


def place_notices() -> None:
    """Notices of this run appear here: those that were waiting, and those to come."""
    st.session_state[_SLOT] = st.container()
    _draw_notices()


def notice(text: str) -> None:
    """Tell something odd at the top of the page (Markdown; quote what people typed)."""
    st.session_state[_NOTICES].append(text)
    _draw_notices()


def _draw_notices() -> None:
    slot, texts = st.session_state.get(_SLOT), st.session_state[_NOTICES]
    if slot is None or not texts:
        return
    if _BOX not in st.session_state:
        st.session_state[_BOX] = slot.empty()
    st.session_state[_BOX].warning(
        texts[0] if len(texts) == 1 else "\n".join(f"- {text}" for text in texts)
    )


def show_model_error(error: ModelError) -> None:
    """What was found, and the way out."""
    before, *after = error.problem.split("{name}")
    found = quote(error.name).join(escape(part) for part in (before, *after))
    st.error(f"{found}\n\n{escape(error.advice)}")


def show_trace_limits(trace: Trace) -> None:
    """Say what of the text was cut, and what in it the model reads as its own special tokens."""
    if cut := _what_was_cut(trace):
        st.info(
            f"The text is longer than this page takes: the first {len(trace.tokens)} tokens are"
            f" shown, {cut}."
        )
    if typed := dict.fromkeys(quote(each.display) for each in trace.typed_specials):
        one = len(typed) == 1
        st.info(
            f"{', '.join(typed)} in your text {'is' if one else 'are'} read as the model's own"
            f" special token{'' if one else 's'}, and {'is' if one else 'are'} hidden and counted"
            " with those that the tokenizer adds. No second sentence begins there."
        )


def _what_was_cut(trace: Trace) -> str:
    """How many tokens, or how many characters before they were tokens, were cut; "" if none."""
    if trace.cut_characters:
        cut = f"**the last {trace.cut_characters:,} characters were not read**"
        return cut + (
            f", and {trace.dropped:,} tokens before them were cut" if trace.dropped else ""
        )
    return f"**{trace.dropped} tokens were cut**" if trace.dropped else ""
