"""What the page of anomalies keeps, shared by all visitors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.anomalies import anomaly_table
from core.analysis.images import odd_patches as find_odd_patches
from core.analysis.images.odd_patches import OddPatches
from core.model.catalog import Modality
from core.model.trace import Array
from core.model.weights import query_key
from core.ui import cache
from core.ui.cache import TraceKey

if TYPE_CHECKING:
    import pandas as pd

# How many of each; sizes are of one, for the bundled model.
MAX_TABLES = 16  # a few dozen numbers a head: 40 kB


@st.cache_resource(max_entries=cache.MAX_MODELS, show_spinner=False)
def weight_similarity(model_name: str, modality: Modality = "text") -> Array | None:
    """How similar W_Q and W_K of each head are, (layer, head); None where they are not known."""
    return query_key.weight_similarity(cache.model(model_name, modality))


@st.cache_resource(max_entries=MAX_TABLES, show_spinner="Measuring every head …")
def anomalies(key: TraceKey) -> pd.DataFrame:
    """The table of core.analysis.anomalies. Shared by sessions: nobody may write to it."""
    weights = None if key.attention_type else weight_similarity(key.model, key.modality)
    table = anomaly_table(cache.trace(*key), cache.transformed_norms(key), weights)
    table.attrs["where"] = f"this {key.modality}"
    return table


@st.cache_resource(max_entries=MAX_TABLES, show_spinner="Measuring every head …")
def odd_patches(key: TraceKey) -> OddPatches | None:
    """The high-norm patches of an image, and the attention that they draw."""
    return find_odd_patches(cache.trace(*key))
