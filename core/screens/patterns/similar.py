"""Heads that resemble each other: the map of their distances, and the nearest of the chosen one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from core.analysis.head_patterns.similarity import Distances, HeadMap, map_heads, nearest_heads
from core.figures.patterns import pattern_colours
from core.figures.similar_heads import similar_by_pattern
from core.screens.patterns.overview import choose_head
from core.screens.patterns.shelf import corpus_shelf
from core.screens.patterns.wording import head_name, number
from core.ui import cache
from core.ui.head_maps import show_heads
from core.ui.words.pattern_words import PATTERN_NAMES

if TYPE_CHECKING:
    from core.figures.palette import Palette
    from core.screens.patterns.found import Found

_NEAREST = 10  # heads in the list


def show_alike(found: Found, colours: Palette, theme: str | None) -> None:
    """The map and the list."""
    layers, heads = found.trace.shape[:2]
    if layers * heads < 2:
        st.info("This model has a single head: there is none to compare it with.")
        return
    distances, drawn = _similarity(found)
    labels = [head_name(*divmod(index, heads)) for index in range(layers * heads)]
    classes = [str(kind) for kind in found.table["class"]]
    left, right = st.columns([3, 2], gap="medium")
    with left:
        figure = similar_by_pattern(
            drawn.points,
            labels,
            classes,
            found.number,
            PATTERN_NAMES,
            pattern_colours(theme, colours),
            colours,
        )
        show_heads(figure, key="patterns_alike", on_open=choose_head, heads=heads)
        st.caption(_read(found, distances, drawn))
    with right:
        st.markdown(f"**Nearest to {found.name}**")
        st.dataframe(_nearest(found, distances, labels), key="patterns_nearest", hide_index=True)
        st.caption(
            "Distances in full, not in the map: 0 is the same attention for every token, 1 nothing"
            f" in common. The mean over all pairs of heads is {number(_mean(distances))}."
        )


def _similarity(found: Found) -> tuple[Distances, HeadMap]:
    if found.corpus is None:
        return cache.similarity(found.key)
    shelf = corpus_shelf(found.trace.model, found.corpus.digest)
    distances = found.corpus.distances
    if not shelf.maps:
        with st.spinner("Laying out the map …"):
            shelf.maps.append(map_heads(distances.mean))
    return distances, shelf.maps[0]


def _nearest(found: Found, distances: Distances, labels: list[str]) -> pd.DataFrame:
    nearest = nearest_heads(distances.mean, found.number, _NEAREST)
    kinds = found.table["class"]
    return pd.DataFrame(
        {
            "head": [labels[other] for other, _ in nearest],
            "distance": [round(distance, 3) for _, distance in nearest],
            "pattern": [PATTERN_NAMES[kinds.iloc[other]] for other, _ in nearest],
        }
    )


def _read(found: Found, distances: Distances, drawn: HeadMap) -> str:
    every = (
        f"all {distances.tokens:,} tokens"
        if distances.compared == distances.tokens
        else f"{distances.compared:,} of {distances.tokens:,} tokens, evenly spaced"
    )
    return (
        f"Each point is a head; near means that they attend alike on {found.where}. Compared on"
        f" {every}. A plane cannot hold all distances: stress {number(drawn.stress)} (0 is exact,"
        " above 0.2 read the map with care and trust the list). Click a point to choose it."
    )


def _mean(distances: Distances) -> float:
    mean = distances.mean
    return float(mean.sum() / (len(mean) * (len(mean) - 1)))
