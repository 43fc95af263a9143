"""One number per head: layers down, heads across, a square each that can be clicked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go

from core.figures.labels import literal
from core.figures.palette import scale

if TYPE_CHECKING:
    from core.analysis.arrays import Floats
    from core.figures.palette import Palette


def head_map(
    values: Floats,
    name: str,
    colours: Palette,
    *,
    bounds: tuple[float, float] = (0.0, 1.0),
    title: str = "attention",
    signed: bool = False,
    reverse: bool = False,
    logarithmic: bool = False,
) -> go.Figure:
    """Squares coloured by `values`; a clicked point's y is the layer and its x the head, from 1.

    `values` are (layer, head), nan marked with a cross, and called `name` on hover; `bounds` are
    those of the first and the last colour, `title` that of their bar. `signed` colours have two
    sides around the middle of `bounds`; `reverse` gives the last colour to the lowest value;
    `logarithmic` colours by the logarithm (base 2) of positive values.
    """
    layers, heads = values.shape
    layer, head = np.meshgrid(np.arange(1, layers + 1), np.arange(1, heads + 1), indexing="ij")
    defined = np.isfinite(values)
    shade, (low, high) = values[defined], bounds
    bar: dict[str, Any] = {"title": {"text": title}, "thickness": 12}
    if logarithmic:
        shade, (low, high) = np.log2(shade), np.log2(bounds)
        ticks = np.arange(np.ceil(low), np.floor(high) + 1)
        bar |= {"tickvals": ticks, "ticktext": [f"{2.0**tick:g}" for tick in ticks]}
    figure = go.Figure()
    if not defined.all():
        figure.add_scatter(
            x=head[~defined],
            y=layer[~defined],
            mode="markers",
            marker={"symbol": "x-thin", "size": 8, "line": {"width": 1, "color": colours.ink}},
            hovertemplate=f"L%{{y}} H%{{x}}: {literal(name)} is not defined<extra></extra>",
        )
    size = square_size(heads)
    figure.add_scatter(
        x=head[defined],
        y=layer[defined],
        customdata=values[defined],
        mode="markers",
        marker={
            "symbol": "square",
            "size": size,
            "color": shade,
            "colorscale": scale(colours.diverging if signed else colours.sequential),
            "reversescale": reverse,
            "cmin": low,
            "cmax": high,
            "line": {"width": 1, "color": colours.line},
            "colorbar": bar,
        },
        **steady(),
        hovertemplate=(
            f"L%{{y}} H%{{x}}: {literal(name)} %{{customdata:.3f}}"
            "<br>click to open this head<extra></extra>"
        ),
    )
    lay_out_heads(figure, layers, heads)
    figure.update_layout(height=max(240, 110 + (size + 6) * layers), showlegend=False)
    return figure


def lay_out_heads(figure: go.Figure, layers: int, heads: int) -> None:
    """Axes of a map of heads, numbered from 1, whose points can be clicked."""
    axis = {"showgrid": False, "zeroline": False, "dtick": 1}
    figure.update_xaxes(title_text="head", range=[0.4, heads + 0.6], **axis)
    figure.update_yaxes(title_text="layer", range=[layers + 0.6, 0.4], **axis)
    make_clickable(figure)


def make_clickable(figure: go.Figure) -> None:
    """A click selects a point; nothing zooms, and the margins are narrow."""
    figure.update_xaxes(fixedrange=True)
    figure.update_yaxes(fixedrange=True)
    figure.update_layout(
        margin={"l": 8, "r": 8, "t": 8, "b": 8}, clickmode="event+select", dragmode=False
    )


def ring(figure: go.Figure, layer: int, head: int, heads: int, colours: Palette) -> None:
    """Mark the chosen head, given from 0, on a map of heads."""
    add_ring(figure, head + 1, layer + 1, "square-open", square_size(heads) + 6, colours)


def add_ring(
    figure: go.Figure, x: float, y: float, symbol: str, size: int, colours: Palette
) -> None:
    """An open mark around one point, which takes no clicks of its own."""
    figure.add_scatter(
        x=[x],
        y=[y],
        mode="markers",
        marker={"symbol": symbol, "size": size, "color": colours.alert, "line": {"width": 3}},
        **steady(),
        hoverinfo="skip",
        showlegend=False,
    )


def steady(text: str | None = None, opacity: float = 1) -> dict[str, Any]:
    """Arguments of a trace whose points do not fade when one is clicked; `text`: their colour."""
    same: dict[str, Any] = {"marker": {"opacity": opacity}}
    if text is not None:
        same["textfont"] = {"color": text}
    return {"selected": same, "unselected": same}


def square_size(heads: int) -> int:
    """Pixels of a square: as large as a third of a page has room for."""
    return 34 if heads <= 6 else 20 if heads <= 16 else 13
