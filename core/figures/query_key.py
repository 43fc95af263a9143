"""Queries and keys of a head in space, and pictures of the search for a and c."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go

from core.analysis.arrays import Floats
from core.analysis.images.points import Tints
from core.analysis.normalization import GridSearch, Regression
from core.analysis.projections.joint_embedding import Embedding
from core.analysis.query_key.clouds import Lines
from core.analysis.query_key.scaling import HeadScaling
from core.figures.layout import BARE, axis, lay_out, literal
from core.figures.palette import Palette, scale
from core.figures.shades import shades_on

# The regression as SVG, for files without a chart library
_WIDTH, _HEIGHT = 620, 360  # pixels
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 34, 48  # pixels around the points
_ROOM = 0.04  # of the points' extent, on each side
_TICKS = 6  # on an axis, or a few fewer
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)  # between two ticks, times a power of 10


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
        **_open_marker("circle-open", 15, colours.alert, 3),
    )
    return _framed(figure, axis("c", **BARE), axis("a", **BARE), "r for every a and c")


def regression_figure(regression: Regression, title: str, colours: Palette) -> go.Figure:
    """Dot product against cosine distance, a point per pair, with the least-squares line."""
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
    distance = "cosine distance of query and key of the same token"
    return _framed(figure, axis(distance), axis("dot product"), title)


def curve_figure(
    scaling: HeadScaling,
    c_values: Floats,
    published: Sequence[float],
    colours: Palette,
) -> go.Figure:
    """The correlation as a function of c, its optimum, and the published grid."""
    line = {"color": colours.accent, "width": 2.5}
    traces = [
        ("correlation", "", c_values, scaling.curve, {"mode": "lines", "line": line}),
        (
            "published grid",
            "published grid, ",
            list(published),
            np.interp(np.log(published), np.log(c_values), scaling.curve),
            _open_marker("line-ns-open", 13, colours.ink, 2),
        ),
        (
            "chosen c",
            "chosen, ",
            [scaling.c],
            [scaling.correlation],
            _open_marker("circle-open", 14, colours.alert, 3),
        ),
    ]
    figure = go.Figure()
    for name, hover, x, y, look in traces:
        template = f"{hover}c = %{{x:.3g}}: %{{y:.4f}}<extra></extra>"
        figure.add_scatter(x=x, y=y, name=name, hovertemplate=template, **look)
    ticks = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20]
    across = axis("c", type="log", tickvals=ticks, zeroline=False)
    legend = {"orientation": "h", "y": -0.24, "yanchor": "top", "x": 0}
    _framed(figure, across, axis("correlation of distance and scores"))
    return lay_out(figure, showlegend=True, height=380, legend=legend)


def _open_marker(symbol: str, size: int, colour: str, width: int) -> dict[str, Any]:
    """Arguments for a trace of outlined markers, `size` and `width` in pixels."""
    marker = {"symbol": symbol, "size": size, "color": colour, "line": {"width": width}}
    return {"mode": "markers", "marker": marker}


def _framed(
    figure: go.Figure, xaxis: dict[str, Any], yaxis: dict[str, Any], title: str = ""
) -> go.Figure:
    return lay_out(
        figure,
        xaxis=xaxis,
        yaxis=yaxis,
        height=340,
        showlegend=False,
        margin={"l": 8, "r": 8, "t": 36 if title else 8, "b": 8},
        title={"text": literal(title), "font": {"size": 14}, "x": 0.02, "y": 0.97},
    )


class _Axis:
    """Maps `values`, with a little room on both sides, to the pixels from `start` to `end`."""

    def __init__(self, values: Floats, start: float, end: float) -> None:
        low, high = float(values.min()), float(values.max())
        room = _ROOM * (high - low) or 1.0
        self.low, self.high, self.start, self.end = low - room, high + room, start, end

    def pixels(self, values: Floats) -> list[float]:
        share = (values - self.low) / (self.high - self.low)
        return (self.start + share * (self.end - self.start)).tolist()

    @property
    def ticks(self) -> list[tuple[str, float]]:
        """Round numbers between the ends, as text and in pixels."""
        min_step = (self.high - self.low) / _TICKS
        power = 10 ** np.floor(np.log10(min_step))
        step = next(each * power for each in _STEPS if each * power >= min_step)
        values = np.arange(np.ceil(self.low / step), np.floor(self.high / step) + 1) * step
        written = [f"{value + 0.0:g}".replace("-", "−") for value in values]
        return list(zip(written, self.pixels(values), strict=True))


def regression_svg(regression: Regression, title: str) -> str:
    """Cosine distance across, dot product up, least-squares line; in the theme's colours."""
    from jinja2 import StrictUndefined, Template  # for reports alone

    across = _Axis(regression.distances, _LEFT, _WIDTH - _RIGHT)
    up = _Axis(regression.products, _HEIGHT - _BOTTOM, _TOP)
    line: tuple[float, ...] = ()
    if regression.line is not None:
        ends = np.array([regression.distances.min(), regression.distances.max()])
        x = across.pixels(ends)
        y = up.pixels(regression.line.intercept + regression.line.slope * ends)
        line = (x[0], y[0], x[1], y[1])
    points = zip(across.pixels(regression.distances), up.pixels(regression.products), strict=True)
    markup = Path(__file__).with_name("regression.svg").read_text("utf-8")
    return Template(markup, undefined=StrictUndefined, autoescape=True).render(
        title=title,
        width=_WIDTH,
        height=_HEIGHT,
        middle=(_HEIGHT + _TOP - _BOTTOM) / 2,
        across=across,
        up=up,
        points=points,
        line=line,
    )


