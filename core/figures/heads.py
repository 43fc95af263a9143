"""The heads of a model in pictures: maps of layers by heads, points, and dots by layer.

Every point or square can be clicked: its customdata start with the numbers of layer and head.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from core.analysis.arrays import Bools, Floats, mean_of_finite
from core.analysis.layers import GAP, LayerRows
from core.figures.layout import BARE, NARROW, axis, lay_out, literal
from core.figures.palette import Palette, scale, shaded

_CELL = (0.88, 0.82)  # width and height of a head, as a share of its cell
_ROW, _HEIGHT = 44, 340  # pixels of a layer in a large map, at most, and of all layers
_LEGEND = 24  # pixels of a legend row, which holds two classes
_POINTS = 456  # pixels of a picture of points, without its legend
_DOTS = 400  # pixels of dots by layer
_SPREAD = 0.62  # share of the space between two layers over which the heads' dots are spread
_ROOM = 1.06  # of the largest value, at the top of the axis
HOVERED = "L%{customdata[0]} H%{customdata[1]}"  # the head under the pointer


class ClassLook(NamedTuple):
    """How a class of heads looks: its name, the letter on its heads, their colour (``#rrggbb``).

    Without a letter it stands for heads of no class. `hover`, if given, follows the name under the
    pointer; it is a plotly template in which ``%{customdata[2]}`` is the head's value.
    """

    name: str
    letter: str
    colour: str
    hover: str = ""


def head_map(
    values: Floats,
    rows: LayerRows,
    name: str,
    colours: Palette,
    *,
    bounds: tuple[float, float] = (0.0, 1.0),
    title: str = "attention",
    signed: bool = False,
    reverse: bool = False,
    large: bool = False,
    beyond: Bools | None = None,
    chosen: tuple[int, int] | None = None,
) -> go.Figure:
    """Layers down, heads across, each a square coloured by `values`.

    `values` are (layer, head), called `name` on hover, with the layers in `rows`; nan is marked by
    a cross. `bounds` are the values of the first and the last colour, `title` that of the colour
    bar. `signed` colours have two sides around the middle of `bounds`; `reverse` gives the last
    colour to the lowest value. Cells are as wide as there is room for; a `large` map is also
    higher. Cells `beyond` chance, (layer, head), have a dot; the `chosen` one, from 0, a frame.
    """
    layers, heads = values.shape
    place, head = np.meshgrid(rows.places, np.arange(1, heads + 1), indexing="ij")
    layer_labels = np.repeat(rows.layer_labels, heads).reshape(layers, heads)
    cells = np.stack([layer_labels, head, values], axis=-1)
    defined = np.isfinite(values)
    figure = go.Figure()
    if not defined.all():
        figure.add_scatter(
            x=head[~defined],
            y=place[~defined],
            customdata=cells[~defined][:, :2],
            mode="markers",
            marker={"symbol": "x-thin", "size": 8, "line": {"width": 1, "color": colours.ink}},
            hovertemplate=f"{HOVERED}: {literal(name)} is not defined<extra></extra>",
        )
    ramp = (colours.diverging if signed else colours.sequential)[:: -1 if reverse else 1]
    low, high = bounds
    # Plotly takes bars' numbers for colours when it checks whether they are opaque, and warns
    shades = shaded(ramp, (values[defined] - low) / ((high - low) or 1))
    bar = {"title": {"text": title}, "thickness": 12}
    look = {"color": shades, "colorscale": scale(ramp), "cmin": low, "cmax": high, "colorbar": bar}
    words = f"{literal(name)} %{{customdata[2]:.3f}}"
    _add_cells(figure, cells[defined], place[defined], look, words, colours)
    if beyond is not None:
        dot = {"size": 7, "color": colours.panel, "line": {"width": 1.5, "color": colours.ink}}
        dots = {"x": head[beyond], "y": place[beyond], "mode": "markers", "hoverinfo": "skip"}
        figure.add_scatter(**dots, **_steady() | {"marker": dot | {"opacity": 1}})
    return _lay_out_map(figure, rows, heads, colours, chosen, large=large)


def class_map(
    classes: NDArray[np.str_],
    values: Floats,
    rows: LayerRows,
    looks: Mapping[str, ClassLook],
    colours: Palette,
    chosen: tuple[int, int] | None = None,
) -> go.Figure:
    """The same map coloured by class.

    `classes` and `values` are (layer, head), the layers in `rows`; the legend keeps the order of
    `looks`.
    """
    heads, places = classes.shape[1], np.array(rows.places)
    layer_labels, figure = np.array(rows.layer_labels), go.Figure()
    for each, look in looks.items():
        layer, head = np.nonzero(classes == each)
        if not layer.size:
            continue
        _add_cells(
            figure,
            np.stack([layer_labels[layer], head + 1, values[layer, head]], axis=-1),
            places[layer],
            {"color": look.colour},
            f"{literal(look.name)}{look.hover}",
            colours,
            name=_in_legend(look, layer.size),
            text=[look.letter] * layer.size,
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            textfont={"color": colours.paper, "weight": 700},
        )
    _lay_out_map(figure, rows, heads, colours, chosen)
    return _add_legend(figure)


def head_scatter(
    points: Floats,
    layer_labels: Sequence[int],
    classes: Sequence[str],
    chosen: int,
    looks: Mapping[str, ClassLook],
    colours: Palette,
    titles: Sequence[str] = (),
) -> go.Figure:
    """A point per head in the colour of its class, with its letter.

    `points` are (head of all layers, 2), each with a class; a point with nan is left out. The
    `chosen` head is ringed and named. `titles` are those of the axes; without titles only distances
    mean anything, at the same scale in both directions.
    """
    figure = go.Figure()
    numbers = range(1, len(points) // len(layer_labels) + 1)
    heads = [(layer, head, f"L{layer} H{head}") for layer in layer_labels for head in numbers]
    for each, look in looks.items():
        (members,) = np.nonzero((np.asarray(classes) == each) & np.isfinite(points).all(axis=1))
        if not members.size:
            continue
        where = " (%{x:.3f}, %{y:.3f})" if titles else ""
        figure.add_scatter(
            x=points[members, 0],
            y=points[members, 1],
            customdata=[heads[index] for index in members.tolist()],
            name=_in_legend(look, members.size),
            mode="markers+text",
            text=[look.letter] * members.size,
            textfont={"color": colours.paper},
            marker={
                "size": 19 if look.letter else 11,
                "color": look.colour,
                "line": {"width": 1, "color": colours.ink},
            },
            **_steady(),
            hovertemplate=f"%{{customdata[2]}}: {literal(look.name)}{where}<extra></extra>",
        )
    if np.isfinite(points[chosen]).all():
        _ring(figure, points[chosen], heads[chosen][2], colours)
    if titles:
        axes = [axis(literal(title), zeroline=False) for title in titles]
    else:
        bare = {**BARE, "showticklabels": False}  # its numbers mean nothing
        axes = [{**bare, "constrain": "domain"}, {**bare, "scaleanchor": "x", "scaleratio": 1}]
    lay_out(figure, **_clickable(*axes), height=_POINTS)
    return _add_legend(figure, 44 if titles else 12)


def dots_by_layer(
    values: Floats, uniform: float, rows: LayerRows, title: str, unit: str, colours: Palette
) -> go.Figure:
    """A dot per head, the mean of each layer, and what uniform attention gives.

    `values` are (layer, head), nan if undefined, with the layers in `rows`; `uniform` has the
    same `unit`, and `title` says what they are.
    """
    layers, heads = values.shape
    head = np.tile(np.arange(1, heads + 1), layers)
    spread = (head - (heads + 1) / 2) / max(heads, 2) * _SPREAD
    figure = go.Figure()
    figure.add_scatter(
        x=np.repeat(rows.places, heads) + spread,
        y=values.ravel(),
        customdata=np.stack([np.repeat(rows.layer_labels, heads), head], axis=-1).tolist(),
        name="a head",
        mode="markers",
        marker={"size": 10, "color": colours.accent, "opacity": 0.8},
        **_steady(opacity=0.8),
        hovertemplate=f"{HOVERED}: %{{y:.1f}} {unit}<br>press to open this head<extra></extra>",
    )
    figure.add_scatter(
        x=rows.places,
        y=mean_of_finite(values.T),
        customdata=rows.layer_labels,
        name="mean of the layer",
        mode="lines+markers" if layers == 1 else "lines",
        line={"color": colours.ink, "width": 2},
        hovertemplate=f"layer %{{customdata}}, mean of its heads: %{{y:.1f}} {unit}<extra></extra>",
    )
    figure.add_scatter(
        x=[0.5, rows.end + 0.5],
        y=[uniform, uniform],
        name=f"uniform baseline: {uniform:.1f} {unit}",
        mode="lines",
        line={"color": colours.categories[1], "width": 2, "dash": "dash"},
        hoverinfo="skip",
    )
    top = max(uniform, float(np.nanmax(values, initial=0.0))) * _ROOM
    return lay_out(
        figure,
        **_clickable(
            axis("layer", range=[0.5, rows.end + 0.5], **BARE, **_layer_ticks(rows)),
            axis(title, range=[0, top]),
        ),
        height=_DOTS,
        showlegend=True,
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0, "title": {"text": ""}},
    )


def _add_cells(
    figure: go.Figure,
    cells: Floats,
    places: Floats,
    look: dict[str, Any],
    words: str,
    colours: Palette,
    **more: Any,  # noqa: ANN401 - of plotly's bars: name, text ...
) -> None:
    """Cells, (cell, 3): layer, head, value; in rows at `places`; `words` are shown on hover."""
    figure.add_bar(  # bars, because heatmaps report no clicks
        x=cells[:, 1],
        y=np.full(len(cells), _CELL[1]),
        base=places - _CELL[1] / 2,
        width=_CELL[0],
        customdata=cells,
        marker={"line": {"width": 1, "color": colours.edge}, **look},
        **_steady(),
        hovertemplate=f"{HOVERED}: {words}<br>press to open this head<extra></extra>",
        **more,
    )


def _lay_out_map(
    figure: go.Figure,
    rows: LayerRows,
    heads: int,
    colours: Palette,
    chosen: tuple[int, int] | None,
    *,
    large: bool = False,
) -> go.Figure:
    """Axes with the numbers of layers and heads, and a frame around the chosen head.

    Layers that do not attend become a thin empty row.
    """
    row = 40 if heads <= 6 else 26 if heads <= 16 else 19  # pixels
    if large:
        row = max(row, round(min(_ROW, _HEIGHT / rows.end)))
    lay_out(
        figure,
        **_clickable(
            axis("head", range=[0.4, heads + 0.6], dtick=1, **BARE),
            axis("layer", range=[rows.end + 0.6, 0.4], **BARE, **_layer_ticks(rows)),
        ),
        height=max(240, 110 + row * rows.end),
        showlegend=False,
        barmode="overlay",
    )
    for gap in rows.gaps:
        figure.add_hrect(
            y0=gap.place - GAP / 4,
            y1=gap.place + GAP / 4,
            fillcolor=colours.line,
            opacity=0.35,
            line_width=0,
            layer="below",
        )
    if chosen is not None:
        (width, height), x, y = _CELL, chosen[1] + 1, rows.places[chosen[0]]
        box = {"x0": x - width / 2, "x1": x + width / 2, "y0": y - height / 2, "y1": y + height / 2}
        figure.add_shape(type="rect", **box, line={"width": 3, "color": colours.alert})
    return figure


def _layer_ticks(rows: LayerRows) -> dict[str, Any]:
    """The ticks of an axis whose layers stand in `rows`, with the gaps between them."""
    if not rows.gaps:
        return {"dtick": 1}
    small = [f'<span style="font-size:12px">{gap.name}</span>' for gap in rows.gaps]
    return {
        "tickmode": "array",
        "tickvals": [*rows.places, *(gap.place for gap in rows.gaps)],
        "ticktext": [*map(str, rows.layer_labels), *small],
    }


def _clickable(xaxis: dict[str, Any], yaxis: dict[str, Any]) -> dict[str, Any]:
    """A layout with these axes where a click selects a point, no zoom, and narrow margins."""
    fixed = {"fixedrange": True}
    clicks = {"clickmode": "event+select", "dragmode": False}
    return {"xaxis": xaxis | fixed, "yaxis": yaxis | fixed, "margin": NARROW, **clicks}


def _steady(opacity: float = 1) -> dict[str, Any]:
    """Arguments for a trace whose points do not fade when one is clicked."""
    same: dict[str, Any] = {"marker": {"opacity": opacity}}
    return {"selected": same, "unselected": same}


def _in_legend(look: ClassLook, count: int) -> str:
    return f"{look.letter} {literal(look.name)} ({count})".lstrip()


def _add_legend(figure: go.Figure, under: int = 58) -> go.Figure:
    """The legend of a chart with a trace per class, `under` pixels below; none can be hidden."""
    height = figure.layout.height
    legend = {"orientation": "h", "y": -under / (height - 66), "yanchor": "top", "x": 0}
    legend |= {"itemclick": False, "itemdoubleclick": False, "title": {"text": ""}}
    height += _LEGEND * -(-len(figure.data) // 2)
    return lay_out(figure, height=height, showlegend=True, legend=legend)


def _ring(figure: go.Figure, place: Floats, name: str, colours: Palette) -> None:
    """Ring and name the chosen head."""
    x, y = place
    line = {"width": 3, "color": colours.alert}
    ring = {"symbol": "circle-open", "size": 25, "color": colours.alert, "line": line}
    quiet = {"hoverinfo": "skip", "showlegend": False}
    figure.add_scatter(x=[x], y=[y], mode="markers", marker=ring, **_steady(), **quiet)
    bold, font = f"<b>{literal(name)}</b>", {"color": colours.ink}
    figure.add_annotation(
        x=x, y=y, yshift=24, text=bold, showarrow=False, font=font, bgcolor=colours.paper
    )
