"""Distance against dot product: every pair of one head a point, or their density and a few."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from core.figures.head_map import steady
from core.figures.labels import literal
from core.figures.palette import scale
from core.figures.query_key.clouds import BLUE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from core.analysis.query_key.pair_scatter import Density, PairScatter
    from core.figures.palette import Palette

_HEIGHT = 330  # pixels
_LINE = 1  # of the palette's categories: orange, which shows on points and density alike
_FAINTEST = 2  # of the sequential colours: the first for a density, told apart from the paper


def pair_scatter_figure(
    pairs: PairScatter,
    labels: Sequence[str],
    axes: tuple[str, str],
    colours: Palette,
    *,
    density: Density | None = None,
    picked: int | None = None,
) -> go.Figure:
    """Points whose own data are query and key, as positions from 1; the line; a ring.

    Parameters
    ----------
    labels : one a token.
    axes : titles of x and y.
    density : drawn in place of all points but those of each query's most attended key.
    picked : the pair with a ring around it.
    """
    figure = go.Figure()
    if density is None:
        weak = np.flatnonzero(~pairs.strongest)
        _add_points(figure, pairs, weak, labels, ("other pairs", 5, 0.45, colours.ink))
    else:
        _add_density(figure, density, colours)
    strong = np.flatnonzero(pairs.strongest)
    name = "most attended key of a query"
    _add_points(figure, pairs, strong, labels, (name, 8, 0.9, colours.categories[BLUE]))
    _add_line(figure, pairs, colours)
    if picked is not None:
        _add_ring(figure, pairs, picked, labels, colours)
    figure.update_xaxes(title_text=axes[0], zeroline=False)
    figure.update_yaxes(title_text=axes[1], zeroline=False)
    figure.update_layout(
        height=_HEIGHT,
        margin={"l": 8, "r": 8, "t": 34, "b": 8},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        clickmode="event+select",
        dragmode=False,
        hovermode="closest",
    )
    return figure


def _add_points(
    figure: go.Figure,
    pairs: PairScatter,
    chosen: NDArray[np.intp],
    labels: Sequence[str],
    look: tuple[str, int, float, str],
) -> None:
    """`look` is the name in the legend, the size in pixels, the opacity, and the colour."""
    name, size, opacity, colour = look
    figure.add_scatter(
        x=pairs.x[chosen],
        y=pairs.y[chosen],
        name=name,
        mode="markers",
        marker={"size": size, "color": colour, "opacity": opacity, "line": {"width": 0}},
        selected={"marker": {"opacity": opacity}},
        unselected={"marker": {"opacity": opacity}},
        **_told(pairs, chosen, labels),
    )


def _told(
    pairs: PairScatter, chosen: NDArray[np.intp], labels: Sequence[str]
) -> dict[str, list[list[int]] | list[str] | str]:
    """What hovering and clicking tell of these pairs."""
    places = list(zip(pairs.queries[chosen], pairs.keys[chosen], strict=True))
    words = [literal(label) for label in labels]
    return {
        "customdata": [[int(query) + 1, int(key) + 1] for query, key in places],
        "text": [
            f"{words[query]} → {words[key]}<br>attention {weight:.3f}"
            for (query, key), weight in zip(places, pairs.attention[chosen], strict=True)
        ],
        "hovertemplate": "%{text}<br>click to see the pair<extra></extra>",
    }


def _add_density(figure: go.Figure, density: Density, colours: Palette) -> None:
    counts = np.where(density.counts > 0, density.counts, np.nan)
    figure.add_heatmap(
        x=(density.x_edges[:-1] + density.x_edges[1:]) / 2,
        y=(density.y_edges[:-1] + density.y_edges[1:]) / 2,
        z=np.log10(counts),
        customdata=density.counts,
        colorscale=scale(colours.sequential[_FAINTEST:]),
        showscale=False,
        hovertemplate="%{customdata:,} pairs here<extra></extra>",
    )


def _add_line(figure: go.Figure, pairs: PairScatter, colours: Palette) -> None:
    if pairs.line is None:
        return
    ends = np.array([pairs.x.min(), pairs.x.max()])
    figure.add_scatter(
        x=ends,
        y=pairs.line.start + pairs.line.slope * ends,
        name="line of least squares",
        mode="lines",
        line={"color": colours.categories[_LINE], "width": 2.5},
        hoverinfo="skip",
    )


def _add_ring(
    figure: go.Figure, pairs: PairScatter, picked: int, labels: Sequence[str], colours: Palette
) -> None:
    figure.add_scatter(
        x=pairs.x[[picked]],
        y=pairs.y[[picked]],
        name="the chosen pair",
        mode="markers",
        marker={
            "symbol": "circle-open",
            "size": 15,
            "color": colours.alert,
            "line": {"width": 3},
        },
        **steady(),
        **_told(pairs, np.array([picked]), labels),
    )
