"""The map of heads: near where they attend alike over the corpus, coloured by layer."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING
from weakref import ref

import pandas as pd
import streamlit as st

from core.analysis.head_patterns.similarity import map_heads, nearest_heads
from core.figures.similar_heads import similar_by_layer
from core.screens.atlas.screen import open_head
from core.screens.atlas.wording import number
from core.ui.head_maps import show_heads

if TYPE_CHECKING:
    from core.figures.palette import Palette
    from core.screens.atlas.screen import Screen

_KEPT, _NEAREST = "_atlas_head_map", 10


def show_alike(screen: Screen, colours: Palette) -> None:
    """The map and the nearest heads of the chosen one."""
    atlas = screen.atlas
    layers, heads, _ = atlas.shape
    if layers * heads < 2:
        st.info("This model has a single head: there is none to compare it with.")
        return
    kept = st.session_state.get(_KEPT)
    if kept is None or kept[0] != ref(atlas):
        kept = ref(atlas), map_heads(atlas.distances.mean)
        st.session_state[_KEPT] = kept
    drawn = kept[1]
    chosen = screen.layer * heads + screen.head
    left, right = st.columns([3, 2], gap="medium")
    with left:
        show_heads(
            similar_by_layer(drawn.points, heads, chosen, colours),
            key="atlas_heads",
            on_open=partial(open_head, part="alike"),
            heads=heads,
        )
        distances = atlas.distances
        st.caption(
            "Each point is a head; near means that they attend alike, whatever their queries and"
            f" keys are. Compared on {distances.compared:,} of {distances.tokens:,} tokens. A plane"
            f" cannot hold all distances: stress {number(drawn.stress)} (0 is exact; above 0.2"
            " trust the list more). Point at a head for its name; click to choose it."
        )
    with right:
        st.markdown(f"**Nearest to {screen.name}**")
        nearest = nearest_heads(atlas.distances.mean, chosen, _NEAREST)
        st.dataframe(
            pd.DataFrame(
                {
                    "head": [f"L{i // heads + 1} H{i % heads + 1}" for i, _ in nearest],
                    "distance": [round(distance, 3) for _, distance in nearest],
                }
            ),
            key="atlas_nearest",
            hide_index=True,
        )
        st.caption(
            "Jensen-Shannon distance: 0 is the same attention for every token, 1 nothing in common."
        )
