"""Two tokens across the layers: how alike they attend, and how much they attend to each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from core.analysis.arrays import Floats
from core.analysis.pair_projection import SAME_WAY, PairProjection
from core.figures.layout import NARROW, axis, lay_out, literal
from core.figures.palette import Palette

_MAX_TICKS = 8
_HEIGHT = 400  # pixels of both panels
_SMALLER, _BETWEEN = 0.3, 0.12  # of that: the smaller panel, and the title above it


def layers_figure(
    projection: PairProjection,
    names: tuple[str, str],
    titles: tuple[str, str],
    colours: Palette,
    *,
    attention_first: bool,
) -> go.Figure:
    """Two panels across the layers: the cosines of A and B, and the attention between them.

    `names` are those of A and B, `titles` those of the panels, the first of which is larger.
    Dotted lines are the cosine from which the two count as alike, and the uniform baseline.
    """
    a, b = map(literal, names)
    a_to_b, b_to_a = projection.a_to_b, projection.b_to_a
    figure = go.Figure()
    for scale, name, values, colour, dash, symbol in (
        ("y", "cosine in full space", projection.in_full, colours.accent, "solid", "circle"),
        ("y", "in the plane", projection.in_plane, colours.accent, "dash", "circle-open"),
        ("y2", f"{a} → {b}, strongest head", a_to_b.max(axis=1), colours.query, "solid", "square"),
        ("y2", f"{b} → {a}, strongest head", b_to_a.max(axis=1), colours.key, "solid", "diamond"),
        ("y2", "uniform baseline", projection.uniform, colours.ink, "dot", None),
    ):
        line = {"color": colour, "dash": dash, "width": 2 if symbol else 1}
        marker = {"symbol": symbol, "size": 8 if symbol else 1, "color": colour}
        look = {"line": line, "marker": marker, "yaxis": scale}
        _add_line(figure, name, values, projection.layer_labels, **look)
    figure.add_hline(SAME_WAY, line={"color": colours.ink, "dash": "dot", "width": 1})
    larger, smaller = [_SMALLER + _BETWEEN, 1.0], [0.0, _SMALLER]
    panels = (smaller, larger) if attention_first else (larger, smaller)
    for (_, top), title in zip(panels, titles, strict=True):
        figure.add_annotation(
            text=f"<b>{literal(title)}</b>",
            font={"size": 14, "color": colours.ink},
            xref="paper",
            yref="paper",
            x=0,
            y=top,
            xanchor="left",
            yanchor="bottom",
            align="left",
            showarrow=False,
        )
    cosines = {"range": [-1.08, 1.08], "zeroline": True, "zerolinecolor": colours.edge}
    attention = {"range": [-0.04, 1.04], "zeroline": False, "dtick": 0.5}
    return lay_out(
        figure,
        xaxis={"anchor": "free", "position": 0, "showgrid": False, **_ticks(projection)},
        yaxis=axis("cosine", domain=panels[0], dtick=1 if attention_first else 0.5, **cosines),
        yaxis2=axis("attention", domain=panels[1], **attention),
        height=_HEIGHT,
        margin=NARROW | {"t": 28},
        legend={"orientation": "h", "y": -0.14, "yanchor": "top", "x": 0},
        hovermode="closest",
    )


def _add_line(
    figure: go.Figure,
    name: str,
    values: Floats,
    layer_labels: Sequence[int],
    **look: Any,  # noqa: ANN401 - of plotly: line, marker, yaxis
) -> None:
    figure.add_scatter(
        x=np.array(layer_labels),
        y=values,
        name=name,
        mode="lines+markers",
        hovertemplate=f"{name}<br>layer %{{x}}: %{{y:.3f}}<extra></extra>",
        **look,
    )


def _ticks(projection: PairProjection) -> dict[str, Any]:
    """The ticks of the layer axis; some layers may not attend."""
    layer_labels = projection.layer_labels
    step = -(-len(layer_labels) // _MAX_TICKS)
    if layer_labels[-1] == len(layer_labels):
        return {"tickprefix": "layer ", "dtick": step}
    shown = list(layer_labels[::step])
    ticks = {"tickvals": shown, "ticktext": [f"layer {number}" for number in shown]}
    return {"tickprefix": "layer ", **ticks}
