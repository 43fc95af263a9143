"""What whoever deploys the app has decided, from the environment or the secrets.

``MODELS``: what visitors may use; ``FOLDERS``: folders whose models they may open; ``HUB_TOKEN``:
"1" lets their requests to the model hub carry the operator's token; ``DOWNLOAD_MB``: the largest
model they may have downloaded; ``TOKENS``: the largest atlas.
"""

from __future__ import annotations

import functools
import logging
import os

import streamlit as st

_PREFIX, _OLD_PREFIX = "HEADSCOPE_", "ATTENTION_ATLAS_"
_log = logging.getLogger(__name__)
_YES = frozenset({"1", "true", "yes", "on"})


def setting(name: str) -> str | None:
    """The value of a setting such as ``MODELS`` (``HEADSCOPE_MODELS``); None where it is not set.

    The environment comes before the secrets; the project's first name, ``ATTENTION_ATLAS_MODELS``,
    is read as well, and the log says what to call it now.
    """
    names = (_PREFIX + name, _OLD_PREFIX + name)
    for full in names:
        if (value := os.environ.get(full)) is not None:
            _say_new_name(full)
            return value
    try:
        for full in names:
            if full in st.secrets:
                _say_new_name(full)
                return str(st.secrets[full])
    except FileNotFoundError:
        pass
    return None


@functools.cache
def _say_new_name(full: str) -> None:
    """Once for each old name, in the log."""
    if full.startswith(_OLD_PREFIX):
        _log.warning("%s is now called %s.", full, full.replace(_OLD_PREFIX, _PREFIX, 1))


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
