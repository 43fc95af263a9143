"""Every head as a square of a map, every pair of one head as a point, and the report of a layer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from core.analysis.query_key.clouds import stage_vectors
from core.analysis.query_key.pair_scatter import MAX_POINTS, PairScatter, density_of, pair_scatter
from core.analysis.query_key.scaling import MIN_RELIABLE, ModelScaling, scale_model
from core.figures.palette import Palette
from core.figures.query_key.pair_scatter import pair_scatter_figure
from core.screens.query_key import cached
from core.screens.query_key.choice import Choice, scaling_of, search_of
from core.screens.query_key.report import make_report
from core.screens.query_key.spans import ONE_HEAD
from core.screens.query_key.wording import QUANTITIES, search_words
from core.ui import controls, python
from core.ui.downloads import contents, offer_file
from core.ui.head_maps import show_head_map, show_heads
from core.ui.selectors import choose_head
from core.ui.words.messages import notice, quote
from core.ui.words.numbers import number
from core.ui.words.scores import CRITERIA, DISTANCES, SCORES, published
from core.vocabulary import HeadStage, labels_of

if TYPE_CHECKING:
    from core.model import Trace


def show_all_heads(
    trace: Trace, choice: Choice, quantity: str, stage: HeadStage, colours: Palette
) -> None:
    """A map of one quantity, with means, flags and the report; beside it every pair of a head."""
    measure = choice.distance, choice.criterion, choice.target
    scaling = python.made(
        "heads",
        cached.scaling(choice.key, *measure),
        python.call(scale_model, trace, *measure),
    )
    map_column, pairs_column = st.columns(2, gap="medium")
    with map_column:
        _show_map(trace, scaling, quantity, colours)
        st.markdown(_means(scaling, choice))
        st.caption(
            f"{DISTANCES[choice.distance]} distance with the {SCORES[choice.target]}, in full"
            f" space, over all permitted pairs of this {choice.key.modality}; c by:"
            f" {CRITERIA[choice.criterion]}.{_flags(scaling)} A cross marks a head without a"
            " correlation. Click a square to open its picture."
        )
        held = contents("queries-and-keys", trace.model, f"L{choice.number}")
        offer_file(
            f"Report of layer {choice.number} (HTML)",
            lambda: make_report(trace, choice, held.facts),
            held,
            ".html",
            help="One file that opens offline: settings, the search and its regression, and the"
            " pictures of every head: raw, with the a and c of the search, and normalized.",
        )
    with pairs_column:
        _show_pairs(trace, choice, stage, colours)


def _show_map(trace: Trace, scaling: ModelScaling, quantity: str, colours: Palette) -> None:
    values = getattr(scaling, QUANTITIES[quantity])
    look: dict[str, Any]
    if quantity == "c":
        reach = max(2.0, float(np.max([values, 1 / values])))
        name = "c ="
        look = {"bounds": (1 / reach, reach), "title": "c", "signed": True, "logarithmic": True}
    elif quantity.startswith("nearest"):
        name, look = f"{quantity}:", {"title": "share"}
    else:
        name = f"{quantity}, r ="
        look = {"bounds": (-1, 1), "title": "r", "signed": True, "reverse": True}
    on_open = partial(choose_head, part="picture", span=ONE_HEAD)
    show_head_map(trace, values, name, colours, key="query_key_map", on_open=on_open, **look)


def _means(scaling: ModelScaling, choice: Choice) -> str:
    """Means over heads, how many normalization helped, and what was published (Markdown)."""
    defined = np.isfinite(scaling.raw) & np.isfinite(scaling.normalized)
    if not defined.any():
        return f"No head has a correlation on this {choice.key.modality}."
    count = int(defined.sum())
    raw, translated, normalized = (
        number(float(np.nanmean(values)), "+.3f")
        for values in (scaling.raw, scaling.translated, scaling.normalized)
    )
    helped = int((scaling.normalized[defined] < scaling.raw[defined]).sum())
    helped_keys = int((scaling.normalized_top1[defined] > scaling.raw_top1[defined]).sum())
    as_published = (
        f" {published()}, on another corpus, many sentences at once and with raw products: not a"
        " benchmark for one text."
    ) * (choice.distance == "cosine")
    return (
        f"Mean over {count} heads: **{raw}** raw, **{translated}** translated, **{normalized}**"
        f" normalized; the nearest key is the most attended one for"
        f" **{np.nanmean(scaling.raw_top1):.0%}** of the queries raw,"
        f" **{np.nanmean(scaling.normalized_top1):.0%}** normalized. Normalization helped"
        f" **{helped} of {count}** heads by correlation, **{helped_keys}** by nearest key."
        f"{as_published}"
    )


def _flags(scaling: ModelScaling) -> str:
    if scaling.few.all():
        return (
            " In so short a text no head has enough pairs that carry weight to choose c: take a"
            " longer one, or another criterion."
        )
    on_edge, few = int(scaling.on_edge.sum()), int(scaling.few.sum())
    return f" In {on_edge} heads the best c lies at the edge of its range." * bool(
        on_edge
    ) + f" In {few} heads fewer than {MIN_RELIABLE} pairs carry weight." * bool(few)


def _show_pairs(trace: Trace, choice: Choice, stage: HeadStage, colours: Palette) -> None:
    """A point for every pair, the line, r, and the pair that was clicked."""
    pair, search = _chosen_pair(trace), search_of(choice)
    if stage == "searched" and not search.defined:
        st.info(search_words(trace, search, choice))
        return
    layer, head = choice.layer, choice.head
    scaling = scaling_of(trace, choice, head)
    stages = python.shown("stages", stage_vectors, trace, layer, head, scaling, search)
    pairs = python.shown(
        "pairs",
        pair_scatter,
        trace,
        layer,
        head,
        stages[stage],
        choice.distance,
        choice.target,
    )
    if not pairs.queries.size:
        st.info(
            f"No query of {trace.input.this} has a choice of keys, so there is no pair to draw."
        )
        return
    labels, key_labels = labels_of(trace.tokens), labels_of(trace.key_tokens)
    distance, centred = f"{DISTANCES[choice.distance]} distance", choice.target == "centred"
    axes = (
        ("dot product less its row's mean", f"{distance} less its row's mean")
        if centred
        else ("dot product before softmax", distance)
    )
    crowded = pairs.queries.size > MAX_POINTS
    picked = pairs.find(*pair) if pair else None
    density = density_of(pairs) if crowded else None
    figure = pair_scatter_figure(
        pairs, labels, axes, colours, density=density, picked=picked, key_labels=key_labels
    )
    show_heads(
        figure, "Distance and dot product", key="query_key_pairs", on_open=_choose_pair, part=None
    )
    r = number(pairs.correlation, "+.3f")
    st.markdown(f"Distance against dot product, {choice.name()}, {stage}: **r = {r}**")
    names = (labels[pair[0]], key_labels[pair[1]]) if pair else ()
    st.markdown(_pair_words(pairs, picked, names))
    st.caption(_reading(pairs, choice, crowded=crowded))


def _chosen_pair(trace: Trace) -> list[int]:
    """Query and key of the pair that was clicked, from 0; empty where none was."""
    sizes = len(trace.tokens), len(trace.key_tokens)
    dot = controls.tokens("dot", range(1, max(sizes) + 1))
    if len(dot) not in {0, 2} or any(place > size for place, size in zip(dot, sizes, strict=False)):
        notice("A dot in a link is a query and a key by their positions, as in dot=3,5.")
        st.session_state["dot"] = dot = []
    return [position - 1 for position in dot]


def _choose_pair(query: int, key: int) -> None:
    st.session_state["dot"] = [query, key]


def _pair_words(pairs: PairScatter, picked: int | None, names: Sequence[str]) -> str:
    """The pair of these tokens in words (Markdown)."""
    if not names:
        return "Click a point to see its pair."
    query, key = map(quote, names)
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
