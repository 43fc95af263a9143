"""Would you be fooled? One head of the model and of its untrained twin, unnamed."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import streamlit as st

from core.analysis.attention_table import attention_table
from core.analysis.effect import FALSE_DISCOVERY, effect_table
from core.analysis.effect.corpus import EFFECT, thresholds_table
from core.analysis.head_patterns import pattern_table
from core.analysis.head_patterns.minimum_evidence import MIN_TOKENS, too_short
from core.analysis.head_patterns.table import withhold_names
from core.analysis.images.patch_scores import patches_of
from core.figures.effect import unnamed_picture
from core.figures.palette import Palette, palette
from core.model import Trace, effects, trace_patches, trace_text, untrained_twin
from core.model.interventions.heads import DRAWS
from core.model.interventions.measures import measures_of
from core.model.memory import return_freed_memory
from core.model.running.twin import TWIN_SEED
from core.screens.effect import input as reading
from core.screens.effect.input import Asked, limits, source_of
from core.screens.effect.measuring import measured_effects
from core.ui import cache, controls, python
from core.ui.cache import TraceKey
from core.ui.charts import show_chart
from core.ui.corpus_walk import show_unread
from core.ui.current import current_key
from core.ui.downloads import contents, offer_csv
from core.ui.navigation import ask
from core.ui.serve.once import room_for_twin
from core.ui.words.pattern_words import pattern_names
from core.ui.words.prose import Prose
from core.vocabulary import head_name, labels_of, percent

if TYPE_CHECKING:
    import pandas as pd

MAX_RIDDLES = 9_999
SIDES = ("left", "right")
_GUESSES = "_effect_guesses"  # of this session
_words = Prose(__file__)


class Riddle(NamedTuple):
    """What was on the screen, and the number that draws the head and the sides."""

    key: TraceKey
    number: int


Guesses = dict[Riddle, bool]  # whether the first guess was right


def show_fooled(trace: Trace) -> None:
    """The riddle, what was guessed, and how many heads of both pass each threshold."""
    riddle = controls.number("riddle", 1, MAX_RIDDLES, 1)
    if show_unread(trace, "A sentence that both read"):
        return
    key = current_key(trace.model)
    trained, untrained = _traces(key)
    layer, head, side = _drawn(trained, riddle)
    guesses: Guesses = st.session_state.setdefault(_GUESSES, {})
    asked = Riddle(key, riddle)
    _show_question(head_name(trained, layer, head), side, guesses, asked)
    colours = palette(st.context.theme.type)
    for place, column in enumerate(st.columns(2)):
        with column:
            _show_side(asked, place, side, guesses)
            shown = trained if place == side else untrained
            _show_picture(shown, (layer, head), SIDES[place], asked in guesses, colours)
    tokens, read = len(trace.tokens), len(trained.tokens)
    st.caption(_words("twin", seed=TWIN_SEED, cut=read < tokens, most=read, tokens=tokens))
    _show_thresholds(key, trained, untrained)


def _drawn(trace: Trace, riddle: int) -> tuple[int, int, int]:
    """The riddle's layer and head, and the place of the trained model, all from 0."""
    generator = np.random.default_rng(riddle)
    layer, head, side = (int(generator.integers(count)) for count in (*trace.shape[:2], 2))
    return layer, head, side


@st.cache_resource(
    max_entries=cache.MAX_IMAGES, show_spinner="Running it through the untrained twin too …"
)
def _traces(key: TraceKey) -> tuple[Trace, Trace]:
    """What the model and its untrained twin attend to."""
    model = cache.model(key.model, key.modality)
    try:
        with room_for_twin:
            twin = untrained_twin(model)
            if key.image is not None:
                trace = cache.trace(*key)
                return trace, trace_patches(twin, patches_of(trace))
            first, second = (
                trace_text(each, key.text, key.pair, reading.MAX_TOKENS, decode=False)
                for each in (model, twin)
            )
            return first, second
    finally:
        return_freed_memory()  # the twin is as large as the model


