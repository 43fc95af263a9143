"""What Home keeps of the words that models expect, shared by all visitors."""

from __future__ import annotations

import streamlit as st

from core.model.language import Guess, Masked
from core.model.language import masked_words as read_masked
from core.model.language import next_words as read_next
from core.ui import cache

# How many of each; sizes are of one, for the bundled model.
MAX_GUESSES = 32  # ten tokens, or five for each of eight masks: 10 kB


@st.cache_resource(max_entries=MAX_GUESSES, show_spinner="Asking the model what comes next …")
def next_words(model_name: str, text: str, pair: str | None) -> tuple[Guess, ...]:
    """What the model expects after the text, the likeliest first."""
    return read_next(cache.model(model_name), text, pair, max_tokens=cache.MAX_TOKENS)


@st.cache_resource(max_entries=MAX_GUESSES, show_spinner="Asking the model about each mask …")
def masked_words(model_name: str, text: str, pair: str | None) -> tuple[Masked, ...]:
    """What the model reads under the masks of the text."""
    return read_masked(cache.model(model_name), text, pair, max_tokens=cache.MAX_TOKENS)
