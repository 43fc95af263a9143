"""What the colours of patches can stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from core.analysis.atlas.colours import HUES
from core.analysis.images import patch_looks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from core.model import Trace

    Floats = NDArray[np.float64]

COLOURINGS = {
    "type": "query or key",
    "hue": "hue",
    "brightness": "brightness",
    "row": "row",
    "column": "column",
    "place": "place in the image",
}
# The regions in the order of the hues around their circle, clockwise; the middle is grey.
REGIONS = ("top left", "top", "top right", "right", "bottom right", "bottom", "bottom left", "left")
_AROUND = np.array([[0, 1, 2], [7, 8, 3], [6, 5, 4]])  # REGIONS by third of the height and width


class Tints(NamedTuple):
    """The colours of points: a kind of scale, a number for every token, and the legend.

    `tones` are (token,), 0 to 1 along a ramp or the number of a category, nan for what is no patch.
    """

    scale: str
    tones: Floats
    legend: tuple[str, ...] = ()


def tints_of(trace: Trace, colouring: str) -> Tints:
    """The tints by one of ``COLOURINGS``; `ValueError` for a text."""
    if trace.patches is None:
        raise ValueError("a text has no patches")
    rows, columns = trace.patches.rows, trace.patches.columns
    row, column = np.divmod(np.arange(rows * columns), columns)
    looks = patch_looks(trace)
    if colouring == "hue":
        away = np.abs(looks.hue[:, None] - np.array(list(HUES.values())) / 360)
        nearest = np.minimum(away, 1 - away).argmin(axis=1)
        tones = np.where(looks.saturation > 0, nearest, len(HUES))
        return Tints("hue", _of_tokens(trace, tones), (*HUES, "grey"))
    if colouring == "brightness":
        return Tints("sequential", _of_tokens(trace, looks.brightness), ("black", "white"))
    if colouring in {"row", "column"}:
        place, count = (row, rows) if colouring == "row" else (column, columns)
        ends = ("top", "bottom") if colouring == "row" else ("left", "right")
        return Tints("sequential", _of_tokens(trace, place / max(count - 1, 1)), ends)
    if colouring == "place":
        tones = _AROUND[3 * row // rows, 3 * column // columns]
        return Tints("hue", _of_tokens(trace, tones), (*REGIONS, "middle"))
    return Tints("type", np.zeros(len(trace.tokens)))


def _of_tokens(trace: Trace, values: NDArray[np.generic]) -> Floats:
    """A value for every patch as one for every token."""
    tones = np.full(len(trace.tokens), np.nan)
    if trace.patches is not None:
        tones[trace.patches.tokens] = values
    return tones
