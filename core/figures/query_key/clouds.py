"""The search for a and c in pictures, and clouds of queries and keys in space."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go

from core.figures.labels import literal
from core.figures.palette import scale

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from core.analysis.normalization import GridSearch
    from core.analysis.query_key.clouds import Cloud, Lines
    from core.analysis.query_key.layer_search import Regression
    from core.analysis.query_key.scaling import HeadScaling, SquaredDistance
    from core.figures.palette import Palette

    Floats = NDArray[np.float64]

_HEIGHT = 340  # pixels
_TITLE = 36  # pixels above a picture that has one
_MOST_LABELS = 60  # in space, where labels cannot avoid each other
BLUE = 2  # of the palette's categories: each query's strongest pair
_EYE = 1.8  # from the middle on each axis, in the cube's size: four narrow pictures show all of it
_LINE_STEPS = 6  # widths of lines in space
_SPACE_SIZE, _SPACE_SIZES = 4.0, (3.0, 10.0)  # pixels of points in space; by norm, least and most


def surface_figure(search: GridSearch, colours: Palette) -> go.Figure:
    """The correlation for every a and c; the best is marked."""
    figure = go.Figure(
        go.Heatmap(
            x=search.c_values,
            y=search.a_values,
            z=search.surface,
            colorscale=scale(colours.sequential),
            reversescale=True,
            colorbar={"title": {"text": "r"}, "thickness": 12},
            hovertemplate="a = %{y:.3g}, c = %{x:.3g}: r = %{z:.6f}<extra></extra>",
        )
    )
    figure.add_scatter(
        x=[search.c],
        y=[search.a],
        mode="markers",
        marker={"symbol": "circle-open", "size": 15, "color": colours.alert, "line": {"width": 3}},
        hovertemplate="the best: a = %{y:.3g}, c = %{x:.3g}<extra></extra>",
    )
    figure.update_xaxes(title_text="c", showgrid=False, zeroline=False)
    figure.update_yaxes(title_text="a", showgrid=False, zeroline=False)
    return _framed(figure, "r for every a and c")


def regression_figure(regression: Regression, title: str, colours: Palette) -> go.Figure:
    """Dot product against cosine distance, a point a pair, with the line of least squares."""
    distances, products = regression.distances, regression.products
    figure = go.Figure(
        go.Scattergl(
            x=distances,
            y=products,
            mode="markers",
            marker={"size": 5, "color": colours.accent, "opacity": 0.6},
            hovertemplate="cosine distance %{x:.3f}<br>dot product %{y:.2f}<extra></extra>",
        )
    )
    if regression.line is not None:
        slope, start = regression.line
        ends = np.array([distances.min(), distances.max()])
        figure.add_scatter(
            x=ends,
            y=slope * ends + start,
            mode="lines",
            line={"color": colours.alert, "width": 2.5},
            hovertemplate=f"slope {slope:.4g}<extra></extra>",
        )
    figure.update_xaxes(title_text="cosine distance of query and key of the same token")
    figure.update_yaxes(title_text="dot product")
    return _framed(figure, title)


def curve_figure(
    scaling: HeadScaling,
    squared: SquaredDistance | None,
    c_values: Floats,
    published: Sequence[float],
    colours: Palette,
) -> go.Figure:
    """The correlation over c, its optimum, the published grid; and for squared distance.

    `squared` is drawn as a second line with its optimum by formula; None leaves it out.
    """
    at_published = np.interp(np.log(published), np.log(c_values), scaling.curve)
    at_c = np.interp(np.log(scaling.c), np.log(c_values), scaling.curve)
    figure = go.Figure()
    hover = "c = %{x:.3g}: %{y:.4f}"
    figure.add_scatter(
        x=c_values,
        y=scaling.curve,
        name="correlation",
        mode="lines",
        line={"color": colours.accent, "width": 2.5},
        hovertemplate=f"{hover}<extra></extra>",
    )
    figure.add_scatter(
        x=list(published),
        y=at_published,
        name="published grid",
        mode="markers",
        marker={"symbol": "line-ns-open", "size": 13, "color": colours.ink, "line": {"width": 2}},
        hovertemplate=f"published grid, {hover}<extra></extra>",
    )
    figure.add_scatter(
        x=[scaling.c],
        y=[at_c],
        name="chosen c",
        mode="markers",
        marker={"symbol": "circle-open", "size": 14, "color": colours.alert, "line": {"width": 3}},
        hovertemplate=f"chosen, {hover}<extra></extra>",
    )
    if squared is not None:
        _add_squared(figure, squared, c_values, colours)
    figure.update_xaxes(
        type="log",
        title_text="c",
        tickvals=[0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20],
        zeroline=False,
    )
    figure.update_yaxes(title_text="correlation of distance and scores")
    _framed(figure)
    figure.update_layout(
        showlegend=True,
        height=380,
        legend={"orientation": "h", "y": -0.24, "yanchor": "top", "x": 0},
    )
    return figure


def _add_squared(
    figure: go.Figure, squared: SquaredDistance, c_values: Floats, colours: Palette
) -> None:
    hover = "squared distance, c = %{x:.3g}: %{y:.4f}<extra></extra>"
    figure.add_scatter(
        x=c_values,
        y=squared.curve,
        name="squared distance, Pearson",
        mode="lines",
        line={"color": colours.ink, "width": 1.2, "dash": "dot"},
        hovertemplate=hover,
    )
    for name, c, symbol in (
        ("its best, by formula", squared.closed_form, "x-thin-open"),
        ("its best, on the grid", squared.on_grid, "square-open"),
    ):
        if c is not None:
            figure.add_scatter(
                x=[c],
                y=[np.interp(np.log(c), np.log(c_values), squared.curve)],
                name=name,
                mode="markers",
                marker={
                    "symbol": symbol,
                    "size": 11,
                    "color": colours.ink,
                    "line": {"width": 2},
                },
                hovertemplate=hover,
            )


def space_sizes(norms: Floats) -> Floats:
    """Pixels of points in space: as `norms`, from the shortest vector to the longest."""
    low, high = float(norms.min()), float(norms.max())
    share = (norms - low) / (high - low) if high > low else np.full(norms.shape, 0.5)
    least, most = _SPACE_SIZES
    return np.asarray(least + (most - least) * share)


def space_figure(
    cloud: Cloud,
    title: str,
    labels: Sequence[str],
    lines: Lines,
    chosen: tuple[Sequence[int], Sequence[int]],
    tones: Sequence[str],
    shown: Sequence[int],
    colours: Palette,
    *,
    sizes: Floats | None = None,
    labelled: bool = True,
) -> go.Figure:
    """A cloud in three dimensions, to be turned by hand.

    Parameters
    ----------
    labels : one a token.
    chosen : positions of the sources and of the targets, which are red as the lines between them.
    tones : a colour for every query, then for every key.
    shown : positions that are drawn.
    sizes : pixels of every point, (2 token,), queries first; one size for all without them.
    labelled : tokens stand beside their points, where there are not too many.
    """
    figure = go.Figure(
        [
            *_space_lines(cloud, lines, chosen, shown, colours),
            *_space_points(
                cloud, labels, chosen, tones, shown, colours, sizes=sizes, named=labelled
            ),
        ]
    )
    axis: dict[str, Any] = {
        "showbackground": False,
        "gridcolor": colours.line,
        "zeroline": False,
        "showticklabels": False,
        "title": {"text": ""},
    }
    figure.update_layout(
        height=330,
        showlegend=False,
        margin={"l": 0, "r": 0, "t": 30, "b": 0},
        title={"text": literal(title), "font": {"size": 14}, "x": 0.02, "y": 0.98},
        scene={
            "aspectmode": "data",
            "camera": {"eye": dict.fromkeys("xyz", _EYE)},
            "xaxis": axis,
            "yaxis": axis,
            "zaxis": axis,
        },
    )
    return figure


def _space_points(
    cloud: Cloud,
    labels: Sequence[str],
    chosen: tuple[Sequence[int], Sequence[int]],
    tone: Sequence[str],
    shown: Sequence[int],
    colours: Palette,
    *,
    sizes: Floats | None,
    named: bool,
) -> list[go.Scatter3d]:
    kept = list(shown)
    count = len(labels)
    drawn = []
    for kind, points, offset, symbol, ink, red in (
        ("query", cloud.picture.queries, 0, "circle", colours.query, chosen[0]),
        ("key", cloud.picture.keys, count, "diamond", colours.key, chosen[1]),
    ):
        x, y, z = points[kept].T
        names = [literal(labels[i]) for i in kept]
        drawn.append(
            go.Scatter3d(
                x=x,
                y=y,
                z=z,
                mode="markers+text" if named and len(kept) <= _MOST_LABELS else "markers",
                text=names,
                textfont={
                    "size": 11,
                    "color": [colours.alert if i in red else ink for i in kept],
                },
                marker={
                    "symbol": symbol,
                    "size": _SPACE_SIZE
                    if sizes is None
                    else [float(sizes[offset + i]) for i in kept],
                    # What has its kind's own colour and is chosen is red.
                    "color": [
                        colours.alert if i in red and tone[offset + i] == ink else tone[offset + i]
                        for i in kept
                    ],
                },
                hovertemplate=f"{kind} %{{text}}<extra></extra>",
            )
        )
    return drawn


def _space_lines(
    cloud: Cloud,
    lines: Lines,
    chosen: tuple[Sequence[int], Sequence[int]],
    shown: Sequence[int],
    colours: Palette,
) -> list[go.Scatter3d]:
    """Lines by width and colour: plotly draws one width a trace."""
    visible = np.isin(lines.queries, list(shown)) & np.isin(lines.keys, list(shown))
    step = np.minimum((lines.weights * _LINE_STEPS).astype(int), _LINE_STEPS - 1)
    red = lines.between(*chosen)
    blue = lines.strongest & ~red
    drawn = []
    for kind, colour, opacity in (
        (~red & ~blue, colours.ink, 0.35),
        (blue, colours.categories[BLUE], 0.6),
        (red, colours.alert, 1.0),
    ):
        for width in range(_LINE_STEPS):
            some = np.flatnonzero(visible & (step == width) & kind)
            if some.size:
                drawn.append(_space_line(cloud, lines, some, 1 + 1.2 * width, colour, opacity))
    return drawn


def _space_line(
    cloud: Cloud,
    lines: Lines,
    some: NDArray[np.intp],
    width: float,
    colour: str,
    opacity: float,
) -> go.Scatter3d:
    ends = np.full((some.size, 3, 3), np.nan)  # from, to, a gap
    ends[:, 0] = cloud.picture.queries[lines.queries[some]]
    ends[:, 1] = cloud.picture.keys[lines.keys[some]]
    x, y, z = ends.reshape(-1, 3).T
    return go.Scatter3d(
        x=x,
        y=y,
        z=z,
        mode="lines",
        line={"width": width, "color": colour},
        opacity=opacity,
        hoverinfo="skip",
    )


def _framed(figure: go.Figure, title: str = "") -> go.Figure:
    top = _TITLE if title else 8
    figure.update_layout(
        height=_HEIGHT,
        showlegend=False,
        margin={"l": 8, "r": 8, "t": top, "b": 8},
        title={"text": literal(title), "font": {"size": 14}, "x": 0.02, "y": 0.97},
    )
    return figure
