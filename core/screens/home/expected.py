"""The model's predictions, words or classes: a section of Home."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.model import LoadedModel, ModelError, Trace
from core.model import language as lm
from core.ui import cache, controls
from core.ui.cache import first_model
from core.ui.current import current_key
from core.ui.words.messages import quote, show_model_error
from core.ui.words.numbers import number
from core.ui.words.prose import Prose

_words = Prose(__file__)
_WIDTH = 400  # pixels, per table
_MAX_TABLES = 32  # kept, each of ten tokens, or five for each of eight masks: 10 kB
_SPINNER = "Asking the model what it expects …"
_BROKEN = "\N{REPLACEMENT CHARACTER}"  # in what some bytes of a character decode to


@st.cache_resource(max_entries=_MAX_TABLES, show_spinner=_SPINNER)
def _guesses(model: str, text: str, pair: str | None, temperature: float) -> list[lm.Masked]:
    """The likeliest fillers of each mask, or the likeliest next tokens at the end."""
    own, limits = cache.model(model), (cache.MAX_TOKENS, temperature)
    if own.task == "masked":
        return list(lm.masked_words(own, text, pair, 5, *limits))
    end = lm.length_to_continue(cache.trace(model, text, pair).tokens)
    return [lm.Masked(end, lm.next_words(own, text, pair, 10, *limits))]


@st.cache_resource(max_entries=_MAX_TABLES, show_spinner=_SPINNER)
def _classes(model: str, text: str, pair: str | None) -> list[tuple[str, float]]:
    """The likeliest classes and their probabilities; none without a head for them."""
    own = cache.model(model)
    return lm.text_classes(own, text, pair, max_tokens=cache.MAX_TOKENS) if own.labels else []


def show_expected(trace: Trace) -> None:
    """Draw the section for the model on screen; nothing if it has no output head for this."""
    first_model.when_loaded(partial(_show_expected, trace))


def _show_expected(trace: Trace) -> None:
    model = cache.model(trace.model)
    try:
        if model.task in {"next", "masked"}:
            _show_guesses(trace, model)
        elif classes := _classes(*current_key(model.name)[:3]):
            _show_classes(classes)
    except ModelError as error:
        show_model_error(error)


def _show_guesses(trace: Trace, model: LoadedModel) -> None:
    is_next, mask = model.task == "next", quote(str(model.tokenizer.mask_token))
    title = "What the model expects next" if is_next else f"What stands under {mask}"
    st.header(title, anchor=False)
    temperature = controls.number(
        "temperature", 0.1, 2.0, 1.0, "Temperature", slider=True, optional=True, width=_WIDTH
    )
    with st.container(horizontal=True):
        for place, spot in enumerate(_guesses(*current_key(model.name)[:3], temperature)):
            _draw_guesses(trace, model, spot, f"home_guess_{place}")
    st.caption(_words("next") if is_next else _words("masks", mask=mask))


def _draw_guesses(trace: Trace, model: LoadedModel, spot: lm.Masked, key: str) -> None:
    """A button for each guess, on a bar as long as its probability, which writes it."""
    bars, press = "", partial(st.button, on_click=controls.pick, width="stretch")
    with st.container(width=_WIDTH, gap="xxsmall"):
        for rank, guess in enumerate(spot.guesses):
            name = f"…{guess.display.removeprefix('##')}" if guess.continues else guess.display
            percent = f"{100 * guess.probability:.1f}"
            written = _written(trace, model, spot.position, guess)
            label = f"{quote(name)} {percent}\N{NO-BREAK SPACE}%"
            press(label, key=f"{key}_{rank}", disabled=not written, kwargs=written)
            bars += f".st-key-{key}_{rank} {{ --share: {percent}% }}\n"
    st.html(f"<style>{bars}</style>")


def _written(trace: Trace, model: LoadedModel, position: int, guess: lm.Guess) -> dict[str, str]:
    """The text or the second one, by its control, with a guess at this position.

    A mask there gives way. Empty for a part of a character, and where the text was cut.
    """
    key, before = current_key(model.name), trace.tokens[position - 1]
    alone, both = map(model.tokenizer.decode, ([before.id], [before.id, guess.id]))
    piece = both.removeprefix(alone)
    is_cut = trace.dropped > 0 or trace.cut_characters > 0
    if is_cut or not (guess.text and piece and both.startswith(alone)) or _BROKEN in piece:
        return {}
    spot = before if model.task == "next" else trace.tokens[position]
    field, text = (("text", key.text), ("pair", key.pair or ""))[spot.segment]
    start, end = (len(text), len(text)) if spot is before else spot.span
    if not piece.startswith(" "):  # it continues the word before
        start = min(start, before.span[1])
    elif start == 0 or text[start - 1].isspace():
        piece = piece[1:]
    return {field: f"{text[:start]}{piece}{text[end:]}"}


def _show_classes(classes: list[tuple[str, float]]) -> None:
    st.header("Which class the model picks", anchor=False)
    names, probabilities = zip(*classes, strict=True)
    if len(names) == 1:
        st.markdown(f"{quote(names[0])}: **{number(probabilities[0], '.3g')}**")
        return
    bar = st.column_config.ProgressColumn(format="percent", min_value=0.0, max_value=1.0)
    rows = {"class": names, "probability": probabilities}
    st.dataframe(rows, column_config={"probability": bar}, hide_index=True, width=_WIDTH)
