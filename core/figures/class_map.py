"""A map of heads by class: layers down, heads across, a cell each, and the legend of classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from core.analysis.layers import Rows
from core.figures.head_map import add_cells, lay_out_heads
from core.figures.labels import literal
from core.figures.layout import lay_out
from core.figures.palette import Palette

_LEGEND = 24  # pixels of a row of the legend, which holds two classes


class ClassLook(NamedTuple):
    """How a class looks: its name, the letter on its cells, their colour (``#rrggbb``).

    Where `hover` is given it follows the name under the pointer; a plotly template, in which
    ``%{customdata[2]}`` is the head's value.
    """

    name: str
    letter: str
    colour: str
    hover: str = ""


def class_map(
    classes: NDArray[np.str_],
    values: NDArray[np.float64],
    rows: Rows,
    looks: Mapping[str, ClassLook],
    colours: Palette,
) -> go.Figure:
    """Cells by class; a clicked one's customdata begin with layer and head.

    `classes` and `values` are (layer, head), the layers in `rows`; the legend keeps the order of
    `looks`. A class without a letter is none.
    """
    heads, places = classes.shape[1], np.array(rows.places)
    layer_labels, figure = np.array(rows.layer_labels), go.Figure()
    for each, look in looks.items():
        layer, head = np.nonzero(classes == each)
        if not layer.size:
            continue
        name = literal(look.name)
        add_cells(
            figure,
            np.stack([layer_labels[layer], head + 1, values[layer, head]], axis=-1),
            places[layer],
            {"color": look.colour},
            f"{name}{look.hover}",
            colours,
            name=f"{look.letter} {name} ({layer.size})".lstrip(),
            text=[look.letter] * layer.size,
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            textfont={"color": colours.paper, "weight": 700},
        )
    lay_out_heads(figure, rows, heads, colours)
    add_legend(figure)
    return figure


def add_legend(figure: go.Figure, under: int = 58) -> None:
    """The legend of a chart with a trace a class, `under` pixels below; none can be hidden."""
    height = figure.layout.height
    legend = {"orientation": "h", "y": -under / (height - 66), "yanchor": "top", "x": 0}
    legend |= {"itemclick": False, "itemdoubleclick": False, "title": {"text": ""}}
    height += _LEGEND * -(-len(figure.data) // 2)
    lay_out(figure, height=height, showlegend=True, legend=legend)
