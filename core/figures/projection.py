"""A projected on B over the layers, and the heads that link the two."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from core.figures.labels import literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from core.analysis.pair_projection import PairProjection
    from core.figures.palette import Palette

_MOST_TICKS = 8


def layers_figure(
    projection: PairProjection, name_a: str, name_b: str, colours: Palette
) -> go.Figure:
    """Signed lengths and attention between the two tokens, one line each, over the layers."""
    layers = np.arange(1, len(projection.in_plane) + 1)
    a_b = f"{literal(name_a)} → {literal(name_b)}"
    b_a = f"{literal(name_b)} → {literal(name_a)}"
    lines = [
        ("along, in the plane", projection.in_plane, colours.accent, "solid", "circle"),
        ("along, in full space", projection.in_full, colours.accent, "dash", "circle-open"),
        (f"{a_b}, strongest head", projection.a_to_b.max(axis=1), colours.query, "solid", "square"),
        (f"{a_b}, mean", projection.a_to_b.mean(axis=1), colours.query, "dash", "square-open"),
        (f"{b_a}, strongest head", projection.b_to_a.max(axis=1), colours.key, "solid", "diamond"),
        (f"{b_a}, mean", projection.b_to_a.mean(axis=1), colours.key, "dash", "diamond-open"),
    ]
    figure = go.Figure()
    for name, values, colour, dash, symbol in lines:
        figure.add_scatter(
            x=layers,
            y=values,
            name=name,
            mode="lines+markers",
            line={"color": colour, "dash": dash, "width": 2},
            marker={"symbol": symbol, "size": 8, "color": colour},
            hovertemplate=f"{name}<br>layer %{{x}}: %{{y:.3f}}<extra></extra>",
        )
    _over_layers(figure, len(layers), colours)
    return figure


def sentences_figure(
    lengths: NDArray[np.float64],
    names: Sequence[str],
    line_colours: Sequence[str],
    colours: Palette,
) -> go.Figure:
    """The signed length over the layers, one line a sentence, and their mean.

    Parameters
    ----------
    lengths : (sentence, layer); what is not a number leaves a gap and is not in the mean.
    """
    layers = np.arange(1, lengths.shape[1] + 1)
    figure = go.Figure()
    for values, name, colour in zip(lengths, names, line_colours, strict=True):
        figure.add_scatter(
            x=layers,
            y=values,
            name=literal(name),
            mode="lines+markers",
            line={"color": colour, "width": 1.6},
            hovertemplate=f"{literal(name)}<br>layer %{{x}}: %{{y:.3f}}<extra></extra>",
        )
    known = np.isfinite(lengths)
    sums = np.where(known, lengths, 0).sum(axis=0)
    counts = known.sum(axis=0)
    mean = np.divide(sums, counts, out=np.full(len(layers), np.nan), where=counts > 0)
    figure.add_scatter(
        x=layers,
        y=mean,
        name="mean",
        mode="lines+markers",
        line={"color": colours.ink, "width": 4},
        hovertemplate="mean<br>layer %{x}: %{y:.3f}<extra></extra>",
    )
    _over_layers(figure, len(layers), colours)
    return figure


def _over_layers(figure: go.Figure, layers: int, colours: Palette) -> None:
    figure.update_xaxes(tickprefix="layer ", dtick=-(-layers // _MOST_TICKS), showgrid=False)
    figure.update_yaxes(
        range=[-1.08, 1.08], zeroline=True, zerolinecolor=colours.line, title_text="", dtick=0.5
    )
    figure.update_layout(
        height=330,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        legend={"orientation": "h", "y": -0.14, "yanchor": "top", "x": 0},
        hovermode="closest",
    )
