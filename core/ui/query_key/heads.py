"""Every head's constants and correlations as maps, and the report of a layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from core.figures.head_map import head_map
from core.ui import address, cache
from core.ui.query_key.report import make_report
from core.ui.query_key.wording import CRITERIA, DISTANCES, number

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from core.analysis.scaling import ModelScaling
    from core.figures.palette import Palette
    from core.model import Trace
    from core.ui.query_key.picture import Choice

QUANTITIES = ["raw", "translated", "normalized", "c"]
# Mean over heads of the correlation after normalization on Wiki-Auto (AttentionViz, section 5.1.1).
PUBLISHED_BERT, PUBLISHED_GPT2 = -0.938, -0.792


def show_heads(trace: Trace, choice: Choice, colours: Palette) -> None:
    """A map of one quantity; a click opens the head. Then means, flags, and the report."""
    address.restore_choice("quantity", QUANTITIES, "normalized", "The quantities are")
    address.publish("part", "layer", "head", "distance", "criterion", "quantity")
    st.segmented_control(
        "Map of",
        QUANTITIES,
        key="quantity",
        required=True,
        persist_state="session",
        help="Correlation of distance with the logits before anything, after translation, after"
        " scaling; or the chosen c.",
    )
    quantity = st.session_state["quantity"]
    found = cache.scaling(choice.key, choice.distance, choice.criterion)
    values = getattr(found, quantity)
    _show_map(values, quantity, colours)
    st.markdown(_means(found, choice))
    st.caption(
        f"{CRITERIA[choice.criterion]}, {DISTANCES[choice.distance]} distance, in full space, over"
        f" permitted pairs.{_flags(found)} A cross marks a head without a correlation. Click a"
        " square to open its picture."
    )
    st.download_button(
        f"Report of layer {choice.layer + 1} (HTML)",
        lambda: make_report(trace, choice),
        file_name=f"queries-and-keys-layer-{choice.layer + 1}.html",
        mime="text/html",
        on_click="ignore",
        help="One file that opens without internet: settings, the search, and for every head the"
        " raw and the normalized picture side by side.",
    )


def _show_map(values: NDArray[np.float64], quantity: str, colours: Palette) -> None:
    if quantity == "c":
        reach = max(2.0, float(np.max([values, 1 / values])))
        figure = head_map(
            values,
            "c =",
            colours,
            bounds=(1 / reach, reach),
            title="c",
            signed=True,
            logarithmic=True,
        )
    else:
        figure = head_map(
            values,
            f"{quantity}, r =",
            colours,
            bounds=(-1, 1),
            title="r",
            signed=True,
            reverse=True,
        )
    chosen = st.plotly_chart(
        figure,
        key="query_key_map",
        on_select="rerun",
        selection_mode="points",
        config={"displayModeBar": False},
    )
    if chosen.selection.points:
        point = chosen.selection.points[0]
        st.session_state["_query_key_open"] = (str(point["y"]), str(point["x"]))
        st.rerun()


def open_clicked_head() -> None:
    """Show the head that was clicked on the map; called before the pickers are drawn."""
    clicked = st.session_state.pop("_query_key_open", None)
    if clicked is not None:
        layer, head = clicked
        st.session_state.update(layer=layer, head=head, part="picture", span="one head")


def _means(found: ModelScaling, choice: Choice) -> str:
    known = np.isfinite(found.normalized)
    if not known.any():
        if choice.criterion == "weighted":
            return (
                "No head has enough pairs that carry weight in so short a text: take a longer one,"
                " or another criterion."
            )
        return "No head has a correlation on this text."
    raw, translated, normalized = (
        number(float(values[np.isfinite(values)].mean()), "+.3f")
        for values in (found.raw, found.translated, found.normalized)
    )
    better = int((found.normalized[known] < found.raw[known]).sum())
    bert, gpt2 = number(PUBLISHED_BERT, ".3f"), number(PUBLISHED_GPT2, ".3f")
    return (
        f"Mean over {int(known.sum())} heads: **{raw}** raw, **{translated}** translated,"
        f" **{normalized}** normalized; normalization helped {better} of them. Published for"
        f" comparison: {bert} (BERT) and {gpt2} (GPT-2), normalized; those were measured on another"
        " corpus, many sentences at once: no yardstick for one text."
    )


def _flags(found: ModelScaling) -> str:
    said = []
    if found.on_edge.any():
        said.append(
            f" In {int(found.on_edge.sum())} heads the best c lies at the edge of its range."
        )
    if found.few.any():
        said.append(f" In {int(found.few.sum())} heads fewer than 30 pairs carry weight.")
    return "".join(said)
