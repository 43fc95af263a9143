"""The effects of heads on one text or image, measured in steps under a progress bar and cached.

First the effect of replacing each head; then fresh random directions for the few largest, for the
headline; then random directions for every head, for the map.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace as with_fields
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import streamlit as st

from core.analysis.effect import effect_table, leading_heads, leading_table
from core.model.errors import UnsupportedModelError
from core.model.interventions.heads import (
    DRAWS,
    FRESH_DRAWS,
    FRESH_SEED,
    SINGLE_DRAWS,
    Effects,
    Replace,
)
from core.model.interventions.measures import OUTCOMES, UNITS, Outcome, measures_of
from core.screens.heads.measured import Heads, join_columns
from core.ui import cache, controls
from core.ui.cache import TraceKey
from core.ui.corpus_walk import measure_once
from core.ui.serve import images
from core.ui.serve.long_work import ProgressBar, Shared
from core.ui.words.messages import quote
from core.ui.words.prose import Prose

if TYPE_CHECKING:
    import pandas as pd

    from core.model import LoadedModel, Trace
    from core.model.interventions.ablation import AblationResult

Step = Literal["values", "fresh", "map"]
What = Literal["parts", "direct", "words", "lens", "written"]
MAX_TOKENS = 128  # of a text: there is one pass for every head and random direction
_MAX_CUT = 16  # traces of 128 tokens
_MAX_KEPT = 64  # each a few dozen numbers per head: 40 kB
_STOPPED, _KNOWN = "_effects_stopped", "_effects_known"
_DOES: dict[Step, str] = {
    "values": "Replacing every head",
    "fresh": "Random directions of the largest",
    "map": "Random directions of every head",
}
_words = Prose(__file__, "words_effect.md")
TITLES: dict[Outcome, str] = {  # the name that pages use
    "kl": "next-word distribution",
    "logit_difference": "lead of the likeliest word",
    "loss": "loss",
    "sentence": "sentence vector",
    "class": "class",
}


def model_of(key: TraceKey) -> LoadedModel:
    """The model whose effects are measured."""
    return cache.model(key.model, key.modality)


def text_of(key: TraceKey) -> Any:  # noqa: ANN401 - a text or an image
    """The text or image that the model reads."""
    return key.text if key.image is None else images.pixels(key.image)


def limits(key: TraceKey) -> Any:  # noqa: ANN401 - options of several functions
    """Keyword arguments for the second text and the maximum number of tokens."""
    return {"pair": key.pair, "max_tokens": MAX_TOKENS}


@st.cache_resource(max_entries=_MAX_CUT, show_spinner="Running the text through the model …")
def _cut(key: TraceKey) -> Trace:
    from core.model import trace_text

    return trace_text(model_of(key), key.text, key.pair, MAX_TOKENS, decode=False)


def measured_trace(trace: Trace, key: TraceKey) -> Trace:
    """The trace of the part of the text that is measured."""
    return _cut(key) if key.image is None and len(trace.tokens) > MAX_TOKENS else trace


def replacements_of(modality: str) -> dict[Replace, str]:
    """What a head can be replaced by, in words, for a text or for an image."""
    return {"mean": "its mean", "zero": "zero", "resample": f"another {modality}'s"}


def pick_replacement(key: TraceKey) -> Replace:
    """Choose what heads are replaced by."""
    return controls.choice(
        "replace",
        replacements_of(key.modality),
        "Replace by",
        subject="Heads can be replaced by",
        menu=True,
        width=150,
    )


def pick_outcome(key: TraceKey, among: Collection[Outcome] = OUTCOMES) -> Outcome:
    """Choose what is measured, from the outcomes in `among` that this model has."""
    offered = [each for each in measures_of(model_of(key)) if each in among]
    return controls.choice(
        "measure",
        {name: TITLES[name] for name in offered},
        "Measure",
        subject="This model can be measured by",
        menu=True,
        width=230,
    )


@st.cache_resource(max_entries=_MAX_KEPT, show_spinner=False)
def _place(key: TraceKey, replace: Replace, measure: Outcome, step: Step) -> Shared[list[Effects]]:
    """The slot for measured effects, shared by all visitors; empty until a run has finished.

    For the text that the page opens with, it holds the effects shipped with the app.
    """
    shipped = shipped_effects(key, replace, measure, step)
    return Shared([] if shipped is None else [shipped])


def shipped_effects(
    key: TraceKey, replace: Replace, measure: Outcome, step: Step
) -> Effects | None:
    """The effects shipped with the app for these settings, if any; this needs no model."""
    first = cache.first_input(key)
    if first is None or first.directions is None or first.fresh is None:
        return None
    if first.effects is None or (replace, measure) != ("mean", "sentence"):
        return None
    values, draws = first.effects, first.directions[: DRAWS if step == "map" else 0]
    if step == "fresh":  # these heads alone, as in a run on just them
        leaders = tuple(np.array(leading_heads(values)).T)
        values = np.full_like(values, np.nan)
        draws = np.full((len(first.fresh), *values.shape), np.nan)
        values[leaders], draws[:, *leaders] = first.effects[leaders], first.fresh
    unit = UNITS[measure]
    return Effects(values=values, draws=draws, replace=replace, measure=measure, unit=unit)


def measured_effects(
    key: TraceKey, replace: Replace, measure: Outcome, step: Step = "map"
) -> Effects:
    """The effects of replacing heads, measured up to this step.

    Ends the page if the run is refused or was cancelled.
    """
    place = _place(key, replace, measure, step)
    request = (key, replace, measure)
    if not place.kept and st.session_state.get(_STOPPED) == request:
        go_on = partial(st.session_state.pop, _STOPPED, None)
        st.button("Go on", key="effect_again", on_click=go_on, type="primary")
        controls.end_page()
    options = {} if place.kept else _options(key, replace, measure, step)

    stop = partial(st.session_state.update, {_STOPPED: request})

    def run(bar: ProgressBar) -> Effects:
        return _run(key, replace, measure, progress=partial(_show, bar, step), **options)

    return measure_once(place, run, _DOES[step], f"effect_cancel_{step}", stop)


def _run(
    key: TraceKey,
    replace: Replace,
    measure: Outcome,
    **options: Any,  # noqa: ANN401
) -> Effects:
    from core.model import effects

    return effects(model_of(key), text_of(key), replace, measure, **limits(key), **options)


def _options(key: TraceKey, replace: Replace, measure: Outcome, step: Step) -> dict[str, Any]:
    """Options of :func:`core.model.effects`: which heads, and how many random directions."""
    if step == "map":
        return {"draws": DRAWS}
    if step == "values":
        return {"draws": 0}
    values = measured_effects(key, replace, measure, "values").values  # noqa: PD011 - no data frame
    return {"heads": leading_heads(values), "draws": FRESH_DRAWS, "seed": FRESH_SEED}


def _show(bar: ProgressBar, step: Step, done: int, total: int) -> None:
    bar.step(done / total, f"{_DOES[step]}: {done:,} of {total:,} passes")


@st.cache_resource(max_entries=_MAX_KEPT, show_spinner="Replacing the head in every way …")
def effects_of_head(
    key: TraceKey, replace: Replace, measure: Outcome, layer: int, head: int
) -> tuple[float, float]:
    """Effect and control of one head (from 0), over the first of its fresh random directions."""
    options: dict[str, Any] = {"draws": SINGLE_DRAWS, "seed": FRESH_SEED}
    effects = _run(key, replace, measure, heads=[(layer, head)], **options)
    effect = effects.values[layer, head]  # noqa: PD011 - of no data frame
    return float(effect), float(effects.control[layer, head])


@st.cache_resource(max_entries=2 * _MAX_KEPT, show_spinner="Following what heads write …")
def followed(
    key: TraceKey,
    what: What,
    *settings: Any,  # noqa: ANN401 - of each function
    **options: Any,  # noqa: ANN401
) -> Any:  # noqa: ANN401
    """What heads write, by functions of :mod:`core.model.interventions`; None if unknown.

    With their settings: "parts" of the model's output (measure); "direct" effects (replace,
    measure, `heads`); "words" that a head makes likelier (layer, head, how many); the logit
    "lens" after each layer; "written" lengths.
    """
    from core.model.interventions import direct, lens, reference

    functions: dict[What, Any] = {
        "parts": direct.direct_parts,
        "direct": direct.direct_effects,
        "words": direct.written_words,
        "lens": lens.logit_lens,
        "written": reference.written_norms,
    }
    try:
        return functions[what](model_of(key), text_of(key), *settings, **options, **limits(key))
    except UnsupportedModelError:
        return None


def with_effects(heads: Heads, replace: Replace, measure: Outcome) -> tuple[Heads, Effects]:
    """The table joined with the effects of heads, and the effects themselves.

    Without random directions if these are not measured yet.
    """
    key = heads.key
    steps: tuple[Step, ...] = ("fresh", "map")
    ready = all(_place(key, replace, measure, step).kept for step in steps)
    effects = measured_effects(key, replace, measure, "map" if ready else "values")
    if ready:
        st.session_state[_KNOWN] = (key, replace, measure)
    direct = followed(key, "direct", replace, measure)
    table = effect_table(heads.trace, effects, followed(key, "written"), direct=direct)
    return with_fields(heads, table=join_columns(heads.table, table)), effects


def with_known_effects(heads: Heads) -> Heads:
    """Like `with_effects` if this visitor has seen these or the app ships them, else `heads`."""
    known = st.session_state.get(_KNOWN, ())
    shipped: tuple[Replace, Outcome] = ("mean", "sentence")
    replace, measure = known[1:] if known[:1] == (heads.key,) else shipped
    measured = _place(heads.key, replace, measure, "map").kept
    if heads.over_corpus or not measured:
        return heads
    table = effect_table(heads.trace, measured[0])
    return with_fields(heads, table=join_columns(heads.table, table))


def leaders_of(
    trace: Trace, key: TraceKey, replace: Replace, measure: Outcome, *, waits: bool = False
) -> pd.DataFrame | None:
    """The heads with the largest effects and their fresh directions; None until measured."""
    if not (waits or _place(key, replace, measure, "fresh").kept):
        return None
    fresh = measured_effects(key, replace, measure, "fresh")
    return leading_table(trace, fresh)


def notes(trace: Trace, found: Effects | AblationResult) -> list[str]:
    """Which part of the text was cut, and at which word effects are measured (Markdown)."""
    notes = []
    if len(trace.tokens) > MAX_TOKENS and trace.input.has_words:
        notes.append(_words("cut", most=MAX_TOKENS, tokens=len(trace.tokens)))
    if found.words:
        name = "word" if len(found.words) == 2 else "class"
        notes.append(_words("likeliest", name=name, words=", then ".join(map(quote, found.words))))
    if found.is_masked and found.position is not None:
        notes.append(_words("hidden", word=quote(trace.tokens[found.position].display)))
    return notes
