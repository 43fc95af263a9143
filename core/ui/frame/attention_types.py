"""The attention type shown for an encoder-decoder, and what its decoder reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import streamlit as st

from core.model.trace import AttentionType
from core.ui import controls
from core.ui.words.messages import quote
from core.ui.words.prose import Prose

if TYPE_CHECKING:
    from core.model import LoadedModel, Trace
    from core.model.text.languages import Languages

NAMES: dict[AttentionType, str] = {
    "encoder": "Encoder",
    "decoder": "Decoder",
    "cross": "Cross attention",
}
_LANGUAGES = ("from_language", "to_language")
_MAX_SHOWN = 12  # words of an answer that the page quotes
_words = Prose(__file__)


def choose_attention(model: LoadedModel, *, cross: bool) -> None:
    """Draw the choice of a type, with or without `cross`, and the box for the decoder's text."""
    offered = {
        attention_type: NAMES[attention_type]
        for attention_type in model.attention
        if cross or attention_type != "cross"
    }
    if st.session_state.get("attention") == "cross" and not cross:  # from another page
        st.info("This page shows tokens that attend to one another, so not cross attention.")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        attention_type = controls.choice(
            "attention",
            offered,
            "Attention",
            subject="On this page the kinds of attention are",
        )
        answers = "the model's own answer" if model.task == "answer" else "its start token alone"
        controls.text(
            "decoder",
            "",
            "" if attention_type == "encoder" else "The decoder reads",
            height="content",
            column=420,
            placeholder=f"Empty: {answers}",
        )
        _choose_languages(model, decodes=attention_type != "encoder")


def _choose_languages(model: LoadedModel, *, decodes: bool) -> None:
    """Draw the menus for a translator's languages; none for any other model."""
    from core.model.text.languages import codes, own_languages

    if (own := own_languages(model)) is None:
        return
    for key, label, default in zip(_LANGUAGES, ("From", "To" if decodes else ""), own, strict=True):
        controls.choice(
            key,
            codes(model),
            label,
            subject="The languages of this model are",
            default=default,
            menu=True,
            width=130,
        )


def chosen() -> tuple[str | None, AttentionType, Languages | None]:
    """The decoder's text, the attention type shown, and a translator's languages.

    For the encoder's self-attention the text is None; else None means the model's own answer.
    """
    attention_type = cast("AttentionType", st.session_state["attention"])
    target = None if attention_type == "encoder" else st.session_state["decoder"].strip() or None
    if not set(_LANGUAGES) <= set(controls.declared()):
        return target, attention_type, None
    source, target_language = (st.session_state[key] for key in _LANGUAGES)
    return target, attention_type, (source, target_language)


def explain_attention(trace: Trace) -> None:
    """Say in one line who attends to whom, and whose words the decoder reads."""
    from core.model.encoder_decoder import MAX_ANSWER

    words_read = [token.display for token in trace.tokens[1:] if not token.special]
    more = " …" if len(words_read) > _MAX_SHOWN else ""
    words = _words(
        "who_attends",
        type=trace.attention_type,
        origin=trace.origin,
        text=quote(" ".join(words_read[:_MAX_SHOWN]) + more),
        longest=MAX_ANSWER,
    )
    st.caption(words)


def note_corpus(model: LoadedModel) -> None:
    """Say which part of an encoder-decoder reads the texts of a corpus."""
    if model.is_encoder_decoder:
        st.caption("Texts of a corpus go through the encoder alone: this is its attention.")
