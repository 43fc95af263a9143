"""Feature selectivity: measured on this image or on all sample images."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.images.follow.table import FOLLOWED, Followed, followed, followers, table_of
from core.analysis.images.patch_scores import patches_of
from core.model import Trace, trace_patches, untrained_twin
from core.model.box import BOX
from core.model.memory import return_freed_memory
from core.ui import cache, controls, corpus_walk
from core.ui.cache import TraceKey
from core.ui.serve.once import room_for_twin

if TYPE_CHECKING:
    import pandas as pd

    from core.model import LoadedModel

NAME = "query_key"
SOURCES = {"image": "this image", "box": "all sample images"}
WHERE = {"image": "this image", "box": f"the {len(BOX)} sample images"}
TWINS = 5  # seeds of the untrained twin, for one image: their counts differ by a factor of two
MAX_TABLES = 16  # a dozen numbers a head: 30 kB
_MEASURED = "_follows_measured"  # what this session has measured


@st.cache_resource(
    max_entries=MAX_TABLES,
    show_spinner="Asking every head what it follows, here and with the image moved over its grid,"
    " and every head of the untrained twin …",
)
def _of_image(key: TraceKey) -> pd.DataFrame:
    trace = cache.trace(*key)
    model = cache.model_of(trace)
    try:  # one twin at a time: each is as large as the model; a few numbers a head are kept
        with room_for_twin:
            seen = [_seen_by(untrained_twin(model, seed), trace) for seed in range(TWINS)]
    finally:
        return_freed_memory()
    own, *twins = followed(trace, *seen)
    table = table_of([own], twins[:1])
    counted = [table_of([twin]) for twin in twins]
    table.attrs["twins"] = {what: [followers(each, what) for each in counted] for what in FOLLOWED}
    return table


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
    def take(parts: dict[int, list[Followed]], index: int, trace: Trace) -> None:
        parts[index] = followed(trace, _seen_by(twin, trace))

    with room_for_twin:
        twin = untrained_twin(cache.model(key.model, "image"))
        parts: dict[int, list[Followed]] = corpus_walk.walk_box(
            NAME, key.model, key.size, dict, take, on_cancel=_back_to_image
        )
    images, twins = zip(*(parts[index] for index in sorted(parts)), strict=True)
    return table_of(images, twins)


def _seen_by(twin: LoadedModel, trace: Trace) -> Trace:
    """The very patches of a trace, seen by the untrained twin of its model."""
    return trace_patches(twin, patches_of(trace))


def _back_to_image() -> None:
    st.session_state["on"] = "image"


def show_cancelled(key: TraceKey) -> None:
    """After a Cancel: how far it came."""
    corpus_walk.show_cancelled(NAME, key.model, len(BOX), what="the sample images", each="images")


def pick_source() -> str:
    """Whether heads are measured on this image or on all sample images."""
    return controls.choice(
        "on", SOURCES, "Measured on", subject="Heads can be measured on", menu=True, width=180
    )
