"""What the head view keeps, shared by all visitors."""

from __future__ import annotations

import streamlit as st

from core.analysis.layer_payload import LayerPayload, Weighting
from core.ui import cache
from core.ui.cache import TraceKey

# How many; sizes are of one, for the bundled model.
# 3 MB at 512 tokens, 17 MB at 1,024 tokens and 16 heads; five times that where weights are sent.
MAX_VIEW_LAYERS = 6


@st.cache_resource(max_entries=MAX_VIEW_LAYERS, show_spinner=False)
def view_layer(key: TraceKey, layer: int, weighting: Weighting) -> LayerPayload:
    """A layer as the head view gets it, from :meth:`LayerPayload.drawn`."""
    norms = cache.transformed_norms(key) if weighting == "transformed" else None
    return LayerPayload.drawn(cache.trace(*key), layer, weighting, norms)
