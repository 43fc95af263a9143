"""Queries and keys drawn as the patches they come from: colours, thumbnails, and positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.analysis.arrays import Floats
from core.analysis.images.colour import HUES, patch_looks
from core.analysis.images.patch_scores import patches_of
from core.analysis.query_key.clouds import Cloud
from core.model.trace import Patches, Trace
from core.vocabulary import labels_of

if TYPE_CHECKING:
    import pandas as pd

PATCH_COLOURINGS = {  # in links, and as people read them
    "type": "type",
    "position": "position",
}
OF_PATCHES = {
    "hue": "hue",
    "brightness": "brightness",
    "place": "place in the image",
}
# Regions in the order of their hues around the circle, clockwise; the middle is grey.
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
MAX_SIDE = 24  # pixels of a patch's picture; no point is drawn larger


class Tints(NamedTuple):
    """The colours of points: a kind of scale, a number for every point, and the legend.

    `tones` are (query + key,): 0 to 1 along a ramp, or the number of a category; nan for tokens
    that are not patches.
    """

    scale: str
    tones: Floats
    legend: tuple[str, ...] = ()


def tints_of(trace: Trace, colouring: str) -> Tints:
    """The tints for one of ``PATCH_COLOURINGS`` or, for an image, of ``OF_PATCHES``.

    `ValueError` if a text is asked for the look or place of patches.
    """
    if colouring in OF_PATCHES:
        tints = _of_patches(trace, colouring)
        return tints._replace(tones=np.tile(tints.tones, 2))
    sides = [len(side) for side in (trace.tokens, trace.key_tokens)]
    if colouring == "type":
        return Tints("type", np.zeros(sum(sides)))
    shares = np.concatenate([np.arange(size) / max(size - 1, 1) for size in sides])
    return Tints("sequential", shares, ("first token", "last token"))


def _of_patches(trace: Trace, colouring: str) -> Tints:
    """The tints of tokens by the look or the place of their patches."""
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
    else:
        scale, values, legend = "sequential", patch_looks(trace).brightness, ("black", "white")
    tones = np.full(len(trace.tokens), np.nan)
    tones[patches.tokens] = values
    return Tints(scale, tones, legend)


def thumbnails(patches: Patches, max_side: int = MAX_SIDE) -> Patches:
    """The image with each patch at most `max_side` pixels wide.

    Patches shrink by a whole factor, each pixel the mean of those it replaces; so the side becomes
    its largest divisor that fits.
    """
    side = next(each for each in range(max_side, 0, -1) if patches.size % each == 0)
    if side >= patches.size:
        return patches
    step = patches.size // side
    blocks = patches.pixels.reshape(patches.rows * side, step, patches.columns * side, step, 3)
    pixels = np.rint(blocks.mean(axis=(1, 3))).astype(np.uint8)
    return replace(patches, pixels=pixels, size=side)


def places_table(trace: Trace, clouds: Sequence[Cloud], tints: Tints) -> pd.DataFrame:
    """A row for every point of every panel: what it is, where it lies, what its colour means."""
    import pandas as pd

    labels, count = labels_of(trace.tokens), len(trace.tokens)
    tokens = [*trace.tokens, *trace.tokens]
    parts = []
    for cloud in clouds:
        points = np.vstack([cloud.picture.queries, cloud.picture.keys])
        columns: dict[str, object] = {
            "stage": cloud.stage,
            "kind": np.repeat(["query", "key"], count),
            "token": [*labels, *labels],
            "row": [token.row + 1 or None for token in tokens],
            "column": [token.column + 1 or None for token in tokens],
        }
        columns |= dict(zip("xyz", points.T, strict=False))
        if tints.scale != "type":
            columns["colour"] = tints.tones
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)
