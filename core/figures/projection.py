"""A projected on B over the layers, and the heads that link the two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from core.analysis.arrays import Floats, mean_of_finite
from core.analysis.pair_projection import PairProjection
from core.figures.labels import literal
from core.figures.palette import Palette

_MAX_TICKS = 8


def layers_figure(
    projection: PairProjection, name_a: str, name_b: str, colours: Palette
) -> go.Figure:
    """Signed lengths and attention between the two tokens, one line each, over the layers."""
    a_b = f"{literal(name_a)} → {literal(name_b)}"
    b_a = f"{literal(name_b)} → {literal(name_a)}"
    a_to_b, b_to_a = projection.a_to_b, projection.b_to_a
    figure = go.Figure()
    hidden = "legendonly"  # until its name is clicked: four lines are enough to begin with
    for name, values, colour, dash, symbol in (
        ("along, in the plane", projection.in_plane, colours.accent, "solid", "circle"),
        ("along, in full space", projection.in_full, colours.accent, "dash", "circle-open"),
        (f"{a_b}, strongest head", a_to_b.max(axis=1), colours.query, "solid", "square"),
        (f"{a_b}, mean", a_to_b.mean(axis=1), colours.query, "dash", "square-open"),
        (f"{b_a}, strongest head", b_to_a.max(axis=1), colours.key, "solid", "diamond"),
        (f"{b_a}, mean", b_to_a.mean(axis=1), colours.key, "dash", "diamond-open"),
    ):
        line = {"color": colour, "dash": dash, "width": 2}
        marker = {"symbol": symbol, "size": 8, "color": colour}
        visible = hidden if name.endswith("mean") else True
        look = {"line": line, "marker": marker, "visible": visible}
        _add_line(figure, name, values, projection.layer_labels, **look)
    return _over_layers(figure, projection.layer_labels, colours)


def sentences_figure(
    lengths: Floats,
    names: Sequence[str],
    line_colours: Sequence[str],
    layer_labels: Sequence[int],
    colours: Palette,
) -> go.Figure:
    """The signed `lengths` (sentence, layer), one line a sentence, and their mean; NaN is a gap.

    `layer_labels` are those of the layers.
    """
    figure = go.Figure()
    for values, name, colour in zip(lengths, names, line_colours, strict=True):
        line = {"color": colour, "width": 1.6}
        _add_line(figure, literal(name), values, layer_labels, line=line)
    mean = mean_of_finite(lengths)
    _add_line(figure, "mean", mean, layer_labels, line={"color": colours.ink, "width": 4})
    return _over_layers(figure, layer_labels, colours)


def _add_line(
    figure: go.Figure,
    name: str,
    values: Floats,
    layer_labels: Sequence[int],
    **look: Any,  # noqa: ANN401 - of plotly: line, marker, visible
) -> None:
    figure.add_scatter(
        x=np.array(layer_labels),
        y=values,
        name=name,
        mode="lines+markers",
        hovertemplate=f"{name}<br>layer %{{x}}: %{{y:.3f}}<extra></extra>",
        **look,
    )


def _over_layers(figure: go.Figure, layer_labels: Sequence[int], colours: Palette) -> go.Figure:
    step = -(-len(layer_labels) // _MAX_TICKS)
    ticks: dict[str, Any] = {"dtick": step}
    if layer_labels[-1] > len(layer_labels):  # some layers between do not attend
        shown = list(layer_labels[::step])
        ticks = {"tickvals": shown, "ticktext": [f"layer {number}" for number in shown]}
    figure.update_xaxes(tickprefix="layer ", showgrid=False, **ticks)
    figure.update_yaxes(
        range=[-1.08, 1.08], zeroline=True, zerolinecolor=colours.edge, title_text="", dtick=0.5
    )
    return figure.update_layout(
        height=330,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        legend={"orientation": "h", "y": -0.14, "yanchor": "top", "x": 0},
        hovermode="closest",
    )
