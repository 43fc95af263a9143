"""From a head on this page to the same head elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import streamlit as st

from core.ui import address
from core.ui.navigation import find
from core.ui.selectors import pick_head, pick_layer, step_through_heads

if TYPE_CHECKING:
    from collections.abc import Callable

    from core.analysis.anomalies import Row
    from core.model import Trace


_ASKED = "_anomalies_open"  # the page that a button asked for


def begin_with(one: Row) -> None:
    """Show this head where no one has chosen another, here or on another page."""
    if not ("head" in st.session_state or address.asks_for("head") or address.asks_for("layer")):
        st.session_state.update(layer=str(one["layer"]), head=str(one["head"]))


def pick_one_head(trace: Trace) -> tuple[int, int]:
    """Pickers for a layer and a head, and buttons to step; both from 0."""
    with st.container(width=130):
        layer = pick_layer(trace)
    with st.container(width=130):
        head = pick_head(trace)
    step_through_heads(trace)
    return cast("int", layer), cast("int", head)


def open_buttons(layer: int, head: int) -> None:
    """Two buttons that show this head, from 1, in the head view and in query-key space."""
    where = f"L{layer} H{head}"
    pages = (("head_view", "Head view →", "lines"), ("query_key", "Queries and keys →", "clouds"))
    with st.container(horizontal=True, width="content"):
        for page, label, kind in pages:
            st.button(
                label,
                key=f"open_{layer}_{head}_{page}",
                type="tertiary",
                help=f"{where} as {kind}",
                on_click=_open,
                args=(page, layer, head),
            )


def _open(page: str, layer: int, head: int) -> None:
    """Make this the head of all pages, and ask for one of them."""
    st.session_state.update(
        {
            "layer": str(layer),
            "head": str(head),
            "heads": [head],
            "part": "picture",
            "span": "one head",
            _ASKED: page,
        }
    )


def go_where_asked() -> None:
    """Leave for the page that a button asked for; called before anything is drawn."""
    page = st.session_state.pop(_ASKED, None)
    if page is not None:
        st.switch_page(find(page).path)


def chosen_on_map(key: str, part: str) -> Callable[[], None]:
    """What a click on a chart of heads does: that head becomes the page's, shown in `part`."""

    def choose() -> None:
        points = st.session_state[key].selection.points
        if points:
            point = points[0]
            layer, head = point.get("customdata") if _is_pair(point) else (point["y"], point["x"])
            st.session_state.update(layer=str(layer), head=str(head), anomaly=part)

    return choose


def _is_pair(point: dict[str, object]) -> bool:
    """Whether the point carries layer and head; on the map they are its place."""
    data = point.get("customdata")
    return isinstance(data, list | tuple) and len(data) == 2
