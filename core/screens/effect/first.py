"""The effects of the text that the page begins with, while the model is being loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.effect import effect_table, leading_table
from core.figures.palette import palette
from core.model.bundled.first import SENTENCE
from core.screens.effect.heads import headline
from core.screens.effect.measuring import Step, shipped_effects
from core.ui import controls
from core.ui.cache import TraceKey, first_model
from core.ui.current import awaited_text
from core.ui.head_maps import show_head_map
from core.ui.head_tables import HeadTable
from core.ui.navigation import ask
from core.ui.place import choose_head
from core.ui.words.labels import MEASURED

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

_SHOWN = {"part": "heads", "over": "text", "replace": "mean", "measure": "sentence"}


def show_first() -> DeltaGenerator:
    """Draw what comes with the app in the place that this gives, and wait for the model.

    Nothing where the model is here, or something else is asked for.
    """
    place = st.empty()
    shipped = awaited_text()
    if shipped is None or shipped.effects is None or not controls.stand_at(**_SHOWN):
        return place
    trace, key = shipped.trace, TraceKey(shipped.trace.model, SENTENCE)
    steps: tuple[Step, ...] = ("map", "fresh")
    found, fresh = (shipped_effects(key, "mean", "sentence", step) for step in steps)
    if found is None or fresh is None:
        return place
    heads = HeadTable(trace=trace, table=effect_table(trace, found), layer=0, head=0)
    ask(headline(heads, found, leading_table(trace, fresh)))
    with place.container(), st.columns([5, 4], gap="medium")[0]:
        show_head_map(
            trace,
            found.values,
            f"effect on the {MEASURED[found.measure]}",
            palette(st.context.theme.type),
            key="effect_first",
            on_open=choose_head,
            title=found.unit,
            large=True,
            beyond=heads.grid("exceeds"),
        )
    first_model.wait(trace.model, "text", first_model.DELAY_SECONDS)
    return place
