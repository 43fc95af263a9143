"""What heads write to the end themselves, measured once and kept; None where it cannot be said."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.model.errors import UnsupportedModelError
from core.model.interventions.heads import Replace
from core.model.interventions.measures import Measure
from core.screens.effect.input import limits, model_of, text_of
from core.ui.cache import TraceKey

if TYPE_CHECKING:
    from core.model.interventions.direct import DirectParts, WrittenWords
    from core.model.interventions.lens import Lens
    from core.model.interventions.reference import Doubles

_MAX_KEPT = 64  # of a few dozen numbers a head
_SHOWN = 3  # words that a head makes likelier, and less likely


@st.cache_resource(max_entries=_MAX_KEPT, show_spinner=False)
def parts_of(key: TraceKey, measure: Measure) -> DirectParts | None:
    """What is read at the end in parts, by a measure that is a sum of them."""
    from core.model.interventions.direct import direct_parts

    try:
        return direct_parts(model_of(key), text_of(key), measure, **limits(key))
    except UnsupportedModelError:
        return None


@st.cache_resource(max_entries=_MAX_KEPT, show_spinner="Following what heads write to the end …")
def _direct(
    key: TraceKey, replace: Replace, measure: Measure, head: tuple[int, int] | None
) -> Doubles | None:
    from core.model.interventions.direct import direct_effects

    given = {**limits(key), "heads": None if head is None else [head]}
    try:
        return direct_effects(model_of(key), text_of(key), replace, measure, **given)
    except UnsupportedModelError:
        return None


def direct_of(key: TraceKey, replace: Replace, measure: Measure) -> Doubles | None:
    """The direct effect of each head, (layer, head)."""
    return _direct(key, replace, measure, None)


def direct_of_head(
    key: TraceKey, replace: Replace, measure: Measure, layer: int, head: int
) -> float:
    """The direct effect of one head, from 0; nan where it cannot be said."""
    direct = _direct(key, replace, measure, (layer, head))
    return float("nan") if direct is None else float(direct[layer, head])


@st.cache_resource(max_entries=_MAX_KEPT, show_spinner=False)
def words_of_head(key: TraceKey, layer: int, head: int) -> WrittenWords | None:
    """The words that a head, from 0, makes likelier and less likely; None without such words."""
    from core.model.interventions.direct import written_words

    if key.image is not None:
        return None
    try:
        return written_words(model_of(key), key.text, layer, head, _SHOWN, **limits(key))
    except UnsupportedModelError:
        return None


@st.cache_resource(max_entries=_MAX_KEPT, show_spinner="Asking for words after every layer …")
def lens_of(key: TraceKey) -> tuple[Lens, ...] | None:
    """What the model would say after each layer; None for a model without a head for words."""
    from core.model.interventions.lens import logit_lens

    if key.image is not None:
        return None
    return logit_lens(model_of(key), key.text, **limits(key))
