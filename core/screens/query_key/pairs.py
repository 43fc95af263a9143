"""Distance against dot product of the head on screen, and the pair that was clicked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.attention_table import unique_labels
from core.analysis.query_key.clouds import stage_vectors
from core.analysis.query_key.pair_scatter import MOST_POINTS, density_of, pair_scatter
from core.figures.query_key.pair_scatter import pair_scatter_figure
from core.screens.query_key.choice import scaling_of, search_of
from core.screens.query_key.search_wording import search_words
from core.screens.query_key.wording import DISTANCES, SCORES, STAGE_NAMES, number
from core.ui import controls
from core.ui.messages import notice, quote

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.analysis.query_key.clouds import HeadStage
    from core.analysis.query_key.pair_scatter import PairScatter
    from core.figures.palette import Palette
    from core.model import Trace
    from core.screens.query_key.choice import Choice

_CHART = "query_key_pairs"
_DOT = "dot"  # of links and the session: query and key of the chosen pair, positions from 1


def _chosen_pair(trace: Trace) -> list[int]:
    """Query and key of the pair that was clicked, from 0; empty where none was."""
    dot = controls.tokens(_DOT, [token.position + 1 for token in trace.tokens])
    if len(dot) not in {0, 2}:
        notice("A dot in a link is a query and a key of this text, as in dot=3,5.")
        st.session_state[_DOT] = dot = []
    return [place - 1 for place in dot]


def show_pairs(trace: Trace, choice: Choice, stage: HeadStage, colours: Palette) -> None:
    """Every pair a point, the line, r, and the pair that was clicked."""
    dot, search = _chosen_pair(trace), search_of(choice)
    if stage == "searched" and not search.defined:
        st.info(search_words(search, choice))
        return
    vectors = stage_vectors(trace, choice.layer, choice.head, scaling_of(trace, choice), search)[
        stage
    ]
    pairs = pair_scatter(trace, choice.layer, choice.head, vectors, choice.distance, choice.target)
    if not pairs.queries.size:
        st.info("No query of this text has a choice of keys: there is no pair to draw.")
        return
    labels = unique_labels(tuple(token.display for token in trace.tokens))
    picked = pairs.find(*dot) if dot else None
    figure = pair_scatter_figure(
        pairs,
        labels,
        _axes(choice),
        colours,
        density=density_of(pairs) if _is_crowded(pairs) else None,
        picked=picked,
    )
    st.markdown(f"{choice.name}, {STAGE_NAMES[stage]}: **r = {number(pairs.correlation, '+.3f')}**")
    st.plotly_chart(
        figure,
        key=_CHART,
        on_select=_take_dot,
        selection_mode="points",
        config={"displayModeBar": False},
    )
    st.markdown(_pair_words(pairs, picked, dot, labels))
    st.caption(_reading(pairs, choice))


def _take_dot() -> None:
    """Keep the pair that was clicked."""
    points = st.session_state[_CHART].selection.points
    data = points[0].get("customdata") if points else None
    if isinstance(data, dict):  # Streamlit gives a point's own data as a list or a mapping
        data = list(data.values())
    if data:
        st.session_state[_DOT] = [int(place) for place in data]


def _is_crowded(pairs: PairScatter) -> bool:
    return pairs.queries.size > MOST_POINTS


def _axes(choice: Choice) -> tuple[str, str]:
    distance = f"{DISTANCES[choice.distance]} distance"
    if choice.target == "raw":
        return "dot product, as softmax gets it", distance
    return "dot product less its row's mean", f"{distance} less its row's mean"


def _pair_words(
    pairs: PairScatter, picked: int | None, dot: Sequence[int], labels: Sequence[str]
) -> str:
    """The pair in words (Markdown)."""
    if not dot:
        return "Click a point to see its pair."
    pair = f"{quote(labels[dot[0]])} → {quote(labels[dot[1]])}"
    if picked is None:
        return f"{pair} is no pair that counts: its query may not see this key, or sees no other."
    score, distance, attention = (
        float(each[picked]) for each in (pairs.scores, pairs.distances, pairs.attention)
    )
    return (
        f"Query {quote(labels[dot[0]])} → key {quote(labels[dot[1]])}:"
        f" score **{number(score, '.3f')}**, distance **{distance:.3f}**,"
        f" attention **{attention:.3f}**"
    )


def _reading(pairs: PairScatter, choice: Choice) -> str:
    """What is drawn, of how many pairs."""
    count = pairs.queries.size
    drawn = (
        f"{count:,} pairs are more than {MOST_POINTS:,}: shown is how many lie where, in a"
        " stronger colour for more, and of each query the key it attends to most"
        if _is_crowded(pairs)
        else f"All {count:,} permitted pairs, blue the key that each query attends to most"
    )
    means = (
        ""
        if choice.target == "raw"
        else " Both sides lose the mean of their row, which softmax cannot see: this is the r of"
        " every map and panel."
    )
    left = f" Queries with a single permitted key are left out ({pairs.left_out})."
    return (
        f"{drawn}. Full space, with the {SCORES[choice.target]}.{means}"
        f"{left * bool(pairs.left_out)} A head whose near keys are its attended ones falls from top"
        " left to bottom right (after AttentionViz, figure 4)."
    )
