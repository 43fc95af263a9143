"""Which heads carry the difference: what each writes on A is put into the run of B."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from core.analysis.compare.alignment import align
from core.analysis.effect.table import carriers, leading_carriers
from core.model.interventions.exchange import Exchange, exchange
from core.screens.compare.measured import MAX_TOKENS, Comparison, trace_of
from core.ui import cache, controls
from core.ui.cache import TraceKey
from core.ui.corpus_walk import measure_once, reads_corpora
from core.ui.downloads import contents, offer_csv
from core.ui.heads import names_of
from core.ui.serve.long_work import ProgressBar, Shared
from core.ui.words.numbers import in_a_row
from core.ui.words.prose import Prose

if TYPE_CHECKING:
    import pandas as pd

VARIANTS = 8  # of A, with the text itself: an interval needs five, each takes a second or more
_MAX_KEPT = 32  # tables of all heads: 5 kB each
_SHOWN = 10  # rows
_words = Prose(__file__)


@st.cache_resource(max_entries=_MAX_KEPT, show_spinner=False)
def _place(key: TraceKey, b: str, lines: tuple[str, ...], match: str) -> Shared[list[pd.DataFrame]]:  # noqa: ARG001 - the key
    """The slot for a table, shared by all visitors; empty until a run has finished."""
    return Shared([])


def show_carriers(found: Comparison, key: TraceKey, text_b: str) -> None:
    """On request, rank heads by how far what they write on A moves B's answer towards A's."""
    if found.nearest is not None or not reads_corpora(found.a) or not found.alignment.pairs:
        return
    if not controls.flag("carry", "Which heads carry it", help=_words("carry", most=VARIANTS)):
        return
    place = _place(key, text_b, found.lines, st.session_state["match"])
    run = lambda bar: _run(found, key, text_b, bar)
    words = _words("exchanging", done=0, total=VARIANTS)
    table = measure_once(place, run, words, "carry_cancel", _stop)
    if not table.attrs["variants"]:
        st.info(_words("no_way"))
        return
    carrying = table[table["carries"]]
    first = table.iloc[0]
    st.markdown(
        _words(
            "carriers",
            names=in_a_row(names_of(carrying).tolist()),
            count=len(carrying),
            first=names_of(table)[0],
            facts={name: float(first[name]) for name in ("share", "low", "high", "control")},
            measured=table.attrs,
        )
    )
    shown = table.head(_SHOWN).drop(columns=["layer", "head"])
    shown.insert(0, "head", names_of(table).head(_SHOWN))
    number = st.column_config.NumberColumn(format="%.3f")
    columns = dict.fromkeys(("share", "low", "high", "control", "p"), number)
    st.dataframe(shown, hide_index=True, placeholder="–", column_config=columns)
    file = contents("compare", found.a.model, "carriers")
    offer_csv(table.copy, file, key="carriers_csv", index=False, float_format="%.6f")


def _run(found: Comparison, key: TraceKey, text_b: str, bar: ProgressBar) -> pd.DataFrame:
    """All heads on every variant of A, then random directions for those that move B most."""
    model, texts = cache.model(key.model), [key.text, *found.lines][:VARIANTS]
    sides = [found.alignment]
    sides += [align(trace_of(key._replace(text=text)), found.b) for text in texts[1:]]
    limits: dict[str, Any] = {"pair": key.pair, "max_tokens": MAX_TOKENS}

    def each(stage: int, **options: Any) -> list[Exchange]:  # noqa: ANN401 - of exchange
        results = []
        for text, side in zip(texts, sides, strict=True):
            a, b = side.groups_a, side.groups_b
            results.append(exchange(model, text, text_b, a, b, **options, **limits))
            done = stage * len(texts) + len(results)
            bar.step(done / (2 * len(texts)), _words("exchanging", done=done, total=2 * len(texts)))
        return results

    whole = each(0, draws=0)
    return carriers(found.a, whole, each(1, heads=leading_carriers(whole)))


def _stop() -> None:
    controls.pick(carry=False)
