"""A head view inside of the atlas page, which follows the page's layer and head."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import streamlit as st

from core.components.head_view import HeadView, Weighting, pack_head_view, show_head_view
from core.figures.palette import token_colours

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from core.analysis.view_weights import LayerWeights
    from core.model import Trace
    from core.screens.atlas.screen import Screen


def show_lines(
    trace: Trace,
    layers: Mapping[int, LayerWeights],
    screen: Screen,
    weighting: Weighting,
    *,
    key: str,
    pinned: Sequence[int] = (),
) -> None:
    """Draw it for the head on screen; another layer chosen in it becomes the page's.

    Parameters
    ----------
    layers : those that travel; of others the page is asked.
    pinned : the position whose lines alone are shown, if any.
    """
    view: dict[str, Any] = {
        "layer": str(screen.layer + 1),
        "pairs": "all",
        "least": "auto",
        "weigh": weighting.value,
        "hide": False,
        "renorm": False,
        "what": False,
        "heads": [screen.head + 1],
        "without": [],
        "from": [position + 1 for position in pinned],
        "to": [],
    }
    colours = {theme: token_colours(trace.shape[1], theme) for theme in ("light", "dark")}
    serial = zlib.crc32(repr((view, trace.tokens)).encode("utf-8", "replace"))
    facts = HeadView(view, serial, [weighting], colours)
    show_head_view(pack_head_view(trace, layers, weighting.value, facts), key=key, on_view=_take)


def _take(view: object) -> None:
    """A layer chosen in the view becomes the page's, and so does a head shown alone."""
    if not isinstance(view, dict):
        return
    layer, heads = view.get("layer"), view.get("heads")
    if isinstance(layer, str) and layer.isdigit():
        st.session_state["layer"] = layer
    if isinstance(heads, list) and len(heads) == 1 and isinstance(heads[0], int) and heads[0] > 0:
        st.session_state["head"] = str(heads[0])
