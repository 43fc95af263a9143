"""Distance against dot product of the head on screen, and the pair that was clicked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.attention_table import unique_labels
from core.analysis.query_key.clouds import stage_vectors
from core.analysis.query_key.pair_scatter import MAX_POINTS, density_of, pair_scatter
from core.figures.query_key.pair_scatter import pair_scatter_figure
from core.screens.query_key.choice import scaling_of, search_of
from core.screens.query_key.wording import DISTANCES, SCORES, STAGE_NAMES, number, search_words
from core.ui import controls
from core.ui.head_maps import show_heads
from core.ui.messages import notice, quote

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.analysis.query_key.clouds import HeadStage
    from core.analysis.query_key.pair_scatter import PairScatter
    from core.figures.palette import Palette
    from core.model import Trace
    from core.screens.query_key.choice import Choice


def show_pairs(trace: Trace, choice: Choice, stage: HeadStage, colours: Palette) -> None:
    """A point for every pair, the line, r, and the pair that was clicked."""
    pair, search = _chosen_pair(trace), search_of(choice)
    if stage == "searched" and not search.defined:
        st.info(search_words(search, choice))
        return
    vectors = stage_vectors(trace, choice.layer, choice.head, scaling_of(trace, choice), search)
    pairs = pair_scatter(
        trace, choice.layer, choice.head, vectors[stage], choice.distance, choice.target
    )
    if not pairs.queries.size:
        st.info("No query of this text has a choice of keys, so there is no pair to draw.")
        return
    labels = unique_labels(tuple(token.display for token in trace.tokens))
    distance, centred = f"{DISTANCES[choice.distance]} distance", choice.target == "centred"
    axes = (
        ("dot product less its row's mean", f"{distance} less its row's mean")
        if centred
        else ("dot product before softmax", distance)
    )
    crowded = pairs.queries.size > MAX_POINTS
    picked = pairs.find(*pair) if pair else None
    density = density_of(pairs) if crowded else None
    figure = pair_scatter_figure(pairs, labels, axes, colours, density=density, picked=picked)
    r = number(pairs.correlation, "+.3f")
    st.markdown(f"{choice.name()}, {STAGE_NAMES[stage]}: **r = {r}**")
    show_heads(figure, key="query_key_pairs", on_open=_choose_pair)
    st.markdown(_pair_words(pairs, picked, pair, labels))
    st.caption(_reading(pairs, choice, crowded=crowded))


def _chosen_pair(trace: Trace) -> list[int]:
    """Query and key of the pair that was clicked, from 0; empty where none was."""
    dot = controls.tokens("dot", [token.position + 1 for token in trace.tokens])
    if len(dot) not in {0, 2}:
        notice("A dot in a link is a query and a key of this text, as in dot=3,5.")
        st.session_state["dot"] = dot = []
    return [position - 1 for position in dot]


def _choose_pair(query: int, key: int) -> None:
    st.session_state["dot"] = [query + 1, key + 1]


def _pair_words(
    pairs: PairScatter, picked: int | None, pair: Sequence[int], labels: Sequence[str]
) -> str:
    """The pair in words (Markdown)."""
    if not pair:
        return "Click a point to see its pair."
    query, key = (quote(labels[position]) for position in pair)
    if picked is None:
        return f"{query} → {key} does not count: this query may not see this key, or sees no other."
    return (
        f"Query {query} → key {key}: score **{number(float(pairs.scores[picked]), '.3f')}**,"
        f" distance **{pairs.distances[picked]:.3f}**, attention **{pairs.attention[picked]:.3f}**"
    )


def _reading(pairs: PairScatter, choice: Choice, *, crowded: bool) -> str:
    """What is drawn, and how many pairs it covers."""
    count = f"{pairs.queries.size:,}"
    drawn = (
        f"{count} pairs are more than {MAX_POINTS:,}, so colour shows how many lie where; points"
        " mark the key each query attends to most"
        if crowded
        else f"All {count} permitted pairs; blue marks the key each query attends to most"
    )
    means = (
        " Both sides lose the mean of their row, which softmax ignores: this is the r of every map"
        " and panel."
    ) * (choice.target == "centred")
    left_out = f" Queries with one permitted key are left out ({pairs.left_out})."
    return (
        f"{drawn}. Full space, with the {SCORES[choice.target]}.{means}"
        f"{left_out * bool(pairs.left_out)} Where near keys are the attended ones, points fall from"
        " top left to bottom right (after AttentionViz, figure 4)."
    )
