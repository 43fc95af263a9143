"""One layer of a model as a diagram, from the tokens above to the hidden states below."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from core.figures.labels import literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.figures.palette import Palette

_ROW = 62  # pixels from one row to the next
_BOX = 44  # pixels of a box
_LAYER_PAD = 14  # pixels that the frame of the layer stands out


@dataclass(frozen=True)
class Box:
    """A part of the model.

    Attributes
    ----------
    lines : what is written in it, the first one bold.
    left, right : its place across, shares of the width.
    colour : of its border, "#rrggbb"; None for the usual one.
    """

    lines: tuple[str, ...]
    left: float = 0.0
    right: float = 1.0
    colour: str | None = None


def structure_figure(
    rows: Sequence[Sequence[Box]], layer: tuple[int, int], note: str, colours: Palette
) -> go.Figure:
    """Boxes in rows, an arrow from each row to the next, a frame around the rows of a layer.

    Parameters
    ----------
    rows : boxes beside each other, from top to bottom.
    layer : first and last row of the layer, both inside the frame.
    note : written at the frame's lower right, such as "6 of these layers".
    """
    height = _ROW * len(rows) + 2 * _LAYER_PAD
    figure = go.Figure()
    figure.update_layout(height=height, margin={"l": 2, "r": 2, "t": 2, "b": 2})
    figure.update_xaxes(visible=False, range=[-0.03, 1.03], fixedrange=True)
    figure.update_yaxes(visible=False, range=[height, 0], fixedrange=True)
    top, bottom = (_middle(index) for index in layer)
    figure.add_shape(
        type="rect",
        x0=-0.025,
        x1=1.025,
        y0=top - _BOX / 2 - _LAYER_PAD,
        y1=bottom + _BOX / 2 + _LAYER_PAD / 2,
        line={"color": colours.accent, "width": 1.5, "dash": "dot"},
    )
    figure.add_annotation(
        x=1.0,
        y=bottom + _BOX / 2 + _LAYER_PAD / 2,
        text=f"<b>{literal(note)}</b>",
        showarrow=False,
        xanchor="right",
        bgcolor=colours.paper,
        font={"size": 13, "color": colours.accent},
    )
    for index, boxes in enumerate(rows):
        for box in boxes:
            _draw(figure, box, _middle(index), colours)
        if index:
            for box in max(boxes, rows[index - 1], key=len):
                _join(figure, (box.left + box.right) / 2, _middle(index), colours)
    return figure


def _middle(row: int) -> float:
    return _LAYER_PAD + _ROW * (row + 0.5)


def _draw(figure: go.Figure, box: Box, middle: float, colours: Palette) -> None:
    figure.add_shape(
        type="rect",
        x0=box.left,
        x1=box.right,
        y0=middle - _BOX / 2,
        y1=middle + _BOX / 2,
        line={"color": box.colour or colours.line, "width": 2 if box.colour else 1},
        fillcolor=colours.paper,
    )
    first, *others = (literal(line) for line in box.lines)
    figure.add_annotation(
        x=(box.left + box.right) / 2,
        y=middle,
        text="<br>".join([f"<b>{first}</b>", *others]),
        showarrow=False,
        font={"size": 12, "color": colours.ink},
    )


def _join(figure: go.Figure, across: float, middle: float, colours: Palette) -> None:
    """A short arrow into the row at `middle` from the one above."""
    gap = _ROW - _BOX
    figure.add_annotation(
        x=across,
        y=middle - _BOX / 2,
        ax=across,
        ay=middle - _BOX / 2 - gap,
        axref="x",
        ayref="y",
        text="",
        showarrow=True,
        arrowhead=2,
        arrowwidth=1.4,
        arrowcolor=colours.ink,
    )
