"""The effects of all heads, measured under a bar and kept, and of one head in three ways."""

from __future__ import annotations

import operator
from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from core.analysis.effect import effect_table
from core.analysis.head_patterns import pattern_table
from core.analysis.head_patterns.minimum_evidence import too_short
from core.analysis.head_patterns.naming import TOO_SHORT
from core.analysis.head_patterns.table import withhold_names
from core.model import Trace
from core.model.errors import ModelError
from core.model.interventions.heads import Replace
from core.model.interventions.measures import Measure, measures_of
from core.screens.effect import input as given
from core.screens.effect.input import limits, model_of, source_of, text_of
from core.screens.effect.writing import direct_of, parts_of
from core.ui import cache, controls, python
from core.ui.cache import TraceKey
from core.ui.head_tables import HeadTable
from core.ui.serve import turns
from core.ui.serve.progress import Bar, bar_with_cancel
from core.ui.words.messages import quote, show_model_error
from core.ui.words.prose import Prose

if TYPE_CHECKING:
    from core.model import Effects

MEASURED: dict[Measure, str] = {
    "kl": "next-word distribution",
    "logit_difference": "lead of the likeliest word",
    "loss": "loss",
    "sentence": "sentence vector",
    "class": "class",
}
_MAX_KEPT = 64  # of a few dozen numbers a head: 40 kB
_STOPPED = "_effects_stopped"
_words = Prose(__file__)


@st.cache_resource(max_entries=_MAX_KEPT, show_spinner=False)
def _place(key: TraceKey, replace: str, measure: str) -> list[Effects]:  # noqa: ARG001 - the key
    """A place for what was measured, shared by all visitors; empty until a run has finished."""
    return []


@st.cache_resource(max_entries=_MAX_KEPT, show_spinner="Replacing the head in every way …")
def effects_of_head(
    key: TraceKey, replace: Replace, measure: Measure, layer: int, head: int
) -> tuple[float, float]:
    """Effect and control of one head, from 0."""
    found = _run(key, replace, measure, heads=[(layer, head)])
    return float(found.values[layer, head]), float(found.control[layer, head])


@st.cache_resource(max_entries=_MAX_KEPT, show_spinner=False)
def _written(key: TraceKey) -> Any:  # noqa: ANN401 - an array, or None
    from core.model.interventions.written import written_norms

    return written_norms(model_of(key), text_of(key), **limits(key))


@st.cache_resource(max_entries=_MAX_KEPT, show_spinner=False)
def _patterns(key: TraceKey) -> list[str]:
    trace = cache.trace(*key)
    table = pattern_table(trace)
    return list((withhold_names(table) if too_short(len(trace.tokens)) else table)["class"])


def _run(key: TraceKey, replace: Replace, measure: Measure, **options: Any) -> Effects:  # noqa: ANN401
    from core.model import effects

    return effects(model_of(key), text_of(key), replace, measure, **limits(key), **options)


def measured_effects(key: TraceKey, replace: Replace, measure: Measure) -> Effects:
    """What replacing each head changes; ends the page where it is refused, or was cancelled."""
    place = _place(key, replace, measure)
    request = (key, replace, measure)
    if not place and st.session_state.get(_STOPPED) == request:
        st.button(_words("measure"), key="effect_again", on_click=_go_on, type="primary")
        controls.end_page()
    if not place:
        try:
            with turns.long_work(), bar_with_cancel("effect_cancel", _stop, request) as bar:
                bar.show(0.0, _words("begins"))
                place.append(_run(key, replace, measure, progress=partial(_show, bar)))
        except ModelError as error:
            show_model_error(error)
            controls.end_page()
    return place[0]


def _show(bar: Bar, done: int, total: int) -> None:
    bar.step(done / total, _words("progress", done=f"{done:,}", total=f"{total:,}"))


def _stop(request: object) -> None:
    st.session_state[_STOPPED] = request


def _go_on() -> None:
    st.session_state.pop(_STOPPED, None)


def replacements_of(modality: str) -> dict[Replace, str]:
    """What a head can be replaced by, in words: of a text or of an image."""
    return {"mean": "its mean", "zero": "zero", "resample": f"another {modality}'s"}


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


def pick_measure(key: TraceKey, *, adds_up: bool = False) -> Measure:
    """What is measured, of what this model has; only what is a sum where it must add up."""
    from core.model.interventions.direct import LINEAR

    offered = [each for each in measures_of(model_of(key)) if each in LINEAR or not adds_up]
    return controls.choice(
        "measure",
        {name: MEASURED[name] for name in offered},
        "Measure",
        subject="This model can be measured by",
        menu=True,
        width=230,
    )


def measure(
    trace: Trace,
    key: TraceKey,
    replace: Replace,
    measured_by: Measure,
    layer: int,
    head: int,
) -> tuple[HeadTable, Effects]:
    """The effect table with the chosen head, and what it was made of."""
    from core.model import effects
    from core.model.interventions.written import written_norms

    found = measured_effects(key, replace, measured_by)
    read = (python.MODEL, source_of(key))
    measured = python.call(effects, *read, replace, measured_by, **limits(key))
    python.made("found", found, measured)
    written = _written(key)
    python.made("written", written, python.call(written_norms, *read, **limits(key)))
    patterns = _patterns(key)
    named = python.call(pattern_table, python.TRACE)
    if TOO_SHORT in patterns:
        named = python.call(withhold_names, named)
    classes = python.call(list, python.call(operator.getitem, named, "class"))
    python.made("patterns", patterns, classes)
    direct, parts = direct_of(key, replace, measured_by), parts_of(key, measured_by)
    heads = None if parts is None else parts.heads
    table = python.shown("table", effect_table, trace, found, written, patterns, direct, heads)
    return HeadTable(trace=trace, table=table, layer=layer, head=head), found


def notes(trace: Trace, found: Effects) -> list[str]:
    """What was left out of the text, and at which word its effects are measured (Markdown)."""
    notes = []
    if len(trace.tokens) > given.MAX_TOKENS and trace.input.has_words:
        notes.append(_words("cut", most=given.MAX_TOKENS, tokens=len(trace.tokens)))
    if len(found.words) == 2:
        first, second = map(quote, found.words)
        notes.append(_words("words", first=first, second=second))
    if len(found.words) == 1:
        notes.append(_words("class", name=quote(found.words[0])))
    if found.is_masked and found.position is not None:
        notes.append(_words("hidden", word=quote(trace.tokens[found.position].display)))
    return notes
