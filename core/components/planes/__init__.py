"""Small planes side by side, each with the same arrows from its origin."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.components.packing import pack
from core.components.reported_state import as_indices, reported
from core.components.scripts import register

_planes = register("planes")


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
        "titles": list(titles),
        "notes": list(notes),
        "arrows": [vars(arrow) for arrow in arrows],
        "held": list(held),
        "rightAngle": right_angle,
        "legend": legend,
        "canPick": on_pick is not None,
        "picture": picture,
    }
    _planes(key=key, data=pack(settings, points=coordinates), on_pick_change=take_pick)
