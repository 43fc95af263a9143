"""Which heads carry the difference: what each writes on A is put into the run of B."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from core.analysis.compare.alignment import align
from core.analysis.effect.table import carriers, leading_carriers
from core.model.interventions.exchange import Exchange, exchange
from core.screens.compare.measured import MAX_TOKENS, Comparison, place_of, run
from core.ui import cache, controls
from core.ui.cache import TraceKey
from core.ui.corpus_walk import measure_once, reads_corpora
from core.ui.downloads import contents, offer_csv
from core.ui.heads import names_of
from core.ui.serve.long_work import ProgressBar
from core.ui.words.numbers import in_a_row
from core.ui.words.prose import Prose

if TYPE_CHECKING:
    import pandas as pd

VARIANTS = 6  # of A, with the text itself: an interval needs five
_SHOWN = 10  # rows
_words = Prose(__file__)


def show_carriers(found: Comparison, key: TraceKey, text_b: str) -> None:
    """On request, rank heads by how far what they write on A moves B's answer towards A's."""
    possible = not found.matchings and reads_corpora(found.a) and bool(found.alignment.pairs)
    label, help_ = "Which heads carry it" if possible else "", _words("carry", most=VARIANTS)
    if not controls.flag("carry", label, disabled=not possible, help=help_):
        return
    place = place_of(key, text_b, found.lines, found.alignment.pairs)
    words = _words("exchanging", done=0, total=2 * VARIANTS)
    measure = lambda bar: _measured(found, key, text_b, bar)
    stop = lambda: controls.pick(carry=False)
    table = measure_once(place, measure, words, "carry_cancel", stop)
    names, first = names_of(table), table.iloc[0]
    carrying = names[table["carries"]].tolist()
    facts = {name: first[name] for name in ("share", "low", "high", "control")} | table.attrs
    facts |= {"names": in_a_row(carrying), "count": len(carrying), "first": names[0]}
    st.markdown(_words("carriers", facts=facts))
    shown = table.head(_SHOWN).drop(columns="layer").assign(head=names)
    st.dataframe(shown.round(3), hide_index=True, placeholder="–")
    file = contents("compare", found.a.model, "carriers")
    offer_csv(table.copy, file, key="carriers_csv", index=False, float_format="%.6f")


def _measured(found: Comparison, key: TraceKey, text_b: str, bar: ProgressBar) -> pd.DataFrame:
    """All heads on every variant of A, then random directions for those that move B most."""
    model, texts = cache.model(key.model), [key.text, *found.lines][:VARIANTS]
    others = (align(run(key._replace(text=text)), found.b) for text in texts[1:])
    sides = [side.groups for side in (found.alignment, *others)]

    def exchanges(begun: int, **options: Any) -> list[Exchange]:  # noqa: ANN401 - of exchange
        results: list[Exchange] = []
        for text, groups in zip(texts, sides, strict=True):
            done, total = begun + len(results), 2 * len(texts)
            bar.step(done / total, _words("exchanging", done=done, total=total))
            limits: dict[str, Any] = {"pair": key.pair, "max_tokens": MAX_TOKENS, **options}
            results.append(exchange(model, text, text_b, *groups, **limits))
        return results

    whole = exchanges(0, draws=0)
    return carriers(found.a, whole, exchanges(len(texts), heads=leading_carriers(whole)))
