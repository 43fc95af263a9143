"""Tokens as arrows: those of one layer in space, or moving from layer to layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from core.analysis.arrays import Floats
from core.figures.labels import literal
from core.figures.palette import Palette
from core.vocabulary import percent

MANY = 24  # arrows of which a picture has no room to name all
_HEIGHT = 500  # pixels
_FRAME_MS, _TURN_MS = 900, 600


@dataclass(frozen=True)
class Arrows:
    """How the tokens of a picture are drawn: a label and a colour each, the rest in the `theme`.

    The `held` ones are coloured and named and all others grey; if none is held, all are coloured.
    """

    labels: Sequence[str]
    colours: Sequence[str]
    held: Sequence[int]
    theme: Palette

    def looks(self) -> list[tuple[str, str, str]]:
        """Of each arrow: its name, the label beside it, and its colour."""
        names = [literal(label) for label in self.labels]
        return [
            (name, name, colour)
            if index in self.held or not self.held
            else (name, "", self.theme.edge)
            for index, (name, colour) in enumerate(zip(names, self.colours, strict=True))
        ]


def space_figure(points: Floats, explained: Floats, arrows: Arrows) -> go.Figure:
    """Arrows to `points` (token, 3), to be turned by hand; cones are their heads.

    `explained` are the shares of the variance, (3,), named on the axes.
    """
    figure = go.Figure()
    reach = float(np.abs(points).max()) or 1.0
    for (x, y, z), (name, label, colour) in zip(points, arrows.looks(), strict=True):
        figure.add_scatter3d(
            x=[0, x],
            y=[0, y],
            z=[0, z],
            mode="lines+text",
            text=["", label],
            line={"width": 5, "color": colour},
            textfont={"color": colour, "size": 13},
            hovertemplate=f"{name} (%{{x:.3f}}, %{{y:.3f}}, %{{z:.3f}})<extra></extra>",
        )
        figure.add_cone(
            x=[x],
            y=[y],
            z=[z],
            u=[x],
            v=[y],
            w=[z],
            anchor="tip",
            sizemode="absolute",
            sizeref=0.09 * reach,
            showscale=False,
            colorscale=[[0, colour], [1, colour]],
            hoverinfo="skip",
        )
    axes = {
        f"{name}axis": {
            "showbackground": False,
            "gridcolor": arrows.theme.line,
            "zerolinecolor": arrows.theme.ink,
            "title": {"text": f"{name} ({percent(share)})"},
            "range": [-1.1 * reach, 1.1 * reach],
        }
        for name, share in zip("xyz", explained, strict=True)
    }
    return figure.update_layout(
        height=_HEIGHT,
        showlegend=False,
        margin={"l": 0, "r": 0, "t": 0, "b": 0},
        scene={"aspectmode": "cube", **axes},
    )


def moving_figure(coordinates: Floats, layer_labels: Sequence[int], arrows: Arrows) -> go.Figure:
    """One large plane that plays through the layers, with a slider and a play button.

    `coordinates` are (layer, token, 2), aligned so that a token can be followed; `layer_labels` are
    those of the layers.
    """
    names = [f"layer {number}" for number in layer_labels]
    figure = go.Figure(
        data=_draw(coordinates[0], arrows),
        frames=[
            go.Frame(data=_draw(points, arrows), name=name)
            for points, name in zip(coordinates, names, strict=True)
        ],
    )
    _frame(figure, coordinates.reshape(-1, 2), arrows.theme)
    motion = {
        "frame": {"duration": _FRAME_MS, "redraw": False},
        "transition": {"duration": _TURN_MS, "easing": "cubic-in-out"},
    }
    step = {"mode": "immediate", **motion}
    stop = {"mode": "immediate", "frame": {"duration": 0}}
    slider = {
        "steps": [
            {"method": "animate", "label": name.removeprefix("layer "), "args": [[name], step]}
            for name in names
        ],
        "currentvalue": {"prefix": "layer ", "font": {"size": 15}},
        "x": 0.14,
        "len": 0.86,
        "pad": {"t": 34},
    }
    play = [None, {"fromcurrent": True, **motion}]
    buttons = {
        "type": "buttons",
        "direction": "left",
        "x": 0,
        "y": 0,
        "xanchor": "left",
        "yanchor": "top",
        "pad": {"t": 50},
        "showactive": False,
        "bgcolor": arrows.theme.paper,
        "font": {"color": arrows.theme.ink},
        "buttons": [
            {"label": "Play", "method": "animate", "args": play},
            {"label": "Stop", "method": "animate", "args": [[None], stop]},
        ],
    }
    return figure.update_layout(sliders=[slider], updatemenus=[buttons])


def _draw(points: Floats, arrows: Arrows) -> list[go.Scatter]:
    """One trace a token: a line from the origin with a head, and its label."""
    return [
        go.Scatter(
            x=[0, x],
            y=[0, y],
            mode="lines+markers+text",
            text=["", label],
            textposition=f"{'top' if y >= 0 else 'bottom'} {'right' if x >= 0 else 'left'}",
            textfont={"color": colour, "size": 14},
            line={"width": 2.5, "color": colour},
            marker={
                "symbol": ["circle", "arrow"],
                "size": [1, 14],
                "angleref": "previous",
                "opacity": 1,
                "color": colour,
            },
            hovertemplate=f"{name} (%{{x:.3f}}, %{{y:.3f}})<extra></extra>",
        )
        for (x, y), (name, label, colour) in zip(points, arrows.looks(), strict=True)
    ]


def _frame(figure: go.Figure, points: Floats, colours: Palette) -> None:
    """Equal axes through the origin, wide enough for the longest arrow and its label."""
    reach = 1.25 * (float(np.abs(points).max()) or 1.0)
    axis = {
        "range": [-reach, reach],
        "zeroline": True,
        "zerolinecolor": colours.edge,
        "zerolinewidth": 2,
        "showgrid": False,
    }
    figure.update_xaxes(**axis)
    figure.update_yaxes(**axis, scaleanchor="x", scaleratio=1)
    figure.update_layout(
        height=_HEIGHT, showlegend=False, margin={"l": 8, "r": 8, "t": 8, "b": 8}, dragmode="pan"
    )
