"""What heads follow: measured on this image or on all images of the box."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.images import follow_table
from core.analysis.images.follow_table import Followed, followed, table_of
from core.model.box import BOX
from core.ui import cache, controls, corpus_walk

if TYPE_CHECKING:
    import pandas as pd

    from core.model import Trace
    from core.ui.cache import TraceKey

NAME = "patch_space"
SOURCES = {"image": "this image", "box": "all images of the box"}
WHERE = {"image": "this image", "box": f"the {len(BOX)} images of the box"}
MAX_TABLES = 16  # a dozen numbers a head: 30 kB
_MEASURED = "_follows_measured"  # what this session has measured


@st.cache_resource(
    max_entries=MAX_TABLES,
    show_spinner="Asking every head what it follows, here and with the image moved over its grid …",
)
def _of_image(key: TraceKey) -> pd.DataFrame:
    return follow_table(cache.trace(*key))


def table_for(key: TraceKey, source: str) -> pd.DataFrame:
    """The table of :func:`table_of`, from the cache or measured now. Nobody may write to it."""
    if source == "image":
        table = _of_image(key)
        st.session_state[_MEASURED] = key
        return table
    names = [*BOX, str(key.size)]
    return corpus_walk.measured_once(NAME, key.model, names, lambda: _measure_box(key))


def known_table(key: TraceKey) -> pd.DataFrame | None:
    """The table of this image, if this session has measured it."""
    return _of_image(key) if st.session_state.get(_MEASURED) == key else None


def _measure_box(key: TraceKey) -> pd.DataFrame:
    def take(parts: dict[int, Followed], index: int, trace: Trace) -> None:
        parts[index] = followed(trace)

    parts: dict[int, Followed] = corpus_walk.walk_box(
        NAME, key.model, key.size, dict, take, on_cancel=_back_to_image
    )
    return table_of([parts[index] for index in sorted(parts)])


def _back_to_image() -> None:
    st.session_state["on"] = "image"


def show_cancelled(key: TraceKey) -> None:
    """After a Cancel: how far it came."""
    corpus_walk.show_cancelled(NAME, key.model, len(BOX), what="the box", each="images")


def pick_source() -> str:
    """Whether heads are measured on this image or on all images of the box."""
    return controls.choice(
        "on", SOURCES, "Measured on", subject="Heads can be measured on", menu=True, width=180
    )
