"""What whoever deploys the app has decided, from the environment or the secrets.

``MODELS``: what visitors may use; ``FOLDERS``: folders whose models they may open; ``HUB_TOKEN``:
"1" lets their requests to the model hub carry the operator's token; ``DOWNLOAD_MB``: the largest
model they may have downloaded; ``TOKENS``: the largest atlas.
"""

from __future__ import annotations

import os

import streamlit as st

_PREFIXES = ("HEADSCOPE_", "ATTENTION_ATLAS_")  # the name to come first, then the present one
_YES = frozenset({"1", "true", "yes", "on"})


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


def is_on(name: str) -> bool:
    """Whether a switch such as ``HUB_TOKEN`` is set to 1, true, yes or on."""
    return (setting(name) or "").strip().lower() in _YES


def megabytes(name: str, default: float) -> float:
    """A size in MB such as ``DOWNLOAD_MB``; the default where it is not set or no number."""
    try:
        size = float((setting(name) or "").replace(",", ""))
    except ValueError:
        return default
    return size if size >= 0 else default
