"""Every head's constants and correlations as maps, and the report of a layer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from core.screens.query_key.pairs import show_pairs
from core.screens.query_key.picture_controls import ONE_HEAD, pick_stage
from core.screens.query_key.report import make_report
from core.screens.query_key.wording import CRITERIA, DISTANCES, SCORES, number
from core.ui import cache, controls
from core.ui.head_maps import show_head_map

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
# notebooks measure it with cosine distance, so it stands beside cosine alone.
PUBLISHED_BERT, PUBLISHED_GPT2 = -0.938, -0.792


def show_heads(trace: Trace, choice: Choice, colours: Palette) -> None:
    """A map of one quantity, with means, flags and the report; beside it every pair of a head."""
    scaling = cache.scaling(choice.key, choice.distance, choice.criterion, choice.target)
    left, right = st.columns(2, gap="medium")
    with left:
        st.subheader("All heads", anchor=False)
        quantity = _pick_quantity()
        _show_map(getattr(scaling, QUANTITIES[quantity]), quantity, colours)
        _show_means(scaling, choice)
        _offer_report(trace, choice)
    with right:
        st.subheader("Distance against dot product", anchor=False)
        show_pairs(trace, choice, pick_stage(), colours)


def _pick_quantity() -> str:
    return controls.choice(
        "quantity",
        list(QUANTITIES),
        "Map of",
        subject="The quantities are",
        default="normalized",
        menu=True,
        width=250,
        help="Correlation of distance with the scores before anything, after translation, after"
        " scaling; how often the nearest key is the most attended one; or the chosen c.",
    )


def _show_means(scaling: ModelScaling, choice: Choice) -> None:
    st.markdown(_means(scaling, choice))
    st.caption(
        f"{DISTANCES[choice.distance]} distance with the {SCORES[choice.target]}, in full space,"
        f" over all permitted pairs of this text; c by: {CRITERIA[choice.criterion]}."
        f"{_flags(scaling)} A cross marks a head without a correlation. Click a square to open its"
        " picture."
    )


def _offer_report(trace: Trace, choice: Choice) -> None:
    st.download_button(
        f"Report of layer {choice.layer + 1} (HTML)",
        lambda: make_report(trace, choice),
        file_name=f"queries-and-keys-layer-{choice.layer + 1}.html",
        mime="text/html",
        on_click="ignore",
        help="One file that opens without internet: settings, the search and its regression, and"
        " for every head the default picture beside that of the search and the normalized one.",
    )


def _show_map(values: NDArray[np.float64], quantity: str, colours: Palette) -> None:
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
    known = np.isfinite(scaling.raw) & np.isfinite(scaling.normalized)
    if not known.any():
        return "No head has a correlation on this text."
    count = int(known.sum())
    raw, translated, normalized = (
        number(float(np.nanmean(values)), "+.3f")
        for values in (scaling.raw, scaling.translated, scaling.normalized)
    )
    nearest, moved = (
        float(np.nanmean(values)) for values in (scaling.raw_top1, scaling.normalized_top1)
    )
    helped = int((scaling.normalized[known] < scaling.raw[known]).sum())
    by_key = int((scaling.normalized_top1[known] > scaling.raw_top1[known]).sum())
    return (
        f"Mean over {count} heads: **{raw}** raw, **{translated}** translated, **{normalized}**"
        f" normalized; the nearest key is the most attended one for **{nearest:.0%}** of the"
        f" queries raw, **{moved:.0%}** normalized. Normalization helped **{helped} of {count}**"
        f" heads by correlation, **{by_key}** by nearest key.{_published(choice)}"
    )


def _published(choice: Choice) -> str:
    if choice.distance != "cosine":
        return ""
    bert, gpt2 = number(PUBLISHED_BERT, ".3f"), number(PUBLISHED_GPT2, ".3f")
    return (
        f" Published for cosine distance, normalized: {bert} (BERT) and {gpt2} (GPT-2), on another"
        " corpus, many sentences at once and with raw products: no yardstick for one text."
    )


def _flags(scaling: ModelScaling) -> str:
    if scaling.few.all():
        return (
            " No head has enough pairs that carry weight in so short a text to choose c: take a"
            " longer one, or another criterion."
        )
    said = []
    if scaling.on_edge.any():
        said.append(
            f" In {int(scaling.on_edge.sum())} heads the best c lies at the edge of its range."
        )
    if scaling.few.any():
        said.append(f" In {int(scaling.few.sum())} heads fewer than 30 pairs carry weight.")
    return "".join(said)
