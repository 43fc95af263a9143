"""A model as a diagram: one stack from the tokens above down, or an encoder beside a decoder.

Two stacks stand as in fig. 1 of Vaswani et al. (2017) and are read from below.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import plotly.graph_objects as go

from core.figures.labels import literal
from core.figures.palette import Palette

_ROW = 62  # pixels from one row to the next
_BOX = 44  # pixels, height of a box
_LAYER_PAD = 14  # pixels between the boxes of the layer and its frame
_LINE, _PAD, _GAP = 15, 10, 18  # pixels of boxes in two stacks: a line, around lines, between boxes
_SIDES = ((0.0, 0.465), (0.535, 1.0))  # of the encoder and the decoder, as shares of the width


@dataclass(frozen=True)
class Box:
    """A part of the model."""

    lines: tuple[str, ...]  # what is written in it, the first one bold
    left: float = 0.0  # where it begins, as a share of the width
    right: float = 1.0  # where it ends
    colour: str | None = None  # of its border, "#rrggbb"; None for the usual one


@dataclass(frozen=True)
class Column:
    """One stack, every part from below: what comes before the layers, a layer, what follows.

    `modality` is the place of the box in a layer that gets what the other stack gives, if any.
    """

    below: tuple[Box, ...]
    layer: tuple[Box, ...]
    above: tuple[Box, ...]
    note: str  # at the frame around the layer
    modality: int | None = None


def structure_figure(
    rows: Sequence[Sequence[Box]], layer: tuple[int, int], note: str, colours: Palette
) -> go.Figure:
    """Boxes in rows, an arrow from each row to the next, a frame around the rows of a layer.

    `layer` is the first and the last row inside the frame; the `note` stands at its lower right.
    """
    height = _ROW * len(rows) + 2 * _LAYER_PAD
    figure = _canvas(height)
    frame_end = _top(layer[1]) + _BOX + _LAYER_PAD / 2
    frame = (-0.025, _top(layer[0]) - _LAYER_PAD, 1.025, frame_end)
    _draw_frame(figure, frame, 1.0, note, colours)
    for index, boxes in enumerate(rows):
        for box in boxes:
            _draw_box(figure, box, _top(index), colours)
        if index:
            for box in max(boxes, rows[index - 1], key=len):
                _draw_arrow(
                    figure, (box.left + box.right) / 2, _top(index), _BOX - _ROW, colours.ink
                )
    return figure


def stacks_figure(encoder: Column, decoder: Column, colours: Palette) -> go.Figure:
    """An encoder, a decoder, and the line from the one's end to where the other reads it."""
    columns = (encoder, decoder)
    height = max(map(_height, columns))
    figure = _canvas(height)
    places = [
        _draw_column(figure, column, sides, height, colours)
        for column, sides in zip(columns, _SIDES, strict=True)
    ]
    if decoder.modality is not None:
        given = places[0][-1]
        read = places[1][len(decoder.below) + decoder.modality]
        _draw_way(figure, given, read, colours)
    return figure


def _boxes(column: Column) -> tuple[Box, ...]:
    return (*column.below, *column.layer, *column.above)


def _box_height(box: Box) -> int:
    return _LINE * len(box.lines) + _PAD


def _height(column: Column) -> int:
    """Of a whole column, with the room that its frame takes."""
    boxes = _boxes(column)
    return sum(map(_box_height, boxes)) + _GAP * (len(boxes) - 1) + 4 * _LAYER_PAD


