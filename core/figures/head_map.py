"""One number per head: layers down, heads across, a square each that can be clicked."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from core.analysis.arrays import Bools, Floats
from core.analysis.layers import GAP, Rows
from core.figures.labels import literal
from core.figures.layout import BARE, NARROW, axis, lay_out
from core.figures.palette import Palette, scale, shaded

_CELL = (0.88, 0.82)  # width and height of a head, of what is between two
_ROW, _HEIGHT = 44, 340  # pixels of a layer in a large map, at most, and of all its layers
HOVERED = "L%{customdata[0]} H%{customdata[1]}"  # the head that is pointed at


def head_map(
    values: Floats,
    rows: Rows,
    name: str,
    colours: Palette,
    *,
    bounds: tuple[float, float] = (0.0, 1.0),
    title: str = "attention",
    signed: bool = False,
    reverse: bool = False,
    large: bool = False,
    beyond: Bools | None = None,
) -> go.Figure:
    """Cells coloured by `values`; a clicked one's customdata begin with layer and head.

    `values` are (layer, head), the layers in `rows`, nan marked with a cross, and called `name` on
    hover; `bounds` are those of the first and the last colour, `title` that of their bar. `signed`
    colours have two sides around the middle of `bounds`; `reverse` gives the last colour to the
    lowest value. Cells are as wide as there is room for; a `large` map is higher too. Cells that
    are `beyond` chance, (layer, head), have a dot.
    """
    layers, heads = values.shape
    place, head = np.meshgrid(rows.places, np.arange(1, heads + 1), indexing="ij")
    layer_labels = np.repeat(rows.layer_labels, heads).reshape(layers, heads)
    cells = np.stack([layer_labels, head, values], axis=-1)
    defined = np.isfinite(values)
    figure = go.Figure()
    if not defined.all():
        figure.add_scatter(
            x=head[~defined],
            y=place[~defined],
            customdata=cells[~defined][:, :2],
            mode="markers",
            marker={"symbol": "x-thin", "size": 8, "line": {"width": 1, "color": colours.ink}},
            hovertemplate=f"{HOVERED}: {literal(name)} is not defined<extra></extra>",
        )
    ramp = (colours.diverging if signed else colours.sequential)[:: -1 if reverse else 1]
    low, high = bounds
    # Plotly takes the numbers of bars for colours where it asks whether they are opaque, and warns
    shades = shaded(ramp, (values[defined] - low) / ((high - low) or 1))
    bar = {"title": {"text": title}, "thickness": 12}
    look = {"color": shades, "colorscale": scale(ramp), "cmin": low, "cmax": high, "colorbar": bar}
    words = f"{literal(name)} %{{customdata[2]:.3f}}"
    add_cells(figure, cells[defined], place[defined], look, words, colours)
    if beyond is not None:
        dot = {"size": 7, "color": colours.panel, "line": {"width": 1.5, "color": colours.ink}}
        dots = {"x": head[beyond], "y": place[beyond], "mode": "markers", "hoverinfo": "skip"}
        figure.add_scatter(**dots, **steady() | {"marker": dot | {"opacity": 1}})
    lay_out_heads(figure, rows, heads, colours, large=large)
    return figure


def add_cells(
    figure: go.Figure,
    cells: Floats,
    places: Floats,
    look: dict[str, Any],
    words: str,
    colours: Palette,
    **more: Any,  # noqa: ANN401 - of plotly's bars: name, text ...
) -> None:
    """Cells, (cell, 3): layer, head, value; in rows at `places`; `words` are of the hover."""
    figure.add_bar(  # a chart of cells reports no clicks
        x=cells[:, 1],
        y=np.full(len(cells), _CELL[1]),
        base=places - _CELL[1] / 2,
        width=_CELL[0],
        customdata=cells,
        marker={"line": {"width": 1, "color": colours.edge}, **look},
        **steady(),
        hovertemplate=f"{HOVERED}: {words}<br>press to open this head<extra></extra>",
        **more,
    )


def lay_out_heads(
    figure: go.Figure, rows: Rows, heads: int, colours: Palette, *, large: bool = False
) -> None:
    """Axes of a map of heads, with the numbers of both, whose cells can be clicked, and its height.

    Layers that do not attend are a thin empty row.
    """
    row = 40 if heads <= 6 else 26 if heads <= 16 else 19  # pixels
    if large:
        row = max(row, round(min(_ROW, _HEIGHT / rows.end)))
    lay_out(
        figure,
        **clickable(
            axis("head", range=[0.4, heads + 0.6], dtick=1, **BARE),
            axis("layer", range=[rows.end + 0.6, 0.4], **BARE, **layer_ticks(rows)),
        ),
        height=max(240, 110 + row * rows.end),
        showlegend=False,
        barmode="overlay",
    )
    for gap in rows.gaps:
        figure.add_hrect(
            y0=gap.place - GAP / 4,
            y1=gap.place + GAP / 4,
            fillcolor=colours.line,
            opacity=0.35,
            line_width=0,
            layer="below",
        )


def layer_ticks(rows: Rows) -> dict[str, Any]:
    """What an axis says where layers stand in `rows`, and in the gaps between them."""
    if not rows.gaps:
        return {"dtick": 1}
    small = [f'<span style="font-size:12px">{gap.name}</span>' for gap in rows.gaps]
    return {
        "tickmode": "array",
        "tickvals": [*rows.places, *(gap.place for gap in rows.gaps)],
        "ticktext": [*map(str, rows.layer_labels), *small],
    }


def clickable(xaxis: dict[str, Any], yaxis: dict[str, Any]) -> dict[str, Any]:
    """The layout of these axes where a click selects a point, nothing zooms, margins are narrow."""
    fixed = {"fixedrange": True}
    clicks = {"clickmode": "event+select", "dragmode": False}
    return {"xaxis": xaxis | fixed, "yaxis": yaxis | fixed, "margin": NARROW, **clicks}


def frame(figure: go.Figure, rows: Rows, head: tuple[int, int], colours: Palette) -> None:
    """Mark the chosen head, (layer, head) from 0."""
    width, height = _CELL
    x, y = head[1] + 1, rows.places[head[0]]
    figure.add_shape(
        type="rect",
        x0=x - width / 2,
        x1=x + width / 2,
        y0=y - height / 2,
        y1=y + height / 2,
        line={"width": 3, "color": colours.alert},
    )


def steady(opacity: float = 1) -> dict[str, Any]:
    """Arguments of a trace whose points do not fade when one is clicked."""
    same: dict[str, Any] = {"marker": {"opacity": opacity}}
    return {"selected": same, "unselected": same}
