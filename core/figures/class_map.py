"""A map of heads by class: layers down, heads across, a square each, and the legend of classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from core.analysis.arrays import Floats
from core.analysis.layers import Rows
from core.figures.head_map import HOVERED, lay_out_heads, square_size, steady
from core.figures.icons import draw_icon
from core.figures.labels import literal
from core.figures.palette import Palette

_GAP = 10  # pixels between the rows of squares
_UNDER_MAP = 58  # pixels from the map to its legend, past the axis
_ROW, _SQUARE = 24, 18  # pixels: of the legend, and its squares
_SPACE = "\u2003\u2002"  # beside a square, for its half of it
_LONG = 22  # letters that have room in half of a phone's legend


class ClassLook(NamedTuple):
    """How a class looks: its name, the letter or icon on its squares, their colour (``#rrggbb``).

    Where `hover` is given it follows the name under the pointer; a plotly template, in which
    ``%{customdata[2]}`` is the head's value. Letters have the colour of the paper, unless
    `is_pale`.
    """

    name: str
    letter: str
    colour: str
    hover: str = ""
    is_pale: bool = False
    icon: str = ""


def class_map(
    classes: NDArray[np.str_],
    values: NDArray[np.float64],
    rows: Rows,
    looks: Mapping[str, ClassLook],
    colours: Palette,
) -> go.Figure:
    """Squares by class; a clicked point's customdata begin with layer and head.

    `classes` and `values` are (layer, head), the layers in `rows`; the legend keeps the order of
    `looks`. A class without a letter is none.
    """
    heads, places = classes.shape[1], np.array(rows.places)
    layer_labels, size = np.array(rows.layer_labels), square_size(heads)
    figure, entries = go.Figure(), {}
    for each, look in looks.items():
        layer, head = np.nonzero(classes == each)
        if not layer.size:
            continue
        entries[f"{literal(look.name)} ({layer.size})"] = look
        _draw(
            figure,
            (head + 1).astype(np.float64),
            places[layer],
            look,
            size,
            colours,
            customdata=np.stack([layer_labels[layer], head + 1, values[layer, head]], axis=-1),
            hovertemplate=f"{HOVERED}: {literal(look.name)}{look.hover}<extra></extra>",
        )
    lay_out_heads(figure, rows, heads, colours)
    add_legend(figure, entries, max(110, (size + _GAP) * rows.end), _UNDER_MAP, colours)
    return figure


def _draw(
    figure: go.Figure,
    x: Floats,
    y: Floats,
    look: ClassLook,
    size: int,
    colours: Palette,
    **more: Any,  # noqa: ANN401 - of plotly: customdata, hovertemplate, axes
) -> None:
    """Squares of a class, with its letter or icon."""
    figure.add_scatter(
        x=x,
        y=y,
        name=look.name,
        mode="markers+text",
        text=[look.letter] * len(x),
        textfont={"size": 12, "color": colours.ink if look.is_pale else colours.paper}
        | {"weight": 700},
        marker={"symbol": "square", "size": size, "color": look.colour}
        | {"line": {"width": 1, "color": colours.edge}},
        **steady(colours.paper),
        showlegend=False,
        **more,
    )
    axes = {key: more[key] for key in ("xaxis", "yaxis") if key in more}
    draw_icon(figure, x, y, look.icon, size, colours.paper, **axes)


def add_legend(
    figure: go.Figure, entries: Mapping[str, ClassLook], height: float, under: int, colours: Palette
) -> None:
    """A legend in two columns, with icons, as plotly's own has none; sets the figure's height.

    `entries` are looks by what is said of them, `height` the pixels of the axes above, `under`
    those between them and the legend.
    """
    places, place = [], 0  # two a row, from the left; a long one has a row for itself
    for words in entries:
        is_long = len(words) > _LONG
        place += place % 2 if is_long else 0
        places.append(divmod(place, 2))
        place += 1 + is_long
    rows = -(-place // 2)
    whole = height + under + rows * _ROW
    hidden = {"visible": False, "fixedrange": True}
    figure.update_layout(
        height=whole + 16,
        yaxis={"domain": [1 - height / whole, 1]},
        xaxis2={"range": [0, 2], "anchor": "y2", **hidden},
        yaxis2={"range": [rows, 0], "anchor": "x2", "domain": [0, rows * _ROW / whole], **hidden},
    )
    axes = {"xaxis": "x2", "yaxis": "y2"}
    for (row, column), (words, look) in zip(places, entries.items(), strict=True):
        x, y = np.array([column + 0.06]), np.array([row + 0.5])
        _draw(figure, x, y, look, _SQUARE, colours, hoverinfo="skip", **axes)
        figure.add_scatter(
            x=x,
            y=y,
            mode="text",
            text=[f"{_SPACE}{words}"],
            textposition="middle right",
            textfont={"size": 12, "color": colours.ink},
            **steady(colours.ink),
            hoverinfo="skip",
            showlegend=False,
            **axes,
        )
