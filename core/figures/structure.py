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
_BOX = 44  # pixels, height of a box
_LAYER_PAD = 14  # pixels between the boxes of the layer and its frame


@dataclass(frozen=True)
class Box:
    """A part of the model."""

    lines: tuple[str, ...]  # what is written in it, the first one bold
    left: float = 0.0  # where it begins, as a share of the width
    right: float = 1.0  # where it ends
    colour: str | None = None  # of its border, "#rrggbb"; None for the usual one


def structure_figure(
    rows: Sequence[Sequence[Box]], layer: tuple[int, int], note: str, colours: Palette
) -> go.Figure:
    """Boxes in rows, an arrow from each row to the next, a frame around the rows of a layer.

    `layer` is the first and the last row inside the frame; the `note` stands at its lower right.
    """
    height = _ROW * len(rows) + 2 * _LAYER_PAD
    figure = go.Figure()
    figure.update_layout(height=height, margin={"l": 2, "r": 2, "t": 2, "b": 2})
    figure.update_xaxes(visible=False, range=[-0.03, 1.03], fixedrange=True)
    figure.update_yaxes(visible=False, range=[height, 0], fixedrange=True)
    frame_end = _top(layer[1]) + _BOX + _LAYER_PAD / 2
    figure.add_shape(
        type="rect",
        x0=-0.025,
        x1=1.025,
        y0=_top(layer[0]) - _LAYER_PAD,
        y1=frame_end,
        line={"color": colours.accent, "width": 1.5, "dash": "dot"},
    )
    figure.add_annotation(
        x=1.0,
        y=frame_end,
        text=f"<b>{literal(note)}</b>",
        showarrow=False,
        xanchor="right",
        bgcolor=colours.paper,
        font={"size": 13, "color": colours.accent},
    )
    for index, boxes in enumerate(rows):
        for box in boxes:
            _draw_box(figure, box, _top(index), colours)
        if index:
            for box in max(boxes, rows[index - 1], key=len):
                _draw_arrow(figure, (box.left + box.right) / 2, _top(index), colours.ink)
    return figure


def _top(row: int) -> float:
    return _LAYER_PAD + _ROW * row + (_ROW - _BOX) / 2


def _draw_box(figure: go.Figure, box: Box, top: float, colours: Palette) -> None:
    first, *others = (literal(line) for line in box.lines)
    figure.add_shape(
        type="rect",
        x0=box.left,
        x1=box.right,
        y0=top,
        y1=top + _BOX,
        line={"color": box.colour or colours.edge, "width": 2 if box.colour else 1},
        fillcolor=colours.paper,
        label={
            "text": "<br>".join([f"<b>{first}</b>", *others]),
            "font": {"size": 12, "color": colours.ink},
        },
    )


def _draw_arrow(figure: go.Figure, across: float, top: float, colour: str) -> None:
    """A short arrow down into the row that begins at `top`."""
    figure.add_annotation(
        x=across,
        y=top,
        ax=across,
        ay=top - (_ROW - _BOX),
        axref="x",
        ayref="y",
        text="",
        showarrow=True,
        arrowhead=2,
        arrowwidth=1.4,
        arrowcolor=colour,
    )