def _show_question(head: str, side: int, guesses: Guesses, asked: Riddle) -> None:
    if asked not in guesses:
        ask(_words("which", head=head, shown=asked.key.modality))
        return
    right, total = sum(guesses.values()), len(guesses)
    ask(_words("solved", right=guesses[asked], side=SIDES[side], of=right, total=total))


def _show_side(asked: Riddle, place: int, side: int, guesses: Guesses) -> None:
    """Above a picture: a button to guess, and then what it is of; on the right, the next riddle."""
    name, right = SIDES[place], place == side
    with st.container(horizontal=True, vertical_alignment="center"):
        told = asked in guesses
        label = _words("named", side=name, trained=right) if told else _words("guess", side=name)
        key = f"effect_guess_{name}"
        st.button(label, key=key, disabled=told, on_click=_guess, args=(asked, right))
        if place == 1:
            another = partial(controls.pick, riddle=asked.number % MAX_RIDDLES + 1)
            st.button(_words("another"), key="effect_another", on_click=another)


def _guess(asked: Riddle, right: bool) -> None:
    """Keep the first guess."""
    st.session_state[_GUESSES].setdefault(asked, right)


def _show_picture(
    trace: Trace, place: tuple[int, int], side: str, numbers: bool, colours: Palette
) -> None:
    values, where = attention_table(trace, *place).shown, head_name(trace, *place)
    figure = unnamed_picture(values, labels_of(trace.tokens), where, colours, numbers=numbers)
    show_chart(figure, key=f"effect_riddle_{side}", alt=f"{where}, {side}", part=side, quiet=True)


def _show_thresholds(key: TraceKey, trained: Trace, untrained: Trace) -> None:
    """How many heads of both pass each threshold, as a table and a file."""
    table = _thresholds(key, trained, untrained)
    beyond = _words("beyond_directions", draws=DRAWS, rate=percent(FALSE_DISCOVERY))
    names = {**pattern_names(trained), EFFECT: beyond}
    short = too_short(len(trained.tokens))
    st.markdown(_words("thresholds", shown=key.modality, short=short, least=MIN_TOKENS))
    lines = ["| threshold | trained | untrained |", "|:--|--:|--:|"]
    for row in table.to_dict("records"):
        if row["trained"] or row["untrained"] or row["threshold"] == EFFECT:
            of = f"of {row['heads']}"
            counts = f"{row['trained']} {of} | {row['untrained']} {of}"
            lines.append(f"| {names[row['threshold']]} | {counts} |")
    st.markdown("\n".join(lines))
    held = contents("effect", trained.model, "fooled")
    offer_csv(table.copy, held, index=False)


def _thresholds(key: TraceKey, trained: Trace, untrained: Trace) -> pd.DataFrame:
    twin = python.Variable("twin")
    python.made(twin.name, None, python.call(untrained_twin, python.MODEL))
    first = _judged(key, "trained", python.MODEL, trained)
    second = _judged(key, "untrained", twin, untrained)
    return python.shown("table", thresholds_table, first, second)


def _judged(
    key: TraceKey, name: str, model: python.Variable, trace: Trace
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The pattern table and the effect table of one of the two, on what is on the screen."""
    given, measure = source_of(key), measures_of(cache.model(key.model, key.modality))[0]
    if key.image is None:
        seen = python.call(trace_text, model, given, key.pair, reading.MAX_TOKENS, decode=False)
    else:
        patches = python.call(getattr, python.TRACE, "patches")
        seen = python.call(trace_patches, model, patches)
    python.made(name, trace, seen)
    found = measured_effects(key, "mean", Asked(measure), untrained=name == "untrained")
    call = python.call(effects, model, given, "mean", measure, **limits(key))
    python.made(f"{name}_found", found, call)
    table = python.shown(f"{name}_patterns", pattern_table, trace)
    if too_short(len(trace.tokens)):
        table = python.shown(f"{name}_patterns", withhold_names, table)
    return table, python.shown(f"{name}_effects", effect_table, trace, found)
