"""Points and arrows in panels: what is sent of them, in few bytes, and what is reported."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.components.packing import pack
from core.components.reported_state import as_indices, reported
from core.components.scripts import register

_points = register("points")

_STEPS = 65535  # per side of a frame: a uint16 for each coordinate
_UNKNOWN = -1.0  # half a side of a head without points


@dataclass(frozen=True, eq=False, kw_only=True)
class Coloured:
    """What the colours of points stand for.

    Attributes
    ----------
    colouring : "type" is queries against keys; "sequential" and "category" go by tones.
    legend : the ends of the scale, or one name per category.
    shades : for the themes "light" and "dark" the colours of queries and of keys: one per step of a
        scale, or one per category.
    labels : one per token.
    picture : the name and the facts of a saved picture.
    """

    labels: Sequence[str]
    colouring: str = "type"
    legend: Sequence[str] = ()
    shades: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict)
    picture: Mapping[str, Any] | None = None

    def settings(self) -> dict[str, Any]:
        """What a component is told of the colours.

        Raises ValueError where a theme, a kind, or the colour of a category is missing.
        """
        return {
            "colouring": self.colouring,
            "legend": list(self.legend),
            "shades": self._checked_shades(),
            "labels": list(self.labels),
            "picture": self.picture,
        }

    def _checked_shades(self) -> dict[str, list[list[str]]]:
        """The shades as lists; none by type, as queries and keys have the theme's two colours."""
        if self.colouring == "type":
            return {}
        needed = len(self.legend) if self.colouring == "category" else 1
        for theme in ("light", "dark"):
            kinds = self.shades.get(theme, ())
            if len(kinds) != 2 or min(map(len, kinds)) < needed:
                raise ValueError(
                    f"{self.colouring} needs {needed} colours per kind on {theme} paper"
                )
        return {theme: [list(kind) for kind in kinds] for theme, kinds in self.shades.items()}


def quantise(points: NDArray[Any]) -> tuple[NDArray[np.uint16], NDArray[np.float32]]:
    """Points as steps of a square around each head's cloud, so that axes stay equal.

    Parameters
    ----------
    points : (head, point, 2).

    Returns
    -------
    Steps from the frame's lowest corner, of the same shape; and (head, 3): the frame's middle
    and half its side, in units of the points. Half a side is
    -1 where a point of the head is not finite. A point is off by at most half a step, the side /
    131070.
    """
    known = np.asarray(np.isfinite(points).all(axis=(1, 2)))
    clean = np.where(known[:, None, None], points, 0)
    low, high = clean.min(axis=1, initial=np.inf), clean.max(axis=1, initial=-np.inf)
    if not points.shape[1]:
        low = high = np.zeros((len(points), 2))
    middle = (low + high) / 2
    half = (high - low).max(axis=1) / 2
    side = np.where(half > 0, 2 * half, 1)
    shares = (clean - middle[:, None]) / side[:, None, None] + 0.5
    steps = np.rint(_STEPS * shares).clip(0, _STEPS).astype(np.uint16)
    frames = np.column_stack([middle, np.where(known, half, _UNKNOWN)])
    return steps, frames.astype(np.float32)


def restore(steps: NDArray[np.uint16], frames: NDArray[np.float32]) -> NDArray[np.float32]:
    """The points that :func:`quantise` gave these of, in the plane: (head, point, 2)."""
    middle, half = frames[:, None, :2], frames[:, None, 2:]
    points: NDArray[np.float32] = middle + half * (2 / _STEPS * steps.astype(np.float32) - 1)
    return points


@dataclass(frozen=True)
class Arrow:
    """One arrow of every plane: its label, its colour, and its name on hover."""

    label: str
    colour: str
    name: str


def show_planes(
    coordinates: NDArray[np.float64],
    arrows: Sequence[Arrow],
    titles: Sequence[str],
    notes: Sequence[str],
    *,
    key: str,
    held: Sequence[int] = (),
    right_angle: bool = False,
    legend: bool = False,
    on_pick: Callable[[list[int]], None] | None = None,
    picture: Mapping[str, Any] | None = None,
) -> None:
    """Draw the planes in a grid that fits the width; axes are equal, arrows start at the origin.

    Parameters
    ----------
    coordinates : (plane, arrow, 2).
    arrows : one for each entry of the second axis.
    titles, notes : one per plane.
    held : arrows that are coloured while the others are grey; if none is held, all are coloured.
    right_angle : mark that the last arrow is the projection of the one before it on the first.
    legend : name every arrow beside its colour, below the planes.
    on_pick : called with the arrows to hold when one is clicked; without it, clicks do nothing.
    picture : the name and the facts of a saved picture.
    """
    count = len(arrows)  # the callback keeps no labels

    def take_pick() -> None:
        if on_pick is not None:
            on_pick(as_indices(reported(key, "pick").get("arrows"), count))

    settings = {
        "kind": "arrows",
        "titles": list(titles),
        "captions": list(notes),
        "notes": [],
        "count": count,
        "labels": [arrow.label for arrow in arrows],
        "names": [arrow.name for arrow in arrows],
        "colours": [arrow.colour for arrow in arrows],
        "held": list(held),
        "rightAngle": right_angle,
        "legend": legend,
        "canPick": on_pick is not None,
        "picture": picture,
    }
    _points(key=key, data=pack(settings, places=coordinates), on_pick_change=take_pick)
