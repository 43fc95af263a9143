"""A straight line through points, by least squares."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from core.analysis.normalization import ROUNDING

if TYPE_CHECKING:
    from numpy.typing import NDArray


class FittedLine(NamedTuple):
    """y = start + slope x."""

    slope: float
    start: float


def fit_line(x: NDArray[np.float64], y: NDArray[np.float64]) -> FittedLine | None:
    """The line with the least squared distance in y; None where x does not vary beyond rounding.

    `x` and `y` are (point,).
    """
    if x.size < 2 or np.ptp(x) <= ROUNDING * np.abs(x).max():
        return None
    across = x - x.mean()
    slope = float(across @ y / (across @ across))
    return FittedLine(slope, float(y.mean() - slope * x.mean()))
