"""One layer's tokens as arrows: in a large plane, in space, or moving from layer to layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from core.analysis.arrays import Floats
from core.figures.labels import literal
from core.figures.palette import Palette

_QUIET = 0.3
_GREY = "b3"  # the opacity of labels that are not held, in hexadecimal: still easy to read
MANY = 24  # arrows of which a picture has no room to name all
_NAMED = 16  # of many: the longest, which have a label where one fits
_HEIGHT = 500  # pixels
_FRAME_MS, _TURN_MS = 900, 600


@dataclass(frozen=True)
class Arrows:
    """How the tokens of a picture are drawn: a label and a colour each, the rest in the `theme`.

    The `held` ones are coloured and all others grey, if any is held; of many the shorter are faint.
    """

    labels: Sequence[str]
    colours: Sequence[str]
    held: Sequence[int]
    theme: Palette

    def named(self, points: Floats) -> set[int]:
        """Those that may have a label: of `points` (token, component) or (layer, token, component)
        all, or of many the held ones and the longest.
        """
        lengths = np.linalg.norm(points, axis=-1)
        lengths = lengths.mean(axis=0) if lengths.ndim == 2 else lengths
        longest = np.argsort(-lengths, kind="stable").tolist()
        return {*self.held, *(longest[:_NAMED] if len(longest) > MANY else longest)}

    def look(self, index: int, named: set[int]) -> tuple[str, str, float]:
        """The colours of an arrow and of its label, and how opaque it is."""
        opacity = 1.0 if index in named else _QUIET
        if self.held and index not in self.held:
            return self.theme.edge, f"{self.theme.ink}{_GREY}", opacity
        return self.colours[index], self.colours[index], opacity


def plane_figure(points: Floats, explained: Floats, arrows: Arrows) -> go.Figure:
    """Arrows from the origin to `points` (token, 2), in a plane with equal axes.

    `explained` are the shares of the variance, (2,), named on the axes.
    """
    figure = go.Figure(_draw(points, arrows, arrows.named(points)))
    _frame(figure, points, arrows.theme)
    figure.update_xaxes(title_text=f"first component ({explained[0]:.0%} of the variance)")
    return figure.update_yaxes(title_text=f"second component ({explained[1]:.0%})")


def space_figure(points: Floats, explained: Floats, arrows: Arrows) -> go.Figure:
    """The same with three components, to be turned by hand; cones are the arrows' heads."""
    figure, named = go.Figure(), arrows.named(points)
    reach = float(np.abs(points).max()) or 1.0
    for index, (x, y, z) in enumerate(points):
        label, (colour, words, opacity) = literal(arrows.labels[index]), arrows.look(index, named)
        figure.add_scatter3d(
            x=[0, x],
            y=[0, y],
            z=[0, z],
            mode="lines+text",
            text=["", label if index in named else ""],
            line={"width": 5, "color": colour},
            textfont={"color": words, "size": 13},
            opacity=opacity,
            hovertemplate=f"{label} (%{{x:.3f}}, %{{y:.3f}}, %{{z:.3f}})<extra></extra>",
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
            opacity=opacity,
            hoverinfo="skip",
        )
    axes = {
        f"{name}axis": {
            "showbackground": False,
            "gridcolor": arrows.theme.line,
            "zerolinecolor": arrows.theme.ink,
            "title": {"text": f"{name} ({share:.0%})"},
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
    named = arrows.named(coordinates)
    figure = go.Figure(
        data=_draw(coordinates[0], arrows, named),
        frames=[
            go.Frame(data=_draw(points, arrows, named), name=name)
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


def _draw(points: Floats, arrows: Arrows, named: set[int]) -> list[go.Scatter]:
    """One trace a token: a line from the origin with a head, and the label of a `named` one where
    it fits.
    """
    reach = float(np.abs(points).max()) or 1.0
    labelled = set(_labels_that_fit(points / reach, arrows.labels, named))
    names = [literal(label) for label in arrows.labels]
    looks = [arrows.look(index, named) for index in range(len(names))]
    return [
        go.Scatter(
            x=[0, x],
            y=[0, y],
            mode="lines+markers+text",
            text=["", names[index] if index in labelled else ""],
            textposition=f"{'top' if y >= 0 else 'bottom'} {'right' if x >= 0 else 'left'}",
            textfont={"color": words, "size": 14},
            line={"width": 2.5, "color": colour},
            marker={
                "symbol": ["circle", "arrow"],
                "size": [1, 14],
                "angleref": "previous",
                "opacity": 1,
                "color": colour,
            },
            opacity=opacity,
            hovertemplate=f"{names[index]} (%{{x:.3f}}, %{{y:.3f}})<extra></extra>",
        )
        for index, ((x, y), (colour, words, opacity)) in enumerate(zip(points, looks, strict=True))
    ]


def _labels_that_fit(points: Floats, labels: Sequence[str], named: set[int]) -> list[int]:
    """Which labels of the `named` can stand beside their tips without overlap, longest first.

    `points` is (token, 2), scaled to [-1, 1]; a letter of 14 pixels is taken to be 0.048 wide and
    0.1 high, as in a plane of 500 pixels.
    """
    letter, height = 0.048, 0.1
    boxes: list[tuple[float, float, float]] = []
    fitting = []
    for index in np.argsort(-np.linalg.norm(points, axis=1)):
        if int(index) not in named:
            continue
        x, y = points[index]
        width = letter * len(labels[index])
        left, bottom = x if x >= 0 else x - width, y if y >= 0 else y - height
        if not any(
            left < other_left + other_width
            and other_left < left + width
            and abs(bottom - other_bottom) < height
            for other_left, other_bottom, other_width in boxes
        ):
            boxes.append((left, bottom, width))
            fitting.append(int(index))
    return fitting


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
