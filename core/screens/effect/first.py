"""The effects of the text that the page begins with, while the model is being loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from core.figures.palette import palette
from core.model.interventions.measures import UNITS
from core.ui import address
from core.ui.cache import first_model
from core.ui.current import awaited_text
from core.ui.head_maps import show_head_map
from core.ui.navigation import ask
from core.ui.place import choose_head
from core.ui.words.effects import MEASURED
from core.ui.words.numbers import number
from core.ui.words.prose import Prose
from core.vocabulary import head_name

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

_SHOWN = {"part": "heads", "over": "text", "replace": "mean", "measure": "sentence"}
_words = Prose(__file__)


def show_first() -> DeltaGenerator:
    """Draw what comes with the app in the place that this gives, and wait for the model.

    Nothing where the model is here, or something else is asked for.
    """
    place = st.empty()
    shipped = awaited_text()
    others = any(
        (address.asks_for(key) or st.session_state.get(key, shown)) != shown
        for key, shown in _SHOWN.items()
    )
    if shipped is None or shipped.effects is None or others:
        return place
    trace, values = shipped.trace, shipped.effects
    layer, head = np.unravel_index(int(np.argmax(np.abs(values))), values.shape)
    name, effect = head_name(trace, int(layer), int(head)), number(values[layer, head], ".3g")
    unit = UNITS["sentence"]
    ask(_words("comparing", effect=effect, head=name, unit=unit, modality="text"))
    with place.container(), st.columns([5, 4], gap="medium")[0]:
        show_head_map(
            trace,
            values,
            f"effect on the {MEASURED['sentence']}",
            palette(st.context.theme.type),
            key="effect_first",
            on_open=choose_head,
            bounds=(0.0, float(values.max())),
            title=unit,
            large=True,
        )
    first_model.wait(trace.model, "text", first_model.DELAY_SECONDS)
    return place
