"""What the operator of a deployment has decided, in the environment or the secrets.

``MODELS``: what visitors may use; ``FOLDERS``: folders whose models they may open; ``HUB_TOKEN``:
"1" sends the operator's token with their requests to the model hub; ``DOWNLOAD_MB``: the largest
model they may download; ``TOKENS``: the largest atlas; ``ATLASES``: a folder of prepared ones;
``HALF``: "1" runs checkpoints in bfloat16 or float16 as they are, on a graphics card.
"""

from __future__ import annotations

import os

import streamlit as st

_YES = frozenset({"1", "true", "yes", "on"})


def setting(name: str) -> str | None:
    """The value of a setting such as ``MODELS`` (``HEADSCOPE_MODELS``); None if it is not set.

    The environment comes before the secrets.
    """
    full = f"HEADSCOPE_{name}"
    if (value := os.environ.get(full)) is not None:
        return value
    try:
        return str(st.secrets[full]) if full in st.secrets else None
    except FileNotFoundError:
        return None


def is_on(name: str) -> bool:
    """Whether a switch such as ``HUB_TOKEN`` is set to 1, true, yes or on."""
    return (setting(name) or "").strip().lower() in _YES


def megabytes(name: str, default: float) -> float:
    """A size in MB such as ``DOWNLOAD_MB``; the default if it is missing or not a number."""
    try:
        size = float((setting(name) or "").replace(",", ""))
    except ValueError:
        return default
    return size if size >= 0 else default


def share_processors() -> None:
    """Let threads that wait for each other sleep; call before PyTorch is imported.

    OpenMP's wait by spinning: where others use the processors too, as visitors do, a pass through
    a small model then takes five to ten times as long.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
