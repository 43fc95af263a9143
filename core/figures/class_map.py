"""A map of heads by class: layers down, heads across, a square with a colour and a letter each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from core.analysis.layers import Rows
from core.figures.head_map import HOVERED, lay_out_heads, square_size, steady
from core.figures.labels import literal
from core.figures.palette import Palette

_GAP = 10  # pixels between the rows of squares
_UNDER_MAP = 58  # pixels from the map to its legend, past the axis


class ClassLook(NamedTuple):
    """How a class looks: its name, the letter on its squares, their colour (``#rrggbb``).

    Where `hover` is given it follows the name under the pointer; a plotly template, in which
    ``%{customdata[2]}`` is the head's value. Letters have the colour of the paper, unless
    `is_pale`.
    """

    name: str
    letter: str
    colour: str
    hover: str = ""
    is_pale: bool = False


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
    heads, places, layer_labels = (
        classes.shape[1],
        np.array(rows.places),
        np.array(rows.layer_labels),
    )
    size = square_size(heads)
    figure = go.Figure()
    for each, look in looks.items():
        layer, head = np.nonzero(classes == each)
        if not layer.size:
            continue
        figure.add_scatter(
            x=head + 1,
            y=places[layer],
            name=f"{literal(look.name)} ({layer.size})",
            customdata=np.stack([layer_labels[layer], head + 1, values[layer, head]], axis=-1),
            mode="markers+text",
            text=[look.letter] * layer.size,
            textfont={"size": 12, "color": colours.ink if look.is_pale else colours.paper}
            | {"weight": 700},
            marker={"symbol": "square", "size": size, "color": look.colour}
            | {"line": {"width": 1, "color": colours.edge}},
            **steady(colours.paper),
            hovertemplate=f"{HOVERED}: {literal(look.name)}{look.hover}<extra></extra>",
        )
    lay_out_heads(figure, rows, heads, colours)
    drawn = (size + _GAP) * rows.end  # pixels
    figure.update_layout(
        height=max(270, 160 + drawn),
        showlegend=True,
        legend={"orientation": "h", "y": -_UNDER_MAP / drawn, "yanchor": "top"}
        | {"itemclick": False, "itemdoubleclick": False},
    )
    return figure
