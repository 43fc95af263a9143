"""What whoever deploys the app has decided, from the environment or the secrets."""

from __future__ import annotations

import os

import streamlit as st

_PREFIXES = ("HEADSCOPE_", "ATTENTION_ATLAS_")  # the name to come first, then the present one


def setting(name: str) -> str | None:
    """The value of a setting such as ``MODELS`` (``HEADSCOPE_MODELS``); None where it is not set.

    The environment comes before the secrets; ``ATTENTION_ATLAS_MODELS`` is read as well.
    """
    names = [prefix + name for prefix in _PREFIXES]
    for full in names:
        if (value := os.environ.get(full)) is not None:
            return value
    try:
        return next((str(st.secrets[full]) for full in names if full in st.secrets), None)
    except FileNotFoundError:
        return None
