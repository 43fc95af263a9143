"""Similar heads: the map of their distances, and those nearest to the chosen one."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.analysis.head_patterns.similarity import compare_heads, map_heads, nearest_heads
from core.figures.palette import Palette
from core.figures.patterns import pattern_colours
from core.figures.similar_heads import similar_by_pattern
from core.screens.patterns import cached
from core.screens.patterns.overview import choose_one
from core.screens.patterns.view import View
from core.ui import python
from core.ui.head_maps import show_heads
from core.ui.words.numbers import number
from core.ui.words.pattern_words import pattern_names
from core.vocabulary import head_name

_NEAREST = 10  # heads in the list


def show_similar(view: View, colours: Palette) -> None:
    """The map and the list."""
    layers, heads = view.trace.shape[:2]
    count = layers * heads
    if count < 2:
        st.info("This model has a single head: there is no other to compare it with.")
        return
    if view.corpus is None:
        distances, drawn = cached.similarity(view.key)
        python.made("distances", distances, python.call(compare_heads, view.trace))
    else:
        distances, drawn = view.corpus.distances, view.corpus.head_map()
    between = python.call(getattr, distances, "mean")
    python.made("drawn", drawn, python.call(map_heads, between))
    nearest = nearest_heads(distances.mean, view.number, _NEAREST)
    python.made("nearest", nearest, python.call(nearest_heads, between, view.number, _NEAREST))
    patterns, names = view.table["class"].tolist(), pattern_names(view.trace)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        shades = pattern_colours(st.context.theme.type, colours)
        figure = similar_by_pattern(
            drawn.points,
            view.trace.layer_labels,
            patterns,
            view.number,
            names,
            shades,
            colours,
        )
        show_heads(figure, "Map of similar heads", key="patterns_alike", on_open=choose_one)
        tokens = view.trace.input.queries
        compared = (
            f"all {distances.tokens:,} {tokens}"
            if distances.compared == distances.tokens
            else f"{distances.compared:,} of {distances.tokens:,} {tokens}, evenly spaced"
        )
        st.caption(
            f"Each point is a head; near points attend similarly on {view.where}. Compared on"
            f" {compared}. A plane cannot keep all distances: stress {number(drawn.stress)} (0 is"
            " exact; above 0.2, rely on the list instead). Click a point to choose it."
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
        mean = float(distances.mean.sum() / (count * (count - 1)))
        st.caption(
            "Full distances, not those in the map: 0 is the same attention for every token, 1 no"
            f" overlap. The mean over all pairs of heads is {number(mean)}."
        )
