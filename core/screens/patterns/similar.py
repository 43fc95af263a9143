"""Similar heads: the map of their distances, and those nearest to the chosen one."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.analysis.head_patterns.similarity import (
    Distances,
    HeadMap,
    compare_heads,
    map_heads,
    nearest_heads,
)
from core.figures.heads import head_scatter
from core.figures.palette import Palette
from core.figures.patterns import pattern_looks
from core.screens.patterns.overview import choose_one
from core.screens.patterns.view import View
from core.ui import cache
from core.ui.head_maps import show_heads
from core.ui.words.pattern_words import pattern_names
from core.ui.words.prose import Prose
from core.vocabulary import head_name

_words = Prose(__file__)
_NEAREST = 10  # heads in the list
_MAX_DISTANCES = 8  # kept between all pairs of heads: 40 kB, 900 kB for 336 heads


@st.cache_resource(max_entries=_MAX_DISTANCES, show_spinner="Comparing every pair of heads …")
def _similarity(key: cache.TraceKey) -> tuple[Distances, HeadMap]:
    distances = compare_heads(cache.trace(*key))
    return distances, map_heads(distances.mean)


def show_similar(view: View, colours: Palette) -> None:
    """The map and the list."""
    layers, heads = view.trace.shape[:2]
    count = layers * heads
    if count < 2:
        st.info(_words("single_head"))
        return
    if view.corpus is None:
        distances, drawn = _similarity(view.key)
    else:
        distances, drawn = view.corpus.distances, view.corpus.head_map()
    nearest = nearest_heads(distances.mean, view.number, _NEAREST)
    patterns, names = view.table["class"].tolist(), pattern_names(view.trace)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        looks = pattern_looks(names, st.context.theme.type, colours)
        labels, chosen = view.trace.layer_labels, view.number
        figure = head_scatter(drawn.points, labels, patterns, chosen, looks, colours)
        show_heads(figure, "Map of similar heads", key="patterns_alike", on_open=choose_one)
        st.caption(
            _words(
                "map_of_similar",
                where=view.where,
                tokens=distances.tokens,
                compared=distances.compared,
                queries=view.trace.input.queries,
                stress=drawn.stress,
            )
        )
    with right:
        st.markdown(f"**Nearest to {view.name}**")
        rows = [
            (
                head_name(view.trace, *divmod(i, heads)),
                round(distance, 3),
                names[patterns[i]],
            )
            for i, distance in nearest
        ]
        frame = pd.DataFrame(rows, columns=["head", "distance", "pattern"])
        st.dataframe(frame, key="patterns_nearest", hide_index=True)
        mean = distances.mean.sum() / (count * (count - 1))
        st.caption(_words("distances", mean=mean))
