"""How pages report errors, limits and bad links."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NoReturn

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.model.errors import ModelError
from core.model.opening.catalog import find_entry
from core.model.trace import Trace
from core.ui.words.numbers import in_a_row
from core.ui.words.prose import Prose

if TYPE_CHECKING:
    from core.model import LoadedModel

_SLOT, _BOX, _NOTICES = "_notice_slot", "_notice_box", "_notices"
_KEPT = "_kept_notices"
_MAX_QUOTE = 60  # characters
_MAX_UNKNOWN = 5  # words that a message lists
_words = Prose(__file__)
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~$:])")


def quote(text: str) -> str:
    """`text` as inline code, so that Markdown, HTML, TeX or emoji codes in it have no effect."""
    flat = " ".join(text.split()) or " "
    if len(flat) > _MAX_QUOTE:
        flat = flat[: _MAX_QUOTE - 1] + "…"
    ticks = max((len(run) for run in re.findall("`+", flat)), default=0)
    fence, gap = "`" * (ticks + 1), " " if ticks else ""
    return f"{fence}{gap}{flat}{gap}{fence}"


def escape(text: str) -> str:
    """`text` with every character that is special in Markdown escaped."""
    return _MARKDOWN.sub(r"\\\1", text)


def start_notices() -> None:
    """Forget the previous run's notices, except those it kept, and their place."""
    st.session_state.pop(_SLOT, None)
    st.session_state.pop(_BOX, None)
    st.session_state[_NOTICES] = st.session_state.pop(_KEPT, [])


def run_again() -> NoReturn:
    """Rerun the page but keep this run's notices: only the first run reads the link."""
    st.session_state[_KEPT] = st.session_state[_NOTICES]
    st.rerun()


def place_notices() -> None:
    """Show the notices of this run here, earlier and later ones."""
    st.session_state[_SLOT] = st.container()
    _draw_notices()


def above_page() -> DeltaGenerator:
    """The place for what may appear above a page: notices, a loading model, limits.

    With it, all below keeps its position in Streamlit's tree. When positions change between runs,
    the browser redraws widgets, and sends the values that they had before a pick.
    """
    place: DeltaGenerator = st.session_state[_SLOT]
    return place


def notice(text: str) -> None:
    """Show a note at the top of the page (Markdown; quote what people typed)."""
    if text not in st.session_state[_NOTICES]:
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
    """Show what is wrong, and what to do."""
    st.error("\n\n".join(explain_error(error)))


def explain_error(error: ModelError) -> tuple[str, str]:
    """What is wrong, and what to do (Markdown)."""
    problem = quote(error.name).join(map(escape, error.problem.split("{name}")))
    return problem, escape(error.advice)


def show_stand_in(error: ModelError, model: LoadedModel) -> None:
    """Say that another model is shown than the requested one, why, and how to get that one."""
    spec, (problem, advice) = find_entry(model.name), explain_error(error)
    st.warning(
        _words(
            "stands_in",
            title=escape(model.name if spec is None else re.split(r"[(,]", spec.title)[0].strip()),
            layers=model.layers,
            heads=model.heads,
            asked=quote(error.name),
            problem=problem,
            advice=advice,
        )
    )


def show_trace_limits(trace: Trace) -> None:
    """Say how much of the text was cut, which of its words are special tokens for the model, and
    which ones its vocabulary lacks.
    """
    if trace.cut_characters or trace.dropped:
        words = _words(
            "text_was_cut",
            decoder=trace.attention_type in {"decoder", "cross"},
            shown=len(trace.tokens),
            characters=trace.cut_characters,
            tokens=trace.dropped,
        )
        st.info(words)
    # Special tokens of the tokenizer's template have no span.
    specials = [token for token in trace.tokens if token.special and token.span[0] < token.span[1]]
    if typed := dict.fromkeys(quote(token.display) for token in specials):
        st.info(_words("typed_specials", names=", ".join(typed)))
    if tokens := [token for token in trace.tokens if token.unknown]:
        unknown = list(dict.fromkeys(quote(token.display) for token in tokens))
        first, more = unknown[:_MAX_UNKNOWN], len(unknown) - _MAX_UNKNOWN
        names = in_a_row([*first, f"{more} more"] if more > 0 else first)
        st.caption(_words("unknown_words", names=names, seen=quote(tokens[0].text)))
