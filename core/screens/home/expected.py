"""What the model expects to read, or the class of what it read: a section of Home."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from core.figures.guesses import GuessBar, guess_bars
from core.figures.palette import Palette
from core.model import ModelError, Token, Trace
from core.model.language import Guess, Masked, masked_words, next_words, text_classes
from core.ui import cache, python
from core.ui.cache import first_model
from core.ui.charts import show_chart
from core.ui.current import current_key
from core.ui.words.messages import quote, show_model_error
from core.ui.words.numbers import number
from core.ui.words.prose import Prose
from core.vocabulary import percent

if TYPE_CHECKING:
    from core.model import LoadedModel

_words = Prose(__file__)
_NEXT, _MASK_WIDTH = 480, 400  # pixels, of the bars for the next word and for one mask
_NEIGHBOURS = 3  # words shown on either side of a mask
_MAX_GUESSES = 32  # kept of each: ten tokens, or five for each of eight masks: 10 kB


@st.cache_resource(max_entries=_MAX_GUESSES, show_spinner="Asking the model what comes next …")
def _next_words(model_name: str, text: str, pair: str | None) -> tuple[Guess, ...]:
    return next_words(cache.model(model_name), text, pair, max_tokens=cache.MAX_TOKENS)


@st.cache_resource(max_entries=_MAX_GUESSES, show_spinner="Asking the model about each mask …")
def _masked_words(model_name: str, text: str, pair: str | None) -> tuple[Masked, ...]:
    return masked_words(cache.model(model_name), text, pair, max_tokens=cache.MAX_TOKENS)


@st.cache_resource(max_entries=_MAX_GUESSES, show_spinner="Asking the model for the class …")
def _classes(model_name: str, text: str, pair: str | None) -> list[tuple[str, float]]:
    return text_classes(cache.model(model_name), text, pair, max_tokens=cache.MAX_TOKENS)


def show_expected(trace: Trace, colours: Palette) -> None:
    """Draw the section for the model on screen; nothing for one without a fitting head."""
    first_model.when_here(partial(_show_expected, trace, colours))


def _show_expected(trace: Trace, colours: Palette) -> None:
    model = cache.model(trace.model)
    try:
        if model.task == "next":
            _show_next(model, trace, colours)
        elif model.task == "masked":
            _show_masked(model, trace, colours)
        elif model.labels:
            _show_class(model)
    except ModelError as error:
        show_model_error(error)


def _show_next(model: LoadedModel, trace: Trace, colours: Palette) -> None:
    st.header("What the model expects next", anchor=False)
    typed = current_key(model.name)[:3]
    guesses = python.made(
        "guesses",
        _next_words(*typed),
        python.call(next_words, python.MODEL, *typed[1:], max_tokens=cache.MAX_TOKENS),
    )
    st.markdown(
        _words(
            "next",
            last=quote(_last_word(trace.tokens)),
            cut=trace.dropped or trace.cut_characters,
            guess=quote(_label(guesses[0])),
            probability=percent(guesses[0].probability),
        )
    )
    _draw(guesses, colours, key="home_next", width=_NEXT)
    together = percent(sum(guess.probability for guess in guesses))
    pieces = any(guess.continues for guess in guesses)
    st.caption(_words("likeliest", count=len(guesses), together=together, pieces=pieces))


def _show_class(model: LoadedModel) -> None:
    st.header("Which class the model picks", anchor=False)
    typed = current_key(model.name)[:3]
    classes = python.made(
        "classes",
        _classes(*typed),
        python.call(text_classes, python.MODEL, *typed[1:], max_tokens=cache.MAX_TOKENS),
    )
    name, value = classes[0]
    alone = len(model.labels) == 1
    chance = "" if alone else percent(value)
    st.markdown(_words("class", name=quote(name), chance=chance, value=number(value, ".3g")))
    if alone:
        return
    names, chances = zip(*classes, strict=True)
    bar = st.column_config.ProgressColumn(format="percent", min_value=0.0, max_value=1.0)
    st.dataframe(
        {"class": names, "probability": chances},
        column_config={"probability": bar},
        hide_index=True,
        width=_NEXT,
        key="home_class",
    )
    st.caption(_words("classes", shown=len(classes), classes=len(model.labels)))


def _show_masked(model: LoadedModel, trace: Trace, colours: Palette) -> None:
    mask = str(model.tokenizer.mask_token)
    st.header(f"What stands under {quote(mask)}", anchor=False)
    masks = [token for token in trace.tokens if token.text == mask]
    if not masks:
        _offer_mask(trace, mask)
        return
    typed = current_key(model.name)[:3]
    found = python.made(
        "masks",
        _masked_words(*typed),
        python.call(masked_words, python.MODEL, *typed[1:], max_tokens=cache.MAX_TOKENS),
    )
    with st.container(horizontal=True):
        for each in found:
            with st.container(width=_MASK_WIDTH):
                st.markdown(_around(trace.tokens[each.position]))
                key = f"home_mask_{each.position}"
                _draw(each.guesses, colours, key=key, width=_MASK_WIDTH)
    pieces = any(guess.continues for each in found for guess in each.guesses)
    st.caption(_words("masks", masks=len(masks), shown=len(found), pieces=pieces))


def _offer_mask(trace: Trace, mask: str) -> None:
    """Say what may be typed, with a button that does it to the longest word."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(_words("type_mask", mask=quote(mask)), width="content")
        if (hidden := _longest_word(trace.tokens)) is None:
            return
        start, end = hidden
        text = st.session_state["text"]
        st.button(
            f"Hide {quote(text[start:end])}",
            key="home_hide_word",
            on_click=st.session_state.update,
            kwargs={"text": text[:start] + mask + text[end:]},
        )


def _longest_word(tokens: Sequence[Token]) -> tuple[int, int] | None:
    """First character of the longest word of the first text, and the one after its last."""
    spans = _spans_of_words([token for token in tokens if token.segment == 0])
    return max(spans, key=lambda span: span[1] - span[0], default=None)


def _last_word(tokens: Sequence[Token]) -> str:
    """The last word as it was typed, or as much of it as was not cut; or the last special token."""
    last = next(token for token in reversed(tokens) if not token.special or token.span[1])
    if last.special:
        return last.display
    start, end = _spans_of_words([token for token in tokens if token.segment == last.segment])[-1]
    return _typed(last.segment)[start:end]


def _spans_of_words(tokens: Sequence[Token]) -> list[tuple[int, int]]:
    """Of each word of one text, its first character and the one after its last."""
    words: dict[int, tuple[int, int]] = {}
    for token in tokens:
        if token.word >= 0:
            start, end = words.get(token.word, token.span)
            words[token.word] = min(start, token.span[0]), max(end, token.span[1])
    return list(words.values())


def _typed(segment: int) -> str:
    text: str = st.session_state["pair" if segment else "text"]
    return text


def _around(mask: Token) -> str:
    """A mask and the words beside it (Markdown)."""
    text, (start, end) = _typed(mask.segment), mask.span
    before, after = text[:start].split()[-_NEIGHBOURS:], text[end:].split()[:_NEIGHBOURS]
    return " **?** ".join(quote(" ".join(side)) if side else "" for side in (before, after))


def _draw(guesses: Sequence[Guess], colours: Palette, *, key: str, width: int) -> None:
    bars = [GuessBar(_label(guess), guess.text, guess.id, guess.probability) for guess in guesses]
    figure = guess_bars(bars, colours)
    show_chart(figure, key=key, quiet=True, width=width, alt="The likeliest tokens")


def _label(guess: Guess) -> str:
    return f"…{guess.display.removeprefix('##')}" if guess.continues else guess.display
