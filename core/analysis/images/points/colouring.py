"""What the colours of queries and keys can stand for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.analysis.images.colour import HUES, patch_looks
from core.analysis.images.frequency import fine_shares
from core.analysis.images.patch_scores import patches_of
from core.analysis.query_key.clouds import Cloud
from core.model.trace import Trace

if TYPE_CHECKING:
    Floats = NDArray[np.float64]

COLOURINGS = {  # in links, and as people read them
    "type": "type",
    "position": "position",
    "lighter": "position, lighter first",
    "position mod 5": "position mod 5",
    "norm": "norm",
}
OF_PATCHES = {
    "hue": "hue",
    "brightness": "brightness",
    "frequency": "spatial frequency",
    "row": "row",
    "column": "column",
    "place": "place in the image",
}
# The regions in the order of the hues around their circle, clockwise; the middle is grey.
REGIONS = (
    "top left",
    "top",
    "top right",
    "right",
    "bottom right",
    "bottom",
    "bottom left",
    "left",
)
_AROUND = np.array([[0, 1, 2], [7, 8, 3], [6, 5, 4]])  # REGIONS by third of the height and width


class Tints(NamedTuple):
    """The colours of points: a kind of scale, a number for every point, and the legend.

    `tones` are (query + key,), or (cloud, query + key) by norm: 0 to 1 along a ramp or the number
    of a category, nan for what is no patch.
    """

    scale: str
    tones: Floats
    legend: tuple[str, ...] = ()


def tints_of(trace: Trace, colouring: str, clouds: Sequence[Cloud] = ()) -> Tints:
    """The tints by one of ``COLOURINGS`` or, of an image, of ``OF_PATCHES``.

    Norms are those of `clouds`, which share a scale. `ValueError` for a look or place in a text.
    """
    if colouring in OF_PATCHES:
        tints = _of_patches(trace, colouring)
        return tints._replace(tones=np.tile(tints.tones, 2))
    if colouring == "norm":
        longest = max(float(cloud.norms.max()) for cloud in clouds) or 1.0
        tones = np.stack([cloud.norms / longest for cloud in clouds])
        return Tints("sequential", tones, ("norm 0", f"norm {longest:.3g}"))
    sides = [np.arange(len(side), dtype=np.float64) for side in (trace.tokens, trace.key_tokens)]
    if colouring == "position mod 5":
        legend = tuple(f"positions {i + 1}, {i + 6}, …" for i in range(5))
        return Tints("category", np.concatenate(sides) % 5, legend)
    shares = np.concatenate([side / max(side.size - 1, 1) for side in sides])
    if colouring == "type":
        return Tints("type", np.zeros_like(shares))
    scale = "lightness" if colouring == "lighter" else "sequential"
    return Tints(scale, shares, ("first token", "last token"))


def _of_patches(trace: Trace, colouring: str) -> Tints:
    """The tints of tokens by a look or a place."""
    patches = patches_of(trace)
    rows, columns = patches.rows, patches.columns
    row, column = np.divmod(np.arange(rows * columns), columns)
    if colouring == "hue":
        looks = patch_looks(trace)
        away = np.abs(looks.hue[:, None] - np.array(list(HUES.values())) / 360)
        nearest = np.minimum(away, 1 - away).argmin(axis=1)
        values: NDArray[np.generic] = np.where(looks.saturation > 0, nearest, len(HUES))
        scale, legend = "hue", (*HUES, "grey")
    elif colouring == "place":
        values = _AROUND[3 * row // rows, 3 * column // columns]
        scale, legend = "hue", (*REGIONS, "middle")
    elif colouring == "brightness":
        scale, values, legend = "sequential", patch_looks(trace).brightness, ("black", "white")
    elif colouring == "frequency":
        fine = fine_shares(patches.cells)
        scale, values, legend = "sequential", fine, ("smooth", "fine")
    elif colouring == "row":
        scale, values, legend = "sequential", row / max(rows - 1, 1), ("top", "bottom")
    else:
        scale, values, legend = "sequential", column / max(columns - 1, 1), ("left", "right")
    tones = np.full(len(trace.tokens), np.nan)
    tones[patches.tokens] = values
    return Tints(scale, tones, legend)
