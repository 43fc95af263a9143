"""Queries and keys of one head in space."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from core.analysis.arrays import Floats
from core.analysis.images.points import Tints
from core.analysis.projections.joint_embedding import Embedding
from core.analysis.query_key.clouds import Lines
from core.figures.labels import literal
from core.figures.layout import lay_out
from core.figures.palette import Palette
from core.figures.shades import shades_on


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

    `labels` and `shown` (positions) are those of queries and of keys. Drag to turn.
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
        own = [point_colours[kind][place] for place in positions]
        figure.add_scatter3d(
            **_places(points[list(positions)]),
            mode="markers",
            marker={"size": 4, "color": own, "symbol": ("circle", "diamond")[kind]},
            text=[literal(words[place]) for place in positions],
            hovertemplate=f"{name} %{{text}}<extra></extra>",
        )
    titles = zip("xyz", axes, strict=True)
    named = {f"{axis}axis": {"title": {"text": text}} for axis, text in titles}
    return lay_out(
        figure,
        height=440,
        showlegend=False,
        margin={"l": 0, "r": 0, "t": 30, "b": 0},
        title={"text": literal(title), "font": {"size": 14}},
        scene={**named, "aspectmode": "data"},
    )


def _places(points: Floats) -> dict[str, Floats]:
    return dict(zip("xyz", points.T, strict=True))


def _colours_of(tints: Tints, queries: int, colours: Palette) -> tuple[list[str], list[str]]:
    """The colour of each query and each key; of what is no patch that of its kind."""
    shades, tones = shades_on(colours, tints.scale, len(tints.legend)), tints.tones
    steps = np.rint(tones * (len(shades[0]) - 1)) if tints.scale == "sequential" else tones
    own, key = (
        [plain if np.isnan(step) else kind[int(step)] for step in side]
        for plain, kind, side in zip(
            (colours.query, colours.key), shades, np.split(steps, [queries]), strict=True
        )
    )
    return own, key
