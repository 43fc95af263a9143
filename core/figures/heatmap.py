"""The attention table as a heatmap."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

import numpy as np
import plotly.graph_objects as go

from core.analysis.arrays import Bools
from core.figures.layout import BARE, NARROW, axis, lay_out, literal
from core.figures.palette import Palette, scale
from core.model.trace import Array

MAX_TICKS = 64  # labels per side before they overlap
_HATCH = 12  # units between two hatching lines, of 900 across the picture
_MIN_HEIGHT, _MAX_HEIGHT, _PER_TOKEN = 400, 760, 24  # pixels


def heatmap_figure(
    values: Array,
    labels: Sequence[str],
    title: str,
    colours: Palette,
    *,
    signed: bool = False,
    columns: Sequence[str] | None = None,
    top: float | None = None,
    unit: str = "attention",
) -> go.Figure:
    """A heatmap, queries down and keys across, read on hover.

    `values` are (row, column), hatched with a dash where not finite; `labels` are one per row, and
    per column unless `columns` is given, all different; the `title` names the head. `signed` means
    scores around 0, else strengths from 0, coloured by their square root so that weak ones show
    beside a strong one. Colours end at `top`, or at the largest magnitude, and are in `unit`.
    """
    top = top or colour_limit(values)
    names = [literal(label) for label in labels]
    across = names if columns is None else [literal(label) for label in columns]
    gap = 1 if max(len(names), len(across)) <= MAX_TICKS else 0
    figure = go.Figure(
        go.Heatmap(
            z=np.where(np.isfinite(values), values, np.nan).astype(np.float32),
            x=across,
            y=names,
            zmin=-top if signed else 0.0,
            zmax=top,
            colorscale=scale(colours.diverging) if signed else root_scale(colours.sequential),
            colorbar={"title": {"text": unit}, "thickness": 14},
            xgap=gap,
            ygap=gap,
            hoverongaps=False,
            hovertemplate=f"%{{y}} → %{{x}}  <b>%{{z:.3f}}</b>, {title}<extra></extra>",
        )
    )
    if not np.isfinite(values).all():
        _add_masked(figure, np.isfinite(values), across, names, title, colours)
    look = {"type": "category", "tickmode": "linear", "ticks": "", **BARE}
    angle = -60 if len(across) > 8 or max(map(len, across)) > 8 else 0
    every = [-(-len(labels) // MAX_TICKS) for labels in (across, names)]
    to = f"<b>{literal(title)}</b>, to (key)"
    return lay_out(
        figure,
        xaxis=axis(to, side="top", tickangle=angle, dtick=every[0], **look),
        yaxis=axis("from (query)", autorange="reversed", dtick=every[1], **look),
        height=float(np.clip(150 + _PER_TOKEN * len(names), _MIN_HEIGHT, _MAX_HEIGHT)),
        margin=NARROW,
    )


def _add_masked(
    figure: go.Figure,
    permitted: Bools,
    across: Sequence[str],
    names: Sequence[str],
    title: str,
    colours: Palette,
) -> None:
    """A dash on each pair that is not permitted, and hatching behind it."""
    figure.add_heatmap(
        z=np.where(permitted, np.nan, 0.0).astype(np.float32),
        x=across,
        y=names,
        colorscale=[[0, "rgba(0,0,0,0)"], [1, "rgba(0,0,0,0)"]],
        showscale=False,
        text=np.where(permitted, "", "–"),
        texttemplate="%{text}",
        textfont={"color": colours.ink},
        hoverongaps=False,
        hovertemplate=f"%{{y}} → %{{x}}  not permitted, {title}<extra></extra>",
    )
    # Plotly cannot hatch a cell: wherever no cell covers it, this picture of lines shows.
    lines = "".join(f"<path d='M{x} 900L{x + 900} 0'/>" for x in range(-900, 900, _HATCH))
    svg = (
        "<svg xmlns='http://www.w3.org/2000/svg' width='900' height='900' viewBox='0 0 900 900'>"
        f"<g stroke='{colours.ink}' stroke-opacity='0.3'>{lines}</g></svg>"
    )
    figure.add_layout_image(
        source=f"data:image/svg+xml,{quote(svg)}",
        xref="paper",
        yref="paper",
        x=0,
        y=1,
        sizex=1,
        sizey=1,
        sizing="stretch",
        layer="below",
    )


def root_scale(colours: tuple[str, ...]) -> list[list[float | str]]:
    """A plotly colour scale that gives half of its colours to the lowest quarter of values."""
    return [[float(share) ** 2, colour] for share, colour in scale(colours)]


def colour_limit(values: Array) -> float:
    """The end of the colour scale: the largest finite magnitude (1 if that is zero)."""
    return float(np.abs(values[np.isfinite(values)]).max(initial=0)) or 1.0
