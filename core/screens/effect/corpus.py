"""All heads by their effect over the sample corpus, or the sample images."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import streamlit as st

from core.analysis.effect import FALSE_DISCOVERY, largest_effect
from core.analysis.effect.corpus import corpus_table
from core.analysis.statistics import CONFIDENCE
from core.figures.palette import Palette
from core.model import Trace
from core.model.interventions.heads import Replace
from core.model.interventions.measures import Measure
from core.model.interventions.samples import (
    DRAWS,
    compared_with_chance,
    sample_effects,
    samples_of,
)
from core.screens.effect.heads import show_map
from core.screens.effect.measuring import measure_once
from core.ui import cache, controls
from core.ui.cache import TraceKey
from core.ui.downloads import contents
from core.ui.head_tables import HeadTable, offer_table
from core.ui.navigation import ask
from core.ui.serve.once import Shared
from core.ui.serve.progress import Bar
from core.ui.words.effects import MEASURED, replacements_of
from core.ui.words.numbers import number
from core.ui.words.prose import Prose
from core.vocabulary import percent

if TYPE_CHECKING:
    import pandas as pd
    from streamlit.delta_generator import DeltaGenerator

    from core.model import Effects

_MAX_KEPT = 8  # of 64 times a few dozen numbers a head, ten times as many on 16: 2 MB
_SAMPLES = {"text": "sentences", "image": "images"}
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
def _place(
    model: str,  # noqa: ARG001 - the key, as all of these
    modality: str,  # noqa: ARG001
    replace: str,  # noqa: ARG001
    measure: str,  # noqa: ARG001
    draws: int,  # noqa: ARG001
) -> Shared[list[list[Effects]]]:
    """A place for what was measured, shared by all visitors; empty until a run has finished."""
    return Shared([])


class Corpus(NamedTuple):
    """What is measured over all samples; then with random directions, over some of them."""

    key: TraceKey
    replace: Replace
    measure: Measure

    def place(self, draws: int) -> Shared[list[list[Effects]]]:
        """Where the effects of all samples are, or of those with random directions."""
        return _place(self.key.model, self.key.modality, self.replace, self.measure, draws)

    def effects(self, draws: int) -> list[Effects]:
        """These, measured under a bar where they are not; ends the page on an error."""
        model = cache.model(self.key.model, self.key.modality)
        places = compared_with_chance(model) if draws else range(len(samples_of(model)))
        samples, total = _SAMPLES[self.key.modality], len(places)

        def words(done: int) -> str:
            return _words("over", draws=draws, done=done, total=total, samples=samples)

        def run(bar: Bar) -> list[Effects]:
            found: list[Effects] = []

            def show(passes: int, of: int) -> None:
                bar.step((len(found) + passes / of) / total, words(len(found)))

            for place in places:
                given = model, place, self.replace, self.measure
                found.append(sample_effects(*given, draws=draws, progress=show))
            return found

        cancel = f"effect_corpus_cancel_{draws}"
        return measure_once(self.place(draws), run, words(0), cancel, _back_to_text)


def _back_to_text() -> None:
    st.session_state["over"] = "text"


def measure_corpus(trace: Trace, corpus: Corpus, layer: int, head: int) -> HeadTable:
    """The table over the samples, with the chosen head; compared with chance if that is known."""
    compared = corpus.place(DRAWS).kept
    table = corpus_table(trace, corpus.effects(0), *compared)
    return HeadTable(trace=trace, table=table, layer=layer, head=head)


def show_corpus(heads: HeadTable, corpus: Corpus, colours: Palette) -> Callable[[], None]:
    """The answer, the map, the chosen head's numbers; then the table and the file.

    What it gives compares them with chance, below these, and draws them again.
    """
    samples, facts = _SAMPLES[corpus.key.modality], heads.table.attrs
    ask(_headline(heads.table, samples))
    left, right = st.columns([5, 4], gap="medium")
    with left:
        beyond = heads.grid("exceeds") if facts["compared"] else None
        show_map(heads, MEASURED[facts["measure"]], colours, beyond=beyond)
        if facts["compared"]:
            st.caption(_caption(heads.table, samples))
    with right, st.container(border=True):
        _show_card(heads, samples)
    place = st.empty()
    with st.container(horizontal=True):
        offer_table(heads, contents("effect", heads.trace.model, "corpus", text=False))
    with st.expander("Every head"):
        st.dataframe(heads.table, hide_index=True, height=420)
    return partial(_go_on, place, corpus)


def _go_on(place: DeltaGenerator, corpus: Corpus) -> None:
    if corpus.place(DRAWS).kept:
        return
    controls.publish()
    with place.container():
        corpus.effects(DRAWS)
    st.rerun()


def _headline(table: pd.DataFrame, samples: str) -> str:
    """The head that matters most of those that exceed chance, or that none does (Markdown)."""
    facts = table.attrs
    first = largest_effect(table[table["exceeds"]] if facts["compared"] else table)
    if first is None:
        replaced = replacements_of("text")[facts["replace"]]
        return _words("none_over", count=facts["texts"], samples=samples, replaced=replaced)
    return _words(
        "over_corpus",
        head=f"L{first['layer']} H{first['head']}",
        count=facts["texts"],
        samples=samples,
        measured=MEASURED[facts["measure"]],
        effect=_short(first["effect"]),
        low=_short(first["low"]),
        high=_short(first["high"]),
        level=percent(CONFIDENCE),
        compared=facts["compared"],
        times=_times(first),
        unit=facts["unit"],
    )


def _caption(table: pd.DataFrame, samples: str) -> str:
    return _words(
        "passing",
        passing=int(table["exceeds"].sum()),
        total=len(table),
        compared=table.attrs["compared"],
        samples=samples,
        draws=table.attrs["draws"],
        rate=percent(FALSE_DISCOVERY),
    )


def _show_card(heads: HeadTable, samples: str) -> None:
    """The typical effect of the chosen head with its interval, beside chance and its layer."""
    row, facts = heads.row, heads.table.attrs
    form = _form(max(row["effect"], row["high"]))
    effect, low, high = (number(row[name], form, missing="–") for name in ("effect", "low", "high"))
    st.markdown(
        _words(
            "over_head",
            head=heads.name,
            passes=row.get("exceeds", False),
            compared=facts["compared"],
            times=_times(row),
            draws=facts["draws"],
            effect=effect,
            low=low,
            high=high,
            level=percent(CONFIDENCE),
            measured=MEASURED[facts["measure"]],
            unit=facts["unit"],
            count=facts["texts"],
            samples=samples,
        )
    )
    if np.isfinite(row["effect"]):
        st.caption(
            _words(
                "how_often",
                signed=facts["measure"] in ("logit_difference", "loss", "class"),
                positive=round(row["positive"] * facts["texts"]),
                count=facts["texts"],
                samples=samples,
                others="–" if math.isnan(row["others"]) else percent(row["others"]),
            )
        )


def _times(row: Any) -> str:  # noqa: ANN401 - a row of the table
    """How many times the effect of random directions an effect is; empty where none were tried."""
    return number(row["times"], ".3g") if "times" in row else ""


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
