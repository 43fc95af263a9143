"""All heads by their effect over the sample corpus, or the sample images."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import streamlit as st

from core.analysis.effect import FALSE_DISCOVERY, largest_effect
from core.analysis.effect.corpus import corpus_table
from core.analysis.statistics import CONFIDENCE
from core.figures.palette import Palette
from core.model import Trace
from core.model.errors import ModelError
from core.model.interventions.heads import Replace
from core.model.interventions.measures import Measure
from core.model.interventions.samples import (
    DRAWS,
    compared_with_chance,
    sample_effects,
    samples_of,
)
from core.screens.effect.heads import show_map
from core.ui import cache, controls
from core.ui.cache import TraceKey
from core.ui.downloads import contents
from core.ui.head_tables import HeadTable, offer_table
from core.ui.navigation import ask
from core.ui.serve import turns
from core.ui.serve.once import Shared
from core.ui.serve.progress import Bar, bar_with_cancel
from core.ui.words.effects import MEASURED, replacements_of
from core.ui.words.messages import show_model_error
from core.ui.words.numbers import number
from core.ui.words.prose import Prose
from core.vocabulary import percent

if TYPE_CHECKING:
    import pandas as pd
    from streamlit.delta_generator import DeltaGenerator

    from core.model import Effects

_MAX_KEPT = 8  # of 64 times a few dozen numbers a head, ten times as many on 16: 2 MB
_FIRST = 6  # samples that are drawn before the others are measured
_SAMPLES = {"text": "sentences", "image": "images"}
_words = Prose(__file__)


class Step(NamedTuple):
    """Samples by their places, and the random directions of every head on each of them."""

    draws: int
    places: Sequence[int]


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
def _measured(
    model: str,  # noqa: ARG001 - the key, as all of these
    modality: str,  # noqa: ARG001
    replace: str,  # noqa: ARG001
    measure: str,  # noqa: ARG001
) -> Shared[dict[tuple[int, int], Effects]]:
    """What was measured, by directions and place, for all visitors; a run that was left stays."""
    return Shared({})


class Corpus(NamedTuple):
    """What is measured over all samples, in steps: the first few, all, then random directions."""

    key: TraceKey
    replace: Replace
    measure: Measure

    @property
    def effects(self) -> dict[tuple[int, int], Effects]:
        """What is known, by directions and place."""
        return self._shared.kept

    @property
    def _shared(self) -> Shared[dict[tuple[int, int], Effects]]:
        return _measured(self.key.model, self.key.modality, self.replace, self.measure)

    def steps(self) -> list[Step]:
        """In their order."""
        model = cache.model(self.key.model, self.key.modality)
        count = len(samples_of(model))
        few = range(0, count, max(1, count // _FIRST))
        return [Step(0, few), Step(0, range(count)), Step(DRAWS, compared_with_chance(model))]

    def left_of(self, step: Step) -> list[int]:
        """Places that are not measured yet."""
        return [place for place in step.places if (step.draws, place) not in self.effects]

    def run(self, step: Step) -> None:
        """Measure what is left of a step under a bar; ends the page on an error."""
        if not self.left_of(step):
            return
        try:
            cancel = f"effect_corpus_cancel_{step.draws}_{len(step.places)}"
            with (
                turns.long_work(),
                bar_with_cancel(cancel, _back_to_text) as bar,
                self._shared.turn(waiting=lambda: bar.show(*self._so_far(step))),
            ):
                for place in self.left_of(step):
                    self._measure(step, place, bar)
        except ModelError as error:
            show_model_error(error)
            controls.end_page()

    def _measure(self, step: Step, place: int, bar: Bar) -> None:
        def show(passes: int, of: int) -> None:
            bar.step(*self._so_far(step, passes / of))

        show(0, 1)
        model = cache.model(self.key.model, self.key.modality)
        self.effects[step.draws, place] = sample_effects(
            model, place, self.replace, self.measure, draws=step.draws, progress=show
        )

    def _so_far(self, step: Step, share: float = 0.0) -> tuple[float, str]:
        """The share of a step that is done, with this much of a sample, and its words."""
        done, total = len(step.places) - len(self.left_of(step)), len(step.places)
        samples = _SAMPLES[self.key.modality]
        words = _words("over", draws=step.draws, done=done, total=total, samples=samples)
        return (done + share) / total, words


def _back_to_text() -> None:
    st.session_state["over"] = "text"


def measure_corpus(trace: Trace, corpus: Corpus, layer: int, head: int) -> HeadTable:
    """The table over the samples that are measured, with the chosen head; the first few at once."""
    few, whole, compared = corpus.steps()
    corpus.run(few)
    over = few if corpus.left_of(whole) else whole

    def listed(step: Step) -> list[Effects]:
        return [corpus.effects[step.draws, each] for each in step.places]

    found = [listed(over)]
    if not corpus.left_of(compared):
        found.append(listed(compared))
    table = corpus_table(trace, *found)
    return HeadTable(trace=trace, table=table, layer=layer, head=head)


def show_corpus(heads: HeadTable, corpus: Corpus, colours: Palette) -> Callable[[], None]:
    """The answer, the map, the chosen head's numbers; then the table and the file.

    What it gives measures the next step, below these, and draws them again.
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
    for step in corpus.steps():
        if corpus.left_of(step):
            controls.publish()
            with place.container():
                corpus.run(step)
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
