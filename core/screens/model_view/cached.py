"""What the model view keeps of searches for patterns, shared by all visitors."""

from __future__ import annotations

import streamlit as st

from core.analysis.head_patterns.search import Search, find_heads
from core.ui import cache
from core.ui.cache import TraceKey

MAX_SEARCHES = 32  # of two numbers a head


@st.cache_resource(max_entries=MAX_SEARCHES, show_spinner=False)
def heads_that(key: TraceKey, pattern: str) -> Search:
    """The heads of a text or an image that follow a pattern of `HIGHLIGHTED`."""
    return find_heads(cache.trace(*key), pattern)
