"""The effects of all heads, measured under a bar in steps and kept, and of one head in three ways.

First what replacing each head changes; then fresh random directions of the largest few, for the
headline; then some of every head, for the map.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import streamlit as st

from core.analysis.effect import effect_table, leading_heads, leading_table
from core.analysis.head_patterns import pattern_table
from core.analysis.head_patterns.minimum_evidence import too_short
from core.analysis.head_patterns.table import withhold_names
from core.model import Trace
from core.model.interventions.heads import (
    DRAWS,
    FRESH_DRAWS,
    FRESH_SEED,
    SINGLE_DRAWS,
    Effects,
    Replace,
)
from core.model.interventions.measures import MEASURES, UNITS, Measure, measures_of
from core.screens.effect import input as given
from core.screens.effect.input import limits, model_of, text_of
from core.screens.effect.writing import direct_of
from core.ui import cache, controls
from core.ui.cache import TraceKey
from core.ui.corpus_walk import measure_once
from core.ui.head_tables import HeadTable
from core.ui.serve.once import Shared
from core.ui.serve.progress import Bar
from core.ui.words.effects import MEASURED, replacements_of
from core.ui.words.messages import quote
from core.ui.words.prose import Prose

if TYPE_CHECKING:
    import pandas as pd

    from core.model.interventions.ablation import AblationResult

Step = Literal["values", "fresh", "map"]
_MAX_KEPT = 64  # of a few dozen numbers a head: 40 kB
_STOPPED = "_effects_stopped"
_DOES: dict[Step, str] = {
    "values": "Replacing every head",
    "fresh": "Random directions of the largest",
    "map": "Random directions of every head",
}
_words = Prose(__file__)


@st.cache_resource(max_entries=_MAX_KEPT, show_spinner=False)
def _place(key: TraceKey, replace: Replace, measure: Measure, step: Step) -> Shared[list[Effects]]:
    """A place for what was measured, shared by all visitors; empty until a run has finished.

    Of the text that the page begins with, what comes with the app.
    """
    shipped = shipped_effects(key, replace, measure, step)
    return Shared([] if shipped is None else [shipped])


def shipped_effects(
    key: TraceKey, replace: Replace, measure: Measure, step: Step
) -> Effects | None:
    """What comes with the app of these, if anything does; it needs no model."""
    first = cache.first_input(key)
    if first is None or first.directions is None or first.fresh is None:
        return None
    if first.effects is None or (replace, measure) != ("mean", "sentence"):
        return None
    values, draws = first.effects, first.directions[: DRAWS if step == "map" else 0]
    if step == "fresh":  # of these heads alone, as a run of theirs
        leaders = tuple(np.array(leading_heads(values)).T)
        values = np.full_like(values, np.nan)
        draws = np.full((len(first.fresh), *values.shape), np.nan)
        values[leaders], draws[:, *leaders] = first.effects[leaders], first.fresh
    unit = UNITS[measure]
    return Effects(values=values, draws=draws, replace=replace, measure=measure, unit=unit)


@st.cache_resource(max_entries=_MAX_KEPT, show_spinner="Replacing the head in every way …")
def effects_of_head(
    key: TraceKey, replace: Replace, measure: Measure, layer: int, head: int
) -> tuple[float, float]:
    """Effect and control of one head, from 0: the first of its fresh random directions."""
    found = _run(key, replace, measure, heads=[(layer, head)], draws=SINGLE_DRAWS, seed=FRESH_SEED)
    effect = found.values[layer, head]  # noqa: PD011 - of no data frame
    return float(effect), float(found.control[layer, head])


@st.cache_resource(max_entries=_MAX_KEPT, show_spinner=False)
def _written(key: TraceKey) -> Any:  # noqa: ANN401 - an array, or None
    from core.model.interventions.reference import written_norms

    return written_norms(model_of(key), text_of(key), **limits(key))


@st.cache_resource(max_entries=_MAX_KEPT, show_spinner=False)
def _patterns(key: TraceKey) -> list[str]:
    trace = cache.trace(*key)
    table = pattern_table(trace)
    return list((withhold_names(table) if too_short(len(trace.tokens)) else table)["class"])


def _run(
    key: TraceKey,
    replace: Replace,
    measure: Measure,
    **options: Any,  # noqa: ANN401
) -> Effects:
    from core.model import effects

    return effects(model_of(key), text_of(key), replace, measure, **limits(key), **options)


def measured_effects(
    key: TraceKey, replace: Replace, measure: Measure, step: Step = "map"
) -> Effects:
    """What replacing heads changes, as far as that step.

    Ends the page where it is refused, or was cancelled.
    """
    place = _place(key, replace, measure, step)
    request = (key, replace, measure)
    if not place.kept and st.session_state.get(_STOPPED) == request:
        st.button("Go on", key="effect_again", on_click=_go_on, type="primary")
        controls.end_page()
    options = {} if place.kept else _options(key, replace, measure, step)

    def run(bar: Bar) -> Effects:
        return _run(key, replace, measure, progress=partial(_show, bar, step), **options)

    return measure_once(place, run, _DOES[step], f"effect_cancel_{step}", _stop, request)


def _options(key: TraceKey, replace: Replace, measure: Measure, step: Step) -> dict[str, Any]:
    """Of :func:`core.model.effects`: which heads, and how many random directions."""
    if step == "map":
        return {"draws": DRAWS}
    if step == "values":
        return {"draws": 0}
    values = measured_effects(key, replace, measure, "values").values  # noqa: PD011 - no data frame
    return {"heads": leading_heads(values), "draws": FRESH_DRAWS, "seed": FRESH_SEED}


def _show(bar: Bar, step: Step, done: int, total: int) -> None:
    bar.step(done / total, f"{_DOES[step]}: {done:,} of {total:,} passes")


def _stop(request: object) -> None:
    st.session_state[_STOPPED] = request


def _go_on() -> None:
    st.session_state.pop(_STOPPED, None)


def pick_replacement(key: TraceKey) -> Replace:
    """What heads are replaced by."""
    return controls.choice(
        "replace",
        replacements_of(key.modality),
        "Replace by",
        subject="Heads can be replaced by",
        menu=True,
        width=150,
    )


def pick_measure(key: TraceKey, among: Collection[Measure] = MEASURES) -> Measure:
    """What is measured, of what this model has `among` these."""
    offered = [each for each in measures_of(model_of(key)) if each in among]
    return controls.choice(
        "measure",
        {name: MEASURED[name] for name in offered},
        "Measure",
        subject="This model can be measured by",
        menu=True,
        width=230,
    )


def head_effects(
    trace: Trace,
    key: TraceKey,
    replace: Replace,
    measure: Measure,
    layer: int,
    head: int,
) -> tuple[HeadTable, Effects]:
    """The effect table with the chosen head, and what it was made of.

    Without random directions if they are not measured yet.
    """
    steps: tuple[Step, ...] = ("fresh", "map")
    ready = all(_place(key, replace, measure, each).kept for each in steps)
    step: Step = "map" if ready else "values"
    found = measured_effects(key, replace, measure, step)
    direct = direct_of(key, replace, measure)
    table = effect_table(trace, found, _written(key), _patterns(key), direct)
    return HeadTable(trace=trace, table=table, layer=layer, head=head), found


def leaders_of(
    trace: Trace, key: TraceKey, replace: Replace, measure: Measure, *, waits: bool = False
) -> pd.DataFrame | None:
    """The heads of largest effect with their fresh directions; None before they are measured."""
    if not (waits or _place(key, replace, measure, "fresh").kept):
        return None
    fresh = measured_effects(key, replace, measure, "fresh")
    return leading_table(trace, fresh)


def notes(trace: Trace, found: Effects | AblationResult) -> list[str]:
    """What was left out of the text, and at which word its effects are measured (Markdown)."""
    notes = []
    if len(trace.tokens) > given.MAX_TOKENS and trace.input.has_words:
        notes.append(_words("cut", most=given.MAX_TOKENS, tokens=len(trace.tokens)))
    if found.words:
        name = "word" if len(found.words) == 2 else "class"
        notes.append(_words("likeliest", name=name, words=", then ".join(map(quote, found.words))))
    if found.is_masked and found.position is not None:
        notes.append(_words("hidden", word=quote(trace.tokens[found.position].display)))
    return notes
