"""Distance against dot product: a point for every pair of one head, or their density and a few."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from core.analysis.arrays import Floats, Indices
from core.analysis.query_key.layer_search import FittedLine
from core.analysis.query_key.pair_scatter import Density, PairScatter
from core.figures.head_map import steady
from core.figures.labels import literal
from core.figures.palette import Palette, scale
from core.figures.query_key.search import open_marker

_BLUE = 2  # of the palette's categories: each query's strongest pair
_LINE = 1  # of the palette's categories: orange, which shows on points and density alike
_FAINTEST = 2  # of the sequential colours: the first for a density, distinct from the paper


def pair_scatter_figure(
    pairs: PairScatter,
    labels: Sequence[str],
    axes: tuple[str, str],
    colours: Palette,
    *,
    density: Density | None = None,
    picked: int | None = None,
    key_labels: Sequence[str] | None = None,
) -> go.Figure:
    """Points whose own data are query and key, as positions from 1; the line; a ring if `picked`.

    A `density` replaces all points but those of each query's most attended key. `key_labels` are
    those of keys that are other tokens than the queries, which have `labels`.
    """
    figure = go.Figure()

    def draw(name: str, chosen: Indices, **look: Any) -> None:  # noqa: ANN401
        words = [literal(label) for label in labels]
        others = words if key_labels is None else [literal(label) for label in key_labels]
        places = list(zip(pairs.queries[chosen], pairs.keys[chosen], strict=True))
        figure.add_scatter(
            x=pairs.x[chosen],
            y=pairs.y[chosen],
            name=name,
            customdata=[[int(query) + 1, int(key) + 1] for query, key in places],
            text=[
                f"{words[query]} → {others[key]}<br>attention {weight:.3f}"
                for (query, key), weight in zip(places, pairs.attention[chosen], strict=True)
            ],
            hovertemplate="%{text}<br>press to see the pair<extra></extra>",
            **look,
        )

    if density is None:
        others = np.flatnonzero(~pairs.strongest)
        draw("other pairs", others, **_dots(5, colours.ink, 0.45))
    else:
        figure.add_trace(_density_map(density, colours))
    strongest = np.flatnonzero(pairs.strongest)
    draw("most attended key of a query", strongest, **_dots(8, colours.categories[_BLUE], 0.9))
    if pairs.line is not None:
        figure.add_trace(_drawn_line(pairs.line, pairs.x, colours))
    if picked is not None:
        ring = open_marker("circle-open", 15, colours.alert, 3)
        draw("the chosen pair", np.array([picked]), **ring, **steady())
    figure.update_xaxes(title_text=axes[0], zeroline=False)
    figure.update_yaxes(title_text=axes[1], zeroline=False)
    return figure.update_layout(
        height=330,
        margin={"l": 8, "r": 8, "t": 34, "b": 8},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        clickmode="event+select",
        dragmode=False,
        hovermode="closest",
    )


def _density_map(density: Density, colours: Palette) -> go.Heatmap:
    """How many pairs lie where, on a logarithmic scale; nothing where there are none."""
    return go.Heatmap(
        x=(density.x_edges[:-1] + density.x_edges[1:]) / 2,
        y=(density.y_edges[:-1] + density.y_edges[1:]) / 2,
        z=np.log10(np.where(density.counts > 0, density.counts, np.nan)),
        customdata=density.counts,
        colorscale=scale(colours.sequential[_FAINTEST:]),
        showscale=False,
        hovertemplate="%{customdata:,} pairs here<extra></extra>",
    )


def _drawn_line(line: FittedLine, x: Floats, colours: Palette) -> go.Scatter:
    """The least-squares line from the first to the last of the points at `x`."""
    ends = np.array([x.min(), x.max()])
    return go.Scatter(
        x=ends,
        y=line.intercept + line.slope * ends,
        name="least-squares line",
        mode="lines",
        line={"color": colours.categories[_LINE], "width": 2.5},
        hoverinfo="skip",
    )


def _dots(size: int, colour: str, opacity: float) -> dict[str, Any]:
    """Points of `size` pixels that look the same when one is clicked."""
    marker = {"size": size, "color": colour, "opacity": opacity, "line": {"width": 0}}
    return {"mode": "markers", "marker": marker, **steady(opacity=opacity)}
