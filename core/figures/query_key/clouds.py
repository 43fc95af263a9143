"""The search for a and c in pictures, and clouds of queries and keys in space."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import plotly.graph_objects as go

from core.figures.labels import literal
from core.figures.palette import scale

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike

    from core.analysis.arrays import Floats
    from core.analysis.normalization import GridSearch
    from core.analysis.query_key.clouds import Cloud, Lines
    from core.analysis.query_key.layer_search import Regression
    from core.analysis.query_key.scaling import HeadScaling, SquaredDistance
    from core.figures.palette import Palette

Kind = Literal["query", "key"]

_KINDS: tuple[Kind, Kind] = ("query", "key")
BLUE = 2  # of the palette's categories: each query's strongest pair
_MAX_LABELS = 60  # in space, where labels cannot avoid each other
_EYE = 1.8  # from the middle on each axis, in the cube's size: four narrow pictures show all of it
_LINE_STEPS = 6  # widths of lines in space
_POINT_SIZE, _POINT_SIZES = 4.0, (3.0, 10.0)  # pixels in space; the second by norm, low to high


def surface_figure(search: GridSearch, colours: Palette) -> go.Figure:
    """The correlation for every a and c; a ring marks the best."""
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
        hovertemplate="best: a = %{y:.3g}, c = %{x:.3g}<extra></extra>",
        **open_marker("circle-open", 15, colours.alert, 3),
    )
    figure.update_xaxes(title_text="c", showgrid=False, zeroline=False)
    figure.update_yaxes(title_text="a", showgrid=False, zeroline=False)
    return _framed(figure, "r for every a and c")


def regression_figure(regression: Regression, title: str, colours: Palette) -> go.Figure:
    """Dot product against cosine distance, a point a pair, with the least-squares line."""
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
        slope, intercept = regression.line
        ends = np.array([distances.min(), distances.max()])
        figure.add_scatter(
            x=ends,
            y=slope * ends + intercept,
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
    """The correlation over c, its optimum, the published grid; a second line if `squared`."""
    line = {"color": colours.accent, "width": 2.5}
    traces = [
        ("correlation", "", c_values, scaling.curve, {"mode": "lines", "line": line}),
        (
            "published grid",
            "published grid, ",
            list(published),
            _interpolate(published, c_values, scaling.curve),
            open_marker("line-ns-open", 13, colours.ink, 2),
        ),
        (
            "chosen c",
            "chosen, ",
            [scaling.c],
            [_interpolate(scaling.c, c_values, scaling.curve)],
            open_marker("circle-open", 14, colours.alert, 3),
        ),
        *_squared_traces(squared, c_values, colours),
    ]
    figure = go.Figure()
    for name, hover, x, y, look in traces:
        template = f"{hover}c = %{{x:.3g}}: %{{y:.4f}}<extra></extra>"
        figure.add_scatter(x=x, y=y, name=name, hovertemplate=template, **look)
    ticks = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20]
    figure.update_xaxes(type="log", title_text="c", tickvals=ticks, zeroline=False)
    figure.update_yaxes(title_text="correlation of distance and scores")
    legend = {"orientation": "h", "y": -0.24, "yanchor": "top", "x": 0}
    return _framed(figure).update_layout(showlegend=True, height=380, legend=legend)


def _squared_traces(
    squared: SquaredDistance | None, c_values: Floats, colours: Palette
) -> Iterator[tuple[str, str, Any, Any, dict[str, Any]]]:
    """Name, hover, x, y and look of the line for squared distance and of its optimum, twice."""
    if squared is None:
        return
    hover, line = "squared distance, ", {"color": colours.ink, "width": 1.2, "dash": "dot"}
    look = {"mode": "lines", "line": line}
    yield "squared distance, Pearson", hover, c_values, squared.curve, look
    for name, c, symbol in (
        ("its best, by formula", squared.closed_form, "x-thin-open"),
        ("its best, on the grid", squared.on_grid, "square-open"),
    ):
        if c is not None:
            y = _interpolate(c, c_values, squared.curve)
            yield name, hover, [c], [y], open_marker(symbol, 11, colours.ink, 2)


def _interpolate(c: ArrayLike, c_values: Floats, curve: Floats) -> Floats:
    return np.asarray(np.interp(np.log(c), np.log(c_values), curve))


def open_marker(symbol: str, size: int, colour: str, width: int) -> dict[str, Any]:
    """Arguments of a trace of outlined markers, `size` and `width` in pixels."""
    marker = {"symbol": symbol, "size": size, "color": colour, "line": {"width": width}}
    return {"mode": "markers", "marker": marker}


def space_sizes(norms: Floats) -> Floats:
    """Pixels of points in space: as `norms`, from the shortest vector to the longest."""
    low, high = float(norms.min()), float(norms.max())
    share = (norms - low) / (high - low) if high > low else np.full(norms.shape, 0.5)
    smallest, largest = _POINT_SIZES
    return np.asarray(smallest + (largest - smallest) * share)


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
    keys: tuple[Sequence[str], Sequence[int]] | None = None,
) -> go.Figure:
    """A cloud in three dimensions, to be turned by hand.

    `chosen` are the positions of the sources and of the targets, red as the lines between them;
    `tones` a colour for every query, then for every key; `shown` the positions that are drawn.
    `sizes` in pixels (query + key,), queries first, are one for all if None; `labels` stand beside
    their points if `labelled`, where there are not too many. `keys` are the labels and the shown
    positions of keys that are other tokens than the queries.
    """
    sides = (labels, shown), (labels, shown) if keys is None else keys
    figure = go.Figure(_space_lines(cloud, lines, chosen, (shown, sides[1][1]), colours))
    named = labelled and max(len(places) for _, places in sides) <= _MAX_LABELS
    mode = "markers+text" if named else "markers"
    ends = slice(None, len(labels)), slice(len(labels), None)  # of queries and of keys
    clouds = cloud.picture.queries, cloud.picture.keys
    for kind, points, side, own, red in zip(_KINDS, clouds, sides, ends, chosen, strict=True):
        size = None if sizes is None else sizes[own]
        figure.add_trace(
            _space_points(kind, points, side, tones[own], size, red, colours).update(mode=mode)
        )
    axis: dict[str, Any] = {
        "showbackground": False,
        "gridcolor": colours.line,
        "zeroline": False,
        "showticklabels": False,
        "title": {"text": ""},
    }
    return figure.update_layout(
        height=330,
        showlegend=False,
        margin={"l": 0, "r": 0, "t": 30, "b": 0},
        title={"text": literal(title), "font": {"size": 14}, "x": 0.02, "y": 0.98},
        scene={
            "aspectmode": "data",
            "camera": {"eye": dict.fromkeys("xyz", _EYE)},
            **dict.fromkeys(("xaxis", "yaxis", "zaxis"), axis),
        },
    )


def _space_points(
    kind: Kind,
    points: Floats,
    side: tuple[Sequence[str], Sequence[int]],
    tones: Sequence[str],
    sizes: Floats | None,
    red: Sequence[int],
    colours: Palette,
) -> go.Scatter3d:
    """Queries or keys, (token, 3), of which `side` has the labels and the positions shown."""
    symbol, ink = ("circle", colours.query) if kind == "query" else ("diamond", colours.key)
    labels, places = side[0], list(side[1])
    x, y, z = points[places].T
    # A chosen point is red unless its colour stands for something else.
    fills = [colours.alert if i in red and tones[i] == ink else tones[i] for i in places]
    size = _POINT_SIZE if sizes is None else [float(sizes[i]) for i in places]
    return go.Scatter3d(
        x=x,
        y=y,
        z=z,
        text=[literal(labels[i]) for i in places],
        textfont={"size": 12, "color": [colours.alert if i in red else ink for i in places]},
        marker={"symbol": symbol, "size": size, "color": fills},
        hovertemplate=f"{kind} %{{text}}<extra></extra>",
    )


def _space_lines(
    cloud: Cloud,
    lines: Lines,
    chosen: tuple[Sequence[int], Sequence[int]],
    shown: tuple[Sequence[int], Sequence[int]],
    colours: Palette,
) -> list[go.Scatter3d]:
    """Lines by width and colour: plotly draws one width a trace."""
    queries, keys = map(list, shown)
    visible = np.isin(lines.queries, queries) & np.isin(lines.keys, keys)
    step = np.minimum((lines.weights * _LINE_STEPS).astype(int), _LINE_STEPS - 1)
    red = lines.between(*chosen)
    blue = lines.strongest & ~red
    traces = []
    for kind, colour, opacity in (
        (~red & ~blue, colours.ink, 0.35),
        (blue, colours.categories[BLUE], 0.6),
        (red, colours.alert, 1.0),
    ):
        for width in range(_LINE_STEPS):
            drawn = np.flatnonzero(visible & (step == width) & kind)
            if not drawn.size:
                continue
            ends = np.full((drawn.size, 3, 3), np.nan)  # from, to, a gap
            ends[:, 0] = cloud.picture.queries[lines.queries[drawn]]
            ends[:, 1] = cloud.picture.keys[lines.keys[drawn]]
            x, y, z = ends.reshape(-1, 3).T
            line = {"width": 1 + 1.2 * width, "color": colour}
            traces.append(
                go.Scatter3d(
                    x=x, y=y, z=z, mode="lines", line=line, opacity=opacity, hoverinfo="skip"
                )
            )
    return traces


def _framed(figure: go.Figure, title: str = "") -> go.Figure:
    return figure.update_layout(
        height=340,
        showlegend=False,
        margin={"l": 8, "r": 8, "t": 36 if title else 8, "b": 8},
        title={"text": literal(title), "font": {"size": 14}, "x": 0.02, "y": 0.97},
    )
