"""All heads by their effect over the sample corpus, beside those of the untrained twin."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from core.analysis.bootstrap import LEVEL
from core.analysis.effect import NEGLIGIBLE, largest_effect
from core.analysis.effect.corpus import corpus_table
from core.figures.palette import Palette
from core.model import Trace, untrained_twin
from core.model.errors import ModelError
from core.model.interventions.heads import Replace
from core.model.interventions.measures import Measure
from core.model.interventions.samples import DRAWS, sample_effects, samples_of
from core.model.memory import return_freed_memory
from core.screens.effect.heads import show_map
from core.ui import cache, controls, python
from core.ui.cache import TraceKey
from core.ui.downloads import contents
from core.ui.head_tables import HeadTable, offer_table
from core.ui.navigation import ask
from core.ui.serve import turns
from core.ui.serve.progress import Bar, bar_with_cancel
from core.ui.words.effects import MEASURED, replacements_of
from core.ui.words.messages import show_model_error
from core.ui.words.numbers import number
from core.ui.words.prose import Prose
from core.vocabulary import percent

if TYPE_CHECKING:
    import pandas as pd

    from core.model import Effects, LoadedModel

    Measured = dict[tuple[bool, int], Effects]  # by whether of the twin, and the sample's place

_MAX_KEPT = 8  # of 32 times a few dozen numbers a head: 120 kB
_SAMPLES = {"text": "sentences", "image": "images"}
_TO = "\N{NO-BREAK SPACE}to\N{NO-BREAK SPACE}"
_words = Prose(__file__)


def pick_over(key: TraceKey) -> bool:
    """Whether heads are measured over the sample corpus, and not on what is shown."""
    many = "sample corpus" if key.image is None else "sample images"
    over = controls.choice(
        "over",
        {"text": f"this {key.modality}", "corpus": many},
        "Measured on",
        subject="Heads can be measured on",
        menu=True,
        width=165,
    )
    return over == "corpus"


@st.cache_resource(max_entries=_MAX_KEPT, show_spinner=False)
def _place(model: str, modality: str, replace: str, measure: str) -> Measured:  # noqa: ARG001 - the key
    """A place for what was measured, shared by all visitors; a run that was left stays in it."""
    return {}


def _measured(key: TraceKey, replace: Replace, measure: Measure) -> Measured:
    """The effects on all samples, from the cache or measured now; ends the page on an error."""
    place = _place(key.model, key.modality, replace, measure)
    model = cache.model(key.model, key.modality)
    total = len(samples_of(model))
    if len(place) == 2 * total:
        return place
    try:
        with turns.long_work(), bar_with_cancel("effect_corpus_cancel", _back_to_text) as bar:
            bar.show(len(place) / (2 * total), _words("begins", step="values"))
            for untrained in (False, True):
                show = partial(_show, bar, untrained, total, _SAMPLES[key.modality])
                runs = untrained_twin(model) if untrained else model
                _measure(runs, untrained, place, (replace, measure), show)
    except ModelError as error:
        show_model_error(error)
        controls.end_page()
    finally:
        return_freed_memory()  # the twin is as large as the model
    return place


def _measure(
    model: LoadedModel,
    untrained: bool,
    place: Measured,
    asked: tuple[Replace, Measure],
    show: partial[None],
) -> None:
    """The effects on the samples that are not in their place yet."""
    for sample in range(len(samples_of(model))):
        if (untrained, sample) not in place:
            progress = partial(show, sample)
            place[untrained, sample] = sample_effects(model, sample, *asked, progress=progress)


def _show(
    bar: Bar, untrained: bool, total: int, samples: str, sample: int, done: int, passes: int
) -> None:
    share = (total * untrained + sample + done / passes) / (2 * total)
    bar.step(share, _words("over", untrained=untrained, done=sample, total=total, samples=samples))


def _back_to_text() -> None:
    st.session_state["over"] = "text"


def measure_corpus(
    trace: Trace, key: TraceKey, replace: Replace, measure: Measure, layer: int, head: int
) -> tuple[HeadTable, pd.DataFrame]:
    """The table over the sample corpus with the chosen head, and that of the untrained twin."""
    place = _measured(key, replace, measure)
    total = len(place) // 2
    twin = python.Variable("twin")

    def over(name: str, model: python.Variable, untrained: bool) -> list[Effects]:
        one = partial(python.call, sample_effects, model)
        calls = python.each_of("place", range(total), lambda each: one(each, replace, measure))
        return python.made(name, [place[untrained, each] for each in range(total)], calls)

    python.made(twin.name, None, python.call(untrained_twin, python.MODEL))
    untrained = over("untrained", twin, untrained=True)
    twin_table = python.shown("twin_table", corpus_table, trace, untrained)
    found = over("found", python.MODEL, untrained=False)
    table = python.shown("table", corpus_table, trace, found)
    return HeadTable(trace=trace, table=table, layer=layer, head=head), twin_table


def show_corpus(heads: HeadTable, twin: pd.DataFrame, key: TraceKey, colours: Palette) -> None:
    """The answer, the map of means, the chosen head's numbers; then the table and the file."""
    samples = _SAMPLES[key.modality]
    ask(_headline(heads.table, samples))
    left, right = st.columns([5, 4], gap="medium")
    with left:
        measured, within = MEASURED[heads.table.attrs["measure"]], ~heads.grid("exceeds")
        show_map(heads, measured, colours, within=within)
        st.caption(_caption(heads.table, twin, samples))
    with right, st.container(border=True):
        _show_card(heads, samples)
    with st.container(horizontal=True):
        offer_table(heads, contents("effect", heads.trace.model, "corpus", text=False))
    with st.expander("Every head"):
        st.dataframe(heads.table, hide_index=True, height=420)


