"""Images whose colours are a matter of place: there no head can be said to follow a look.

On rings a head that compares distances from the middle does all that a head of hue would. Moving
the image over its grid (`permutations.moved_grids`) shows it of stripes and ramps, which come out
as they were; of rings, fields and wheels it does not, since moving tears them apart. So the image
is asked first: how much of a look is a function of the place alone, of a few kinds that have far
fewer values than the image has patches?
"""

from __future__ import annotations

import numpy as np

from core.analysis.arrays import Floats, Indices
from core.analysis.images.colour import PatchLooks

# Share of the variance of a look that one kind of function of the place explains. Rings, equal
# fields, the hue wheel, stripes and ramps have 0.94 to 1; photographs and drawn sample scenes
# at most 0.92, and 2 of 100 random scenes more, in brightness alone: nearly empty ones on a graded
# ground.
MAX_BY_PLACE = 0.93
_MAX_VALUES = 0.25  # of a function, as a share of the patches: more explain any picture
_FIELDS = (2, 3, 4)  # equal fields down and across
_PERIODS = (2, 3, 4)  # patches after which a pattern comes again
_DEGREE = 3  # of the polynomial in row and column
_SECTORS = 16  # around the middle


def hue_by_place(looks: PatchLooks, rows: int, columns: int) -> float:
    """How much of an image's colours, brightness apart, is a matter of place; see `by_place`."""
    turns = 2 * np.pi * looks.hue
    around = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    return by_place(looks.saturation[:, None] * around, rows, columns)


def by_place(values: Floats, rows: int, columns: int) -> float:
    """The largest share of the variance of `values` that a kind of function of the place explains.

    `values` (patch, dimension) go row by row through a grid of `rows` and `columns`. Kinds: row
    plus column; a pattern along either diagonal; rings; sectors, even or fading towards the middle;
    equal fields; a pattern that comes again; a polynomial of degree 3. Shares are adjusted for the
    number of a function's values (Wherry 1931). 0 where the values do not vary.
    """
    count = len(values)
    centred = values - values.mean(axis=0)
    whole = float(np.square(centred).sum())
    if whole <= 1e-9 * count:
        return 0.0
    shares = [0.0]
    for design in _designs(rows, columns):
        basis, scales, _ = np.linalg.svd(design, full_matrices=False)
        basis = basis[:, scales > 1e-9 * scales[0]]
        free = basis.shape[1]
        if free <= _MAX_VALUES * count:
            left = float(np.square(centred - basis @ (basis.T @ centred)).sum()) / whole
            shares.append(1 - left * (count - 1) / (count - free))
    return max(shares)


def _designs(rows: int, columns: int) -> list[Floats]:
    """Each kind of function as a matrix (patch, parameter); the constants are among all."""
    row, column = np.divmod(np.arange(rows * columns), columns)
    down, across = row - (rows - 1) / 2, column - (columns - 1) / 2
    squares = np.rint(4 * (down**2 + across**2)).astype(np.intp)  # of half patches: whole numbers
    angle = np.arctan2(down, across) % (2 * np.pi)
    sectors = _indicators((angle * _SECTORS / (2 * np.pi)).astype(np.intp))
    fading = np.hypot(down, across)[:, None] * sectors
    y, x = down / max(rows, 2), across / max(columns, 2)
    powers = [(i, j) for i in range(_DEGREE + 1) for j in range(_DEGREE + 1 - i)]
    return [
        np.hstack([_indicators(row), _indicators(column)]),
        *map(_indicators, (row + column, row - column, squares)),
        sectors,
        np.hstack([np.ones((len(row), 1)), fading]),
        *(np.kron(_overlaps(rows, each), _overlaps(columns, each)) for each in _FIELDS),
        *(_indicators((row % each) * each + column % each) for each in _PERIODS),
        np.stack([y**i * x**j for i, j in powers], axis=1),
    ]


def _indicators(groups: Indices) -> Floats:
    return (groups[:, None] == np.unique(groups)).astype(np.float64)


def _overlaps(count: int, fields: int) -> Floats:
    """Which share of each of `count` patches in a line lies in each of so many equal fields."""
    starts, edges = np.arange(count)[:, None], np.arange(fields + 1) * count / fields
    return np.clip(np.minimum(starts + 1, edges[1:]) - np.maximum(starts, edges[:-1]), 0, None)
