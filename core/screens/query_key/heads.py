"""Every head's constants and correlations as maps, and the report of a layer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from core.analysis.query_key.scaling import MIN_RELIABLE
from core.screens.query_key.controls import ONE_HEAD, pick_stage
from core.screens.query_key.pairs import show_pairs
from core.screens.query_key.report import make_report
from core.screens.query_key.wording import CRITERIA, DISTANCES, SCORES, number
from core.ui import cache, controls
from core.ui.head_maps import show_head_map

if TYPE_CHECKING:
    from core.analysis.query_key.scaling import ModelScaling
    from core.figures.palette import Palette
    from core.model import Trace
    from core.screens.query_key.choice import Choice

# Names of maps, as people read them and links carry them, and the field each shows.
QUANTITIES = {
    "raw": "raw",
    "translated": "translated",
    "normalized": "normalized",
    "nearest key, raw": "raw_top1",
    "nearest key, normalized": "normalized_top1",
    "c": "c",
}
# After normalization on Wiki-Auto, as published (AttentionViz, section 5.1.1); the authors'
# notebooks measure it with cosine distance, so only cosine is compared with it.
PUBLISHED_BERT, PUBLISHED_GPT2 = -0.938, -0.792


def show_heads(trace: Trace, choice: Choice, colours: Palette) -> None:
    """A map of one quantity, with means, flags and the report; beside it every pair of a head."""
    scaling = cache.scaling(choice.key, choice.distance, choice.criterion, choice.target)
    map_column, pairs_column = st.columns(2, gap="medium")
    with map_column:
        st.subheader("All heads", anchor=False)
        quantity = controls.choice(
            "quantity",
            list(QUANTITIES),
            "Map of",
            subject="The quantities are",
            default="normalized",
            menu=True,
            width=250,
            help="Correlation of distance with the scores: raw, after translation, after scaling;"
            " how often the nearest key is the most attended one; or the chosen c.",
        )
        _show_map(scaling, quantity, colours)
        st.markdown(_means(scaling, choice))
        st.caption(
            f"{DISTANCES[choice.distance]} distance with the {SCORES[choice.target]}, in full"
            f" space, over all permitted pairs of this text; c by: {CRITERIA[choice.criterion]}."
            f"{_flags(scaling)} A cross marks a head without a correlation. Click a square to open"
            " its picture."
        )
        st.download_button(
            f"Report of layer {choice.layer + 1} (HTML)",
            lambda: make_report(trace, choice),
            file_name=f"queries-and-keys-layer-{choice.layer + 1}.html",
            mime="text/html",
            on_click="ignore",
            help="One file that opens offline: settings, the search and its regression, and the"
            " pictures of every head: raw, with the a and c of the search, and normalized.",
        )
    with pairs_column:
        st.subheader("Distance against dot product", anchor=False)
        show_pairs(trace, choice, pick_stage(), colours)


def _show_map(scaling: ModelScaling, quantity: str, colours: Palette) -> None:
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
    show_head_map(values, name, colours, key="query_key_map", on_open=_open_picture, **look)


def _open_picture(layer: int, head: int) -> None:
    """Show the picture of the head that was clicked, from 0."""
    st.session_state.update(layer=str(layer + 1), head=str(head + 1), part="picture", span=ONE_HEAD)


def _means(scaling: ModelScaling, choice: Choice) -> str:
    """Means over heads, how many normalization helped, and what was published (Markdown)."""
    defined = np.isfinite(scaling.raw) & np.isfinite(scaling.normalized)
    if not defined.any():
        return "No head has a correlation on this text."
    count = int(defined.sum())
    raw, translated, normalized = (
        number(float(np.nanmean(values)), "+.3f")
        for values in (scaling.raw, scaling.translated, scaling.normalized)
    )
    helped = int((scaling.normalized[defined] < scaling.raw[defined]).sum())
    helped_keys = int((scaling.normalized_top1[defined] > scaling.raw_top1[defined]).sum())
    published = (
        f" Published for cosine distance, normalized: {number(PUBLISHED_BERT, '.3f')} (BERT) and"
        f" {number(PUBLISHED_GPT2, '.3f')} (GPT-2), on another corpus, many sentences at once and"
        " with raw products: not a benchmark for one text."
    ) * (choice.distance == "cosine")
    return (
        f"Mean over {count} heads: **{raw}** raw, **{translated}** translated, **{normalized}**"
        f" normalized; the nearest key is the most attended one for"
        f" **{np.nanmean(scaling.raw_top1):.0%}** of the queries raw,"
        f" **{np.nanmean(scaling.normalized_top1):.0%}** normalized. Normalization helped"
        f" **{helped} of {count}** heads by correlation, **{helped_keys}** by nearest key."
        f"{published}"
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