def space_figure(
    picture: Embedding,
    lines: Lines,
    tints: Tints,
    labels: tuple[Sequence[str], Sequence[str]],
    shown: tuple[Sequence[int], Sequence[int]],
    axes: Sequence[str],
    title: str,
    colours: Palette,
) -> go.Figure:
    """Discs for queries, diamonds for keys, a line from each query to its strongest key.

    `labels` and `shown` (positions) are given for queries and for keys. Drag to turn.
    """
    figure = go.Figure()
    strongest = lines.strongest & np.isin(lines.queries, shown[0]) & np.isin(lines.keys, shown[1])
    ends = picture.queries[lines.queries[strongest]], picture.keys[lines.keys[strongest]]
    paths = np.stack([*ends, np.full_like(ends[0], np.nan)], axis=1).reshape(-1, 3)
    line = {"color": colours.accent, "width": 2}
    figure.add_scatter3d(**_places(paths), mode="lines", line=line, hoverinfo="skip")
    sides = zip(("query", "key"), (picture.queries, picture.keys), labels, shown, strict=True)
    point_colours = _colours_of(tints, len(picture.queries), colours)
    for kind, (name, points, words, positions) in enumerate(sides):
        chosen = [point_colours[kind][place] for place in positions]
        figure.add_scatter3d(
            **_places(points[list(positions)]),
            mode="markers",
            marker={"size": 4, "color": chosen, "symbol": ("circle", "diamond")[kind]},
            text=[literal(words[place]) for place in positions],
            hovertemplate=f"{name} %{{text}}<extra></extra>",
        )
    titles = zip("xyz", axes, strict=True)
    scene_axes = {f"{axis}axis": {"title": {"text": text}} for axis, text in titles}
    return lay_out(
        figure,
        height=440,
        showlegend=False,
        margin={"l": 0, "r": 0, "t": 30, "b": 0},
        title={"text": literal(title), "font": {"size": 14}},
        scene={**scene_axes, "aspectmode": "data"},
    )


def _places(points: Floats) -> dict[str, Floats]:
    return dict(zip("xyz", points.T, strict=True))


def _colours_of(tints: Tints, queries: int, colours: Palette) -> tuple[list[str], list[str]]:
    """The colour of each query and each key; a token that is no patch gets that of its kind."""
    shades, tones = shades_on(colours, tints.scale, len(tints.legend)), tints.tones
    steps = np.rint(tones * (len(shades[0]) - 1)) if tints.scale == "sequential" else tones
    of_queries, of_keys = (
        [plain if np.isnan(step) else kind[int(step)] for step in side]
        for plain, kind, side in zip(
            (colours.query, colours.key), shades, np.split(steps, [queries]), strict=True
        )
    )
    return of_queries, of_keys
