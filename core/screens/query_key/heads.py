"""Every head as a square of a map, every pair of one head as a point, and the report of a layer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from core.analysis.query_key.clouds import stage_vectors
from core.analysis.query_key.pair_scatter import MAX_POINTS, PairScatter, density_of, pair_scatter
from core.analysis.query_key.scaling import MIN_RELIABLE, ModelScaling
from core.figures.palette import Palette
from core.figures.query_key.pair_scatter import pair_scatter_figure
from core.screens.query_key.choice import ONE_HEAD, Choice, scaling_of, scaling_of_heads
from core.screens.query_key.report import make_report
from core.screens.query_key.wording import QUANTITIES
from core.ui import controls, python
from core.ui.downloads import contents, offer_file
from core.ui.head_maps import show_head_map, show_heads
from core.ui.place import choose_head
from core.ui.words.messages import notice, quote
from core.ui.words.numbers import number
from core.ui.words.prose import Prose
from core.ui.words.scores import CRITERIA, DISTANCES, SCORES, published
from core.vocabulary import STAGE_NAMES, HeadStage, labels_of

if TYPE_CHECKING:
    from core.model import Trace


_words = Prose(__file__)


def show_all_heads(trace: Trace, choice: Choice, quantity: str, colours: Palette) -> None:
    """A map of one quantity, with means, flags and the report; beside it every pair of a head."""
    scaling = scaling_of_heads(choice)
    map_column, pairs_column = st.columns(2, gap="medium")
    with map_column:
        _show_map(trace, scaling, quantity, colours)
        st.markdown(_means(scaling, choice))
        st.caption(_measured(scaling, choice))
        held = contents("queries-and-keys", trace.model, f"L{choice.number}")
        offer_file(
            f"Report of layer {choice.number} (HTML)",
            lambda: make_report(trace, choice, held.facts),
            held,
            ".html",
            help=_words("report"),
        )
    with pairs_column:
        _show_pairs(trace, choice, QUANTITIES[quantity][1], colours)


def _show_map(trace: Trace, scaling: ModelScaling, quantity: str, colours: Palette) -> None:
    values = getattr(scaling, QUANTITIES[quantity][0])
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
        return _words("no_head", modality=choice.key.modality)
    return _words(
        "means",
        count=int(defined.sum()),
        raw=np.nanmean(scaling.raw),
        translated=np.nanmean(scaling.translated),
        normalized=np.nanmean(scaling.normalized),
        keys=(np.nanmean(scaling.raw_top1), np.nanmean(scaling.normalized_top1)),
        helped=int((scaling.normalized[defined] < scaling.raw[defined]).sum()),
        helped_keys=int((scaling.normalized_top1[defined] > scaling.raw_top1[defined]).sum()),
        published=published() if choice.distance == "cosine" else "",
    )


def _measured(scaling: ModelScaling, choice: Choice) -> str:
    """What the map shows, and what to keep in mind of its c."""
    return _words(
        "map",
        distance=DISTANCES[choice.distance],
        scores=SCORES[choice.target],
        criterion=CRITERIA[choice.criterion],
        too_short=scaling.few.all(),
        on_edge=int(scaling.on_edge.sum()),
        few=int(scaling.few.sum()),
        needed=MIN_RELIABLE,
    )


def _show_pairs(trace: Trace, choice: Choice, stage: HeadStage, colours: Palette) -> None:
    """A point for every pair, the line, r, and the pair that was clicked."""
    pair, layer, head = _chosen_pair(trace), choice.layer, choice.head
    scaling = scaling_of(choice, head)
    stages = python.shown("stages", stage_vectors, trace, layer, head, scaling)
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
        st.info(_words("no_pair", this=trace.input.this))
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
    st.markdown(f"Distance against dot product, {choice.name()}, {STAGE_NAMES[stage]}: **r = {r}**")
    names = (labels[pair[0]], key_labels[pair[1]]) if pair else ()
    st.markdown(_pair_words(pairs, picked, names))
    st.caption(_reading(pairs, crowded=crowded))


def _chosen_pair(trace: Trace) -> list[int]:
    """Query and key of the pair that was clicked, from 0; empty where none was."""
    sizes = len(trace.tokens), len(trace.key_tokens)
    dot = controls.tokens("dot", range(1, max(sizes) + 1))
    if len(dot) not in {0, 2} or any(place > size for place, size in zip(dot, sizes, strict=False)):
        notice(_words("dot"))
        st.session_state["dot"] = dot = []
    return [position - 1 for position in dot]


def _choose_pair(query: int, key: int) -> None:
    st.session_state["dot"] = [query, key]


def _pair_words(pairs: PairScatter, picked: int | None, names: Sequence[str]) -> str:
    """The pair of these tokens in words (Markdown)."""
    if not names:
        return _words("click")
    query, key = map(quote, names)
    if picked is None:
        return _words("not_counted", query=query, key=key)
    figures = (pairs.scores[picked], pairs.distances[picked], pairs.attention[picked])
    return _words("pair", query=query, key=key, figures=figures)


def _reading(pairs: PairScatter, *, crowded: bool) -> str:
    """What is drawn, and how many pairs it covers."""
    return _words(
        "pairs",
        count=pairs.queries.size,
        most=MAX_POINTS,
        crowded=crowded,
        left_out=pairs.left_out,
    )
