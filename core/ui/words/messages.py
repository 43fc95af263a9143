"""How pages report errors, limits and odd links."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from core.ui.words.numbers import in_a_row

if TYPE_CHECKING:
    from core.model import ModelError, Token, Trace

_SLOT, _BOX, _NOTICES = "_notice_slot", "_notice_box", "_notices"
_MAX_QUOTE = 60  # characters
_MAX_UNKNOWN = 5  # words that a message names
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~$:])")


def quote(text: str) -> str:
    """`text` as inline code, so that no Markdown, HTML, TeX or emoji code in it takes effect."""
    flat = " ".join(text.split()) or " "
    if len(flat) > _MAX_QUOTE:
        flat = flat[: _MAX_QUOTE - 1] + "…"
    ticks = max((len(run) for run in re.findall("`+", flat)), default=0)
    fence, gap = "`" * (ticks + 1), " " if ticks else ""
    return f"{fence}{gap}{flat}{gap}{fence}"


def escape(text: str) -> str:
    """`text` with every character that means something in Markdown escaped."""
    return _MARKDOWN.sub(r"\\\1", text)


def start_notices() -> None:
    """Forget the notices of the previous run, and where they stood."""
    st.session_state.pop(_SLOT, None)
    st.session_state.pop(_BOX, None)
    st.session_state[_NOTICES] = []


def place_notices() -> None:
    """Show the notices of this run here, earlier and later ones."""
    st.session_state[_SLOT] = st.container()
    _draw_notices()


def notice(text: str) -> None:
    """Point out something odd at the top of the page (Markdown; quote what people typed)."""
    st.session_state[_NOTICES].append(text)
    _draw_notices()


def _draw_notices() -> None:
    slot, texts = st.session_state.get(_SLOT), st.session_state[_NOTICES]
    if slot is None or not texts:
        return
    if _BOX not in st.session_state:
        st.session_state[_BOX] = slot.empty()
    bullet = "- " if len(texts) > 1 else ""
    st.session_state[_BOX].warning("\n".join(bullet + text for text in texts))


def show_model_error(error: ModelError) -> None:
    """What is wrong, and what to do."""
    problem = quote(error.name).join(escape(part) for part in error.problem.split("{name}"))
    st.error(f"{problem}\n\n{escape(error.advice)}")


def show_trace_limits(trace: Trace) -> None:
    """Say how much of the text was cut, which of its words are special tokens to the model, and
    which its vocabulary lacks.
    """
    text = "What the decoder reads" if trace.attention_type in {"decoder", "cross"} else "The text"
    cuts = []
    if trace.cut_characters:
        cuts.append(f"**the last {trace.cut_characters:,} characters were not read**")
    if trace.dropped:
        cuts.append(
            f"{trace.dropped:,} tokens before them were cut"
            if cuts
            else f"**{trace.dropped} tokens were cut**"
        )
    if cuts:
        st.info(
            f"{text} is longer than this page can show: the first {len(trace.tokens)} tokens are"
            f" shown, {', and '.join(cuts)}."
        )
    if typed := dict.fromkeys(quote(token.display) for token in trace.typed_specials):
        are, s = ("is", "") if len(typed) == 1 else ("are", "s")
        st.info(
            f"{', '.join(typed)} in your text {are} read as the model's own special token{s}, and"
            f" {are} hidden and counted with those the tokenizer adds. No second sentence begins"
            " there."
        )
    if trace.unknown_tokens:
        st.caption(_explain_unknown(trace.unknown_tokens))


def _explain_unknown(tokens: Sequence[Token]) -> str:
    """What the model sees of words that its vocabulary lacks (Markdown)."""
    typed = list(dict.fromkeys(quote(token.display) for token in tokens))
    shown, more = typed[:_MAX_UNKNOWN], len(typed) - _MAX_UNKNOWN
    names = in_a_row([*shown, f"{more} more"] if more > 0 else shown)
    is_, its = ("is", "its") if len(typed) == 1 else ("are", "their")
    return (
        f"{names} {is_} not in this model's vocabulary, so the model sees {quote(tokens[0].text)}"
        f" in {its} place."
    )
