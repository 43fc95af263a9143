"""What the page of head patterns keeps of one text, shared by all visitors."""

from __future__ import annotations

import streamlit as st

from core.analysis.head_patterns.induction import Induction, induction_scores
from core.analysis.head_patterns.measure import Measured, measure_text
from core.analysis.head_patterns.similarity import Distances, HeadMap, compare_heads, map_heads
from core.model import trace_repeated
from core.ui import cache
from core.ui.cache import TraceKey

# How many of each; sizes are of one, for the bundled model.
MAX_TABLES = 16  # a few dozen numbers a head: 40 kB
MAX_DISTANCES = 8  # between all pairs of heads: 40 kB, 900 kB for 336 heads


@st.cache_resource(max_entries=MAX_TABLES, show_spinner="Measuring every head …")
def measured(key: TraceKey) -> Measured:
    """What the pattern table of one text is made of."""
    return measure_text(cache.trace(*key))


@st.cache_resource(max_entries=cache.MAX_MODELS, show_spinner="Looking for heads that copy …")
def induction(model_name: str) -> Induction | None:
    """Induction scores on random sequences; None for a model that takes too few tokens."""
    try:
        return induction_scores(trace_repeated(cache.model(model_name)))
    except ValueError:
        return None


@st.cache_resource(max_entries=MAX_DISTANCES, show_spinner="Comparing every pair of heads …")
def similarity(key: TraceKey) -> tuple[Distances, HeadMap]:
    """How differently heads attend to one text, and the map of them."""
    distances = compare_heads(cache.trace(*key))
    return distances, map_heads(distances.mean)