def _draw_column(
    figure: go.Figure, column: Column, sides: tuple[float, float], height: int, colours: Palette
) -> list[float]:
    """Draw boxes from the lower edge up; the middle of each, in pixels from above."""
    left, right = sides
    first, last = len(column.below), len(column.below) + len(column.layer) - 1
    bottom, middles, frame = float(height - _LAYER_PAD), [], [0.0, 0.0]
    for index, box in enumerate(_boxes(column)):
        if index in (first, last + 1):  # room for the frame's edge
            bottom -= _LAYER_PAD
        top = bottom - _box_height(box)
        _draw_box(figure, replace(box, left=left, right=right), top, colours, bottom - top)
        if index == first:
            frame[1] = bottom + _LAYER_PAD
        if index == last:
            frame[0] = top - _LAYER_PAD
        if index:
            before = bottom + _GAP + (_LAYER_PAD if index in (first, last + 1) else 0)
            _draw_arrow(figure, (left + right) / 2, bottom, before - bottom, colours.ink)
        middles.append((top + bottom) / 2)
        bottom = top - _GAP
    edges = (left - 0.015, frame[0], right + 0.015, frame[1])
    _draw_frame(figure, edges, right, column.note, colours)
    return middles


def _draw_way(figure: go.Figure, given: float, read: float, colours: Palette) -> None:
    """From the encoder's last box, between the stacks, to the box that reads it."""
    middle = (_SIDES[0][1] + _SIDES[1][0]) / 2
    line = {"color": colours.key, "width": 2}
    for x0, y0, x1, y1 in (
        (_SIDES[0][1], given, middle, given),
        (middle, given, middle, read),
    ):
        figure.add_shape(type="line", x0=x0, y0=y0, x1=x1, y1=y1, line=line)
    _add_arrow(figure, (middle, read), (_SIDES[1][0], read), colours.key)


def _canvas(height: int) -> go.Figure:
    """An empty figure, whose y counts pixels from above."""
    figure = go.Figure()
    figure.update_layout(height=height, margin={"l": 2, "r": 2, "t": 2, "b": 2})
    figure.update_xaxes(visible=False, range=[-0.03, 1.03], fixedrange=True)
    figure.update_yaxes(visible=False, range=[height, 0], fixedrange=True)
    return figure


def _draw_frame(
    figure: go.Figure,
    edges: tuple[float, float, float, float],
    right: float,
    note: str,
    colours: Palette,
) -> None:
    """A dotted frame (left, top, right, bottom) around a layer; its note ends at `right`."""
    x0, y0, x1, y1 = edges
    line = {"color": colours.accent, "width": 1.5, "dash": "dot"}
    figure.add_shape(type="rect", x0=x0, x1=x1, y0=y0, y1=y1, line=line)
    figure.add_annotation(
        x=right,
        y=y1,
        text=f"<b>{literal(note)}</b>",
        showarrow=False,
        xanchor="right",
        bgcolor=colours.paper,
        font={"size": 13, "color": colours.accent},
    )


def _top(row: int) -> float:
    return _LAYER_PAD + _ROW * row + (_ROW - _BOX) / 2


def _draw_box(
    figure: go.Figure, box: Box, top: float, colours: Palette, height: float = _BOX
) -> None:
    first, *others = (literal(line) for line in box.lines)
    figure.add_shape(
        type="rect",
        x0=box.left,
        x1=box.right,
        y0=top,
        y1=top + height,
        line={"color": box.colour or colours.edge, "width": 2 if box.colour else 1},
        fillcolor=colours.paper,
        label={
            "text": "<br>".join([f"<b>{first}</b>", *others]),
            "font": {"size": 12, "color": colours.ink},
        },
    )


def _draw_arrow(figure: go.Figure, across: float, end: float, length: float, colour: str) -> None:
    """A short upright arrow that ends at `end`; its length is negative where it points down."""
    _add_arrow(figure, (across, end + length), (across, end), colour)


def _add_arrow(
    figure: go.Figure, start: tuple[float, float], end: tuple[float, float], colour: str
) -> None:
    figure.add_annotation(
        x=end[0],
        y=end[1],
        ax=start[0],
        ay=start[1],
        axref="x",
        ayref="y",
        text="",
        showarrow=True,
        arrowhead=2,
        arrowwidth=1.4,
        arrowcolor=colour,
    )
