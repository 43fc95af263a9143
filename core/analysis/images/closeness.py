"""How close two patches are in looks and in place: (patch, patch), larger is closer."""

from __future__ import annotations

import numpy as np

from core.analysis.arrays import Floats, Indices
from core.analysis.images.colour import PatchLooks


def hue_closeness(looks: PatchLooks) -> Floats:
    """Cosine of the difference of hues: 1 for one hue, -1 for opposite ones."""
    turns = 2 * np.pi * looks.hue
    return np.asarray(np.cos(turns[:, None] - turns))


def colour_closeness(looks: PatchLooks) -> Floats:
    """What hue may explain where grey patches count as well: (2, patch, patch).

    The closeness of hues, 0 for a pair with a grey patch, and the same times both saturations.
    """
    hue, s = hue_closeness(looks), looks.saturation
    return np.stack([hue * np.outer(s > 0, s > 0), hue * np.outer(s, s)])


def value_closeness(values: Floats) -> Floats:
    """Minus the difference of a number of each patch, such as its brightness: 0 for equal ones."""
    return -np.abs(values[:, None] - values)


def position_closeness(patches: Indices, columns: int) -> Floats:
    """In the same row, in the same column (1 or 0), and minus the distance: (3, patch, patch).

    `patches` count row by row through a grid of so many `columns`; distances are in patches.
    """
    row, column = np.divmod(patches, columns)
    down, across = row[:, None] - row, column[:, None] - column
    return np.stack([down == 0, across == 0, -np.hypot(down, across)]).astype(np.float64)