def _headline(table: pd.DataFrame, samples: str) -> str:
    """The head that matters most of those that pass, or that none does (Markdown)."""
    first, count = largest_effect(table[table["exceeds"]]), table.attrs["texts"]
    if first is None:
        replaced = replacements_of("text")[table.attrs["replace"]]
        return _words("none_over", count=count, samples=samples, replaced=replaced)
    return _words(
        "over_corpus",
        head=f"L{first['layer']} H{first['head']}",
        count=count,
        samples=samples,
        measured=MEASURED[table.attrs["measure"]],
        effect=_short(first["effect"]),
        low=_short(first["low"]),
        high=_short(first["high"]),
        level=percent(LEVEL),
        control=_short(first["control"]),
        unit=table.attrs["unit"],
    )


def _caption(table: pd.DataFrame, twin: pd.DataFrame, samples: str) -> str:
    return _words(
        "passing",
        passing=int(table["exceeds"].sum()),
        total=len(table),
        untrained=int(twin["exceeds"].sum()),
        count=table.attrs["texts"],
        samples=samples,
        draws=DRAWS,
        level=percent(LEVEL),
        negligible=percent(NEGLIGIBLE),
    )


def _show_card(heads: HeadTable, samples: str) -> None:
    """The mean effect of the chosen head, its control and the difference, with their intervals."""
    row, facts = heads.row, heads.table.attrs
    count = facts["texts"]
    st.markdown(
        _words("over_head", head=heads.name, passes=row["exceeds"], count=count, samples=samples)
    )
    st.markdown("\n".join(_lines(row, facts["unit"])))
    if np.isfinite(row["often"]):
        st.caption(
            _words(
                "how_often",
                often=round(row["often"] * count),
                count=count,
                samples=samples,
                others=percent(row["others"], missing="–"),
            )
        )


def _lines(row: dict[str, Any], unit: str) -> Iterator[str]:
    """A Markdown table of means, each with its interval where it has one."""
    yield f"| {unit} | mean | {percent(LEVEL)} interval |"
    yield "|:--|--:|--:|"
    is_signed = row["size"] != abs(row["effect"])
    columns = {
        "effect": ("effect", "low", "high"),
        **({"its size": ("size",)} if is_signed else {}),
        f"largest of {DRAWS} random directions": ("control",),
        f"{'size' if is_signed else 'effect'} less that": ("beyond", "beyond_low", "beyond_high"),
    }
    shown = {name: [row[each] for each in own] for name, own in columns.items()}
    form = _form(max(abs(each) for values in shown.values() for each in values))
    for name, values in shown.items():
        mean, *ends = (number(each, form, missing="–") for each in values)
        yield f"| {name} | {mean} | {_TO.join(ends)} |"


def _form(largest: float) -> str:
    """How numbers up to the largest are written: with as many decimals as show three digits of it.

    >>> _form(0.0038), _form(27.0)
    ('z.5f', 'z.1f')
    """
    if not 0 < largest < np.inf:
        return ".3g"
    return f"z.{max(0, 2 - math.floor(math.log10(largest)))}f"


def _short(value: float) -> str:
    return number(value, ".3g", missing="–")
