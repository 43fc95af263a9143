"""A chart for a projector, with every size in pixels multiplied by a factor."""

from __future__ import annotations

import re
from base64 import b64decode
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

_SIZES = {"size", "thickness", "standoff", "ticklen", "xshift", "yshift", "pad"}  # in pixels
_MAX_HEIGHT = 430  # pixels before the zoom, out of a window's 540
_LETTERS = 12  # pixels, if a chart names no size
_FONTS = {  # by layout part, the paths of keys to them
    r"[xy]axis\d*": (("tickfont",), ("title", "font")),
    r"legend\d*": (("font",),),
    r"coloraxis\d*": (("colorbar", "tickfont"), ("colorbar", "title", "font")),
}


def enlarged(figure: go.Figure, times: float) -> go.Figure:
    """A copy of `figure` whose text, lines, markers and margins are `times` as large.

    Its height is what fits a window before the page is zoomed (:mod:`core.components.present`).
    """
    chart = figure.to_plotly_json()
    layout = chart["layout"]
    layout.pop("template", None)  # Streamlit's own takes its place
    for key, part in list(layout.items()):
        for pattern, places in _FONTS.items():
            if re.fullmatch(pattern, key):
                _name_letters(part, places)
    for trace in chart["data"]:
        if "colorbar" in trace.get("marker", trace):
            _name_letters(trace.get("marker", trace), _FONTS[r"coloraxis\d*"])
    _name_letters(layout, (("font",), ("legend", "font")))
    layout["margin"] = {side: times * room for side, room in layout.get("margin", {}).items()}
    if layout.get("height") is not None:
        layout["height"] = min(layout["height"], _MAX_HEIGHT)  # the page around it is zoomed
    return go.Figure(_scaled(chart, times))


def _name_letters(part: dict[str, Any], places: tuple[tuple[str, ...], ...]) -> None:
    for place in places:
        font = part
        for key in place:
            font = font.setdefault(key, {})
        font.setdefault("size", _LETTERS)


def _scaled(value: Any, times: float, key: str = "", parent: str = "") -> Any:  # noqa: ANN401 - JSON
    if key in _SIZES or (key == "width" and parent == "line"):
        return (times * _array(value)).tolist()
    if isinstance(value, dict):
        return {name: _scaled(each, times, name, key) for name, each in value.items()}
    if isinstance(value, str):
        return re.sub(r"font-size:(\d+)px", lambda m: f"font-size:{times * int(m[1]):g}px", value)
    if isinstance(value, list | tuple):
        return [_scaled(each, times, key, parent) for each in value]
    return value


def _array(value: Any) -> NDArray[Any]:  # noqa: ANN401 - JSON
    """A number or an array, which Plotly packs if it is long."""
    if isinstance(value, dict):
        return np.frombuffer(b64decode(value["bdata"]), value["dtype"])
    return np.asarray(value)
