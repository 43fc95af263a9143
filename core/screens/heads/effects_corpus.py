"""The effects of all heads over the sample corpus, or the sample images."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import streamlit as st

from core.analysis.effect import largest_effect
from core.analysis.effect.corpus import effect_corpus_table
from core.figures.palette import Palette
from core.model import Trace
from core.model.interventions.heads import (
    SAMPLE_DRAWS,
    Replace,
    compared_with_chance,
    effects,
)
from core.model.interventions.measures import Outcome
from core.model.interventions.reference import samples_of
from core.screens.heads.effects import TITLES
from core.screens.heads.screen import show_effect_map
from core.ui import cache, controls
from core.ui.cache import TraceKey
from core.ui.corpus_walk import measure_once
from core.ui.downloads import contents
from core.ui.heads import HeadTable, show_head_table, show_overview
from core.ui.navigation import set_headline
from core.ui.place import choose_head
from core.ui.serve.long_work import ProgressBar, Shared
from core.ui.words.numbers import number
from core.ui.words.prose import Prose

if TYPE_CHECKING:
    import pandas as pd
    from streamlit.delta_generator import DeltaGenerator

    from core.model import Effects

_MAX_KEPT = 8  # each 64 times a few dozen numbers per head, ten times as many on 16: 2 MB
_SAMPLES = {"text": "sentences", "image": "images"}
_words = Prose(__file__, "words_effect.md")


def pick_over(key: TraceKey) -> bool:
    """Choose whether heads are measured over the sample corpus, not on what is shown."""
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
def _place(*key: str | int) -> Shared[list[list[Effects]]]:  # noqa: ARG001
    """The slot for measured effects, shared by all visitors; empty until a run has finished.

    The key is the model, its modality, the replacement, the outcome and the number of directions.
    """
    return Shared([])


class CorpusRun(NamedTuple):
    """A measurement over all samples; then, with random directions, over some of them."""

    key: TraceKey
    replace: Replace
    measure: Outcome

    def place(self, draws: int) -> Shared[list[list[Effects]]]:
        """The slot for effects over all samples or, with `draws`, over those with directions."""
        return _place(self.key.model, self.key.modality, self.replace, self.measure, draws)

    def effects(self, draws: int) -> list[Effects]:
        """The effects, measured under a bar if they are not yet; ends the page on an error."""
        model = cache.model(self.key.model, self.key.modality)
        samples, name = samples_of(model), _SAMPLES[self.key.modality]
        samples = compared_with_chance(samples) if draws else samples
        total = len(samples)

        def words(done: int) -> str:
            return _words("over", draws=draws, done=done, total=total, samples=name)

        def run(bar: ProgressBar) -> list[Effects]:
            measured: list[Effects] = []

            def show(passes: int, of: int) -> None:
                bar.step((len(measured) + passes / of) / total, words(len(measured)))

            for sample in samples:
                arguments = model, sample, self.replace, self.measure
                measured.append(effects(*arguments, draws=draws, progress=show))
            return measured

        back = partial(st.session_state.update, over="text")
        cancel = f"effect_corpus_cancel_{draws}"
        return measure_once(self.place(draws), run, words(0), cancel, back)


def measure_corpus(trace: Trace, corpus: CorpusRun, layer: int, head: int) -> HeadTable:
    """The table over the samples, and the chosen head; compared with chance if that is known."""
    compared = corpus.place(SAMPLE_DRAWS).kept
    table = effect_corpus_table(trace, corpus.effects(0), *compared)
    return HeadTable(trace=trace, table=table, layer=layer, head=head)


def show_corpus(heads: HeadTable, corpus: CorpusRun, colours: Palette) -> Callable[[], None]:
    """Show the answer, the map, the chosen head's numbers; then the table and the file.

    Returns a function that measures chance, with a bar below all this, and redraws it.
    """
    table, samples = heads.table, _SAMPLES[corpus.key.modality]
    facts, compared = _facts(heads.row, table, samples), table.attrs["compared"]
    set_headline(_headline(table, samples))
    passing = int(table["exceeds"].sum()) if compared else 0
    caption = _words("passing", passing=passing, total=len(table), facts=facts) if compared else ""
    passes = heads.row.get("exceeds", False)
    over_head = _words("over_head", head=heads.name, passes=passes, facts=facts)
    export = contents("effect", heads.trace.model, "corpus", text=False)
    draw_map = partial(show_effect_map, heads, colours, caption, compared=compared > 0)
    place = show_overview(heads, export, draw_map, partial(st.markdown, over_head))
    with st.expander("Every measure of every head"):
        titles = {name: name for name in map(str, heads.table) if name not in ("layer", "head")}
        show_head_table(heads, titles, key="heads_table", on_open=choose_head)
    return partial(_go_on, place, corpus)


def _go_on(place: DeltaGenerator, corpus: CorpusRun) -> None:
    if corpus.place(SAMPLE_DRAWS).kept:
        return
    controls.publish()
    with place.container():
        corpus.effects(SAMPLE_DRAWS)
    st.rerun()


def _headline(table: pd.DataFrame, samples: str) -> str:
    """The head that matters most among those beyond chance, or that none is (Markdown)."""
    compared = table.attrs["compared"]
    first = largest_effect(table[table["exceeds"]] if compared else table)
    if first is None:
        return _words("none_over", count=table.attrs["texts"], samples=samples)
    head = f"L{first['layer']} H{first['head']}"
    return _words("over_corpus", head=head, facts=_facts(first, table, samples))


def _facts(row: Mapping[str, Any], table: pd.DataFrame, samples: str) -> dict[str, Any]:
    """A head's typical effect, and what to compare it with, in words (Markdown)."""
    names = ("effect", "low", "high", "times")
    numbers = {name: number(row.get(name, math.nan), ".3g", missing="–") for name in names}
    facts = {name: table.attrs[name] for name in ("unit", "texts", "compared", "draws")}
    return numbers | facts | {"measured": TITLES[table.attrs["measure"]], "samples": samples}
