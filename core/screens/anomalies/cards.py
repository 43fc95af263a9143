"""A card for each unusual head: how far it is from the others, why, and its lines of attention."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.anomalies import FLAGS, Row
from core.analysis.layer_payload import LayerPayload, drawn_size
from core.components.head_view import show_one_head
from core.figures.palette import token_colours
from core.model import Trace
from core.screens.anomalies.open_head import open_button
from core.screens.anomalies.wording import row_name
from core.ui.words.numbers import number

if TYPE_CHECKING:
    import pandas as pd


_LISTED = 3  # heads
_MAX_BYTES = 4_000_000  # of a layer that is sent for the lines of a head


def show_cards(trace: Trace, odd: pd.DataFrame, flag: str | None) -> None:
    """Those of `odd`, the rows of a table: of any flag the unusual ones, else with that `flag`."""
    unusual = odd[odd["unusual_by"] != ""]
    shown = unusual if flag is None and len(unusual) else odd
    shown = shown.head(_LISTED if flag or len(unusual) else 1)
    for row in shown.to_dict("records"):
        with st.container(border=True, gap="xsmall"):
            _show_head(row, flag)
            _show_lines(trace, row)
    if more := len(odd) - len(shown):
        st.caption(f"{more} more: see the table.")


def _show_head(row: Row, flag: str | None) -> None:
    unusual = row["unusual_by"] if flag is None else flag in row["unusual_by"].split(", ")
    z = row["unusual"] if flag is None else row[f"z_{FLAGS[flag].measure}"]
    with st.container(horizontal=True, vertical_alignment="center"):
        far = f"**{row_name(row)}** · z = {number(z, '.1f')}{'' if unusual else ', not unusual'}"
        st.markdown(far, width="stretch")
        open_button(row["layer"], row["head"])
    st.caption(_reasons(row))


def _reasons(row: Row) -> str:
    """Each flag with what it is raised for (Markdown), those of an unusual head first."""
    pairs = list(zip(row["flags"].split(", "), row["reasons"].split("; "), strict=True))
    pairs.sort(key=lambda pair: pair[0] not in row["unusual_by"].split(", "))
    return "  \n".join(f"**{flag.capitalize()}:** {reason}." for flag, reason in pairs)


def _show_lines(trace: Trace, row: Row) -> None:
    layer = trace.layer_labels.index(row["layer"])
    if drawn_size(trace, layer) > _MAX_BYTES:
        return
    colours = {theme: token_colours(trace.shape[1], theme) for theme in ("light", "dark")}
    show_one_head(
        trace,
        {layer: LayerPayload.drawn(trace, layer)},
        (layer, row["head"] - 1),
        colours,
        key=f"anomalies_lines_{row['layer']}_{row['head']}",
    )
