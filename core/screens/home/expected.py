"""The model's predictions, words or classes: a section of Home."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from core.model import ModelError, Trace
from core.model.language import Guess, masked_words, next_words, text_classes
from core.ui import cache
from core.ui.cache import first_model
from core.ui.current import current_key
from core.ui.words.messages import quote, show_model_error
from core.ui.words.numbers import number
from core.ui.words.prose import Prose

_words = Prose(__file__)
_WIDTH = 400  # pixels, per table
_MAX_TABLES = 32  # kept, each of ten tokens, or five for each of eight masks: 10 kB

Probabilities = list[tuple[str, float]]  # a token or a class, and its probability


@st.cache_resource(max_entries=_MAX_TABLES, show_spinner="Asking the model what it expects …")
def _tables(model_name: str, text: str, pair: str | None) -> list[Probabilities]:
    """The likeliest next tokens, fillers of each mask, or classes; none without such a head."""
    model, longest = cache.model(model_name), cache.MAX_TOKENS
    if model.task == "next":
        return [_rows(next_words(model, text, pair, max_tokens=longest))]
    if model.task == "masked":
        return [_rows(each.guesses) for each in masked_words(model, text, pair, max_tokens=longest)]
    return [text_classes(model, text, pair, max_tokens=longest)] if model.labels else []


def _rows(guesses: Sequence[Guess]) -> Probabilities:
    return [
        (
            f"…{each.display.removeprefix('##')}" if each.continues else each.display,
            each.probability,
        )
        for each in guesses
    ]


def show_expected(trace: Trace) -> None:
    """Draw the section for the model on screen; nothing if it has no output head for this."""
    first_model.when_loaded(partial(_show_expected, trace))


def _show_expected(trace: Trace) -> None:
    model = cache.model(trace.model)
    try:
        tables = _tables(*current_key(model.name)[:3])
    except ModelError as error:
        show_model_error(error)
        return
    if model.task == "next":
        st.header("What the model expects next", anchor=False)
        _draw("token", tables)
        st.caption(_words("next"))
    elif model.task == "masked":
        mask = quote(str(model.tokenizer.mask_token))
        st.header(f"What stands under {mask}", anchor=False)
        _draw("token", tables)
        st.caption(_words("masks", mask=mask))
    elif tables:
        st.header("Which class the model picks", anchor=False)
        (rows,) = tables
        if len(rows) > 1:
            _draw("class", tables)
        else:
            st.markdown(f"{quote(rows[0][0])}: **{number(rows[0][1], '.3g')}**")


def _draw(column: str, tables: Sequence[Probabilities]) -> None:
    bar = st.column_config.ProgressColumn(format="percent", min_value=0.0, max_value=1.0)
    with st.container(horizontal=True):
        for place, rows in enumerate(tables):
            names, probabilities = zip(*rows, strict=True)
            st.dataframe(
                {column: names, "probability": probabilities},
                column_config={"probability": bar},
                hide_index=True,
                width=_WIDTH,
                key=f"home_expected_{place}",
            )
