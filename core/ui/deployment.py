"""What whoever deploys the app has decided, from the environment or the secrets."""

from __future__ import annotations

import os

import streamlit as st


def setting(name: str) -> str | None:
    """The value of a setting such as ``ATTENTION_ATLAS_MODELS``; None where it is not set."""
    value = os.environ.get(name)
    if value is not None:
        return value
    try:
        kept = st.secrets.get(name)
    except FileNotFoundError:
        return None
    return None if kept is None else str(kept)
