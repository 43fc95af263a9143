"""The model of an atlas, for attention that the atlas does not hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.model import ModelError
from core.model.errors import NotOfferedError
from core.ui import cache
from core.ui.messages import quote, show_model_error
from core.ui.site.access import resolve

if TYPE_CHECKING:
    from core.analysis.atlas import Atlas
    from core.model import LoadedModel, Trace


def model_of(atlas: Atlas) -> LoadedModel | None:
    """The model, or None with a message: a saved atlas may name anything."""
    try:
        model = cache.model(resolve(atlas.model))
    except NotOfferedError:
        st.caption(
            f"Attention between tokens needs the model {quote(atlas.model)}, which this site does"
            " not offer."
        )
        return None
    except ModelError as error:
        st.caption("Attention between tokens needs the model of this atlas:")
        show_model_error(error)
        return None
    layers, heads = atlas.shape[:2]
    if (model.layers, model.heads) != (layers, heads):
        st.warning(
            f"{quote(atlas.model)} has {model.layers} × {model.heads} heads here and {layers} ×"
            f" {heads} in this atlas: the model has changed since."
        )
        return None
    return model


def same_tokens(atlas: Atlas, sentence: int, trace: Trace) -> bool:
    """Whether the model splits a sentence into as many tokens as the atlas has for it."""
    return len(trace.tokens) == len(atlas.tokens.of_sentence(sentence))
