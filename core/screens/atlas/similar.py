"""The map of heads: those that attend similarly over the corpus are near, coloured by layer."""

from __future__ import annotations

from functools import partial
from weakref import ref

import pandas as pd
import streamlit as st

from core.analysis.head_patterns.similarity import map_heads, nearest_heads
from core.figures.palette import Palette
from core.figures.similar_heads import similar_by_layer
from core.screens.atlas.screen import Screen
from core.screens.atlas.wording import number
from core.ui import python
from core.ui.cache.session import remembered
from core.ui.head_maps import show_heads
from core.ui.place import choose_head
from core.ui.words.prose import Prose
from core.vocabulary import head_name

_CACHED, _NEAREST = "_atlas_head_map", 10
_words = Prose(__file__)


def show_similar(screen: Screen, colours: Palette) -> None:
    """The map, and the heads nearest to the chosen one."""
    atlas, distances = screen.atlas, screen.atlas.distances
    layers, heads, _ = atlas.shape
    if layers * heads < 2:
        st.info("This model has a single head, so there is nothing to compare it with.")
        return
    head_map = remembered(_CACHED, ref(atlas), lambda: map_heads(distances.mean))
    between = python.call(getattr, atlas, "distances.mean")
    python.made("head_map", head_map, python.call(map_heads, between))
    chosen = screen.layer * heads + screen.head
    left, right = st.columns([3, 2], gap="medium")
    with left:
        show_heads(
            similar_by_layer(head_map.points, atlas.layer_labels, chosen, colours),
            "Map of similar heads",
            key="atlas_heads",
            on_open=partial(choose_head, part="alike"),
            model=atlas.model,
        )
        words = _words(
            "similar_heads",
            compared=distances.compared,
            tokens=distances.tokens,
            stress=number(head_map.stress),
        )
        st.caption(words)
    with right:
        st.markdown(f"**Nearest to {screen.name}**")
        nearest = nearest_heads(distances.mean, chosen, _NEAREST)
        python.made("nearest", nearest, python.call(nearest_heads, between, chosen, _NEAREST))
        table = {
            "head": [head_name(atlas, *divmod(i, heads)) for i, _ in nearest],
            "distance": [round(distance, 3) for _, distance in nearest],
        }
        st.dataframe(pd.DataFrame(table), key="atlas_nearest", hide_index=True)
        st.caption(
            "Jensen-Shannon distance: 0 is the same attention from every token, 1 nothing in"
            " common."
        )
