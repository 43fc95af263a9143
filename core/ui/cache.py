"""Every cache of the project, with its bound. Keys are plain strings and numbers."""

from __future__ import annotations

import streamlit as st

from core.model import LoadedModel, Trace, load, trace_text

# Two models: the one on screen and the one before. The bundled model takes about 90 MB, BERT base
# 440 MB; a small deployment restricts the list (ATTENTION_ATLAS_MODELS) and stays under 1 GB.
MODELS_KEPT = 2
# A trace of 512 tokens of the bundled model takes 20 MB, one of a sentence 0.5 MB.
TRACES_KEPT = 8
# Longest input on any page: beyond it a token x token picture is no longer readable.
MAX_TOKENS = 1024


@st.cache_resource(max_entries=MODELS_KEPT, show_spinner="Loading the model and checking it …")
def model(name: str) -> LoadedModel:
    """The model, loaded and probed; refuses one that is not on this machine."""
    return load(name, download=False)


@st.cache_resource(max_entries=TRACES_KEPT, show_spinner="Running the text through the model …")
def trace(model_name: str, text: str, pair: str | None) -> Trace:
    """One forward pass of the text. Immutable, so sessions that ask the same may share it."""
    return trace_text(model(model_name), text, pair, MAX_TOKENS)
