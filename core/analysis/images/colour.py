"""How patches look: hue, chroma and brightness of their mean colours, as people see them.

Colours are compared in OKLab (Ottosson 2020, "A perceptual color space for image processing"),
where equal steps look equally large. In HSV, a yellow and a blue of the same "value" differ greatly
in brightness, and the hue of a nearly black patch is arbitrary.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.analysis.arrays import Floats, Indices
from core.analysis.images.patch_scores import patches_of
from core.model.trace import Array, Patches, Trace

# Names of hues, and their angles on OKLCh's circle, in degrees.
HUES = {
    "red": 27.0,
    "orange": 60.0,
    "yellow": 105.0,
    "green": 145.0,
    "cyan": 200.0,
    "blue": 262.0,
    "purple": 305.0,
    "pink": 350.0,
}
# Below this a patch is grey and has no hue: CSS Color 4 takes 0.02 as the just noticeable
# difference in OKLab. The strongest colours of sRGB have about 0.3.
MIN_CHROMA = 0.02

_SRGB_TO_LMS = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_LMS_TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


@dataclass(frozen=True, eq=False)
class PatchLooks:
    """The look of each patch, float64 (patch,) each."""

    hue: Floats  # OKLCh hue as a share of the circle, 0 to 1: red 0.08, green 0.40, blue 0.73
    chroma: Floats  # OKLCh chroma, the colourfulness: 0 is grey, about 0.3 the most of sRGB
    brightness: Floats  # OKLab lightness: 0 black, 1 white

    @property
    def saturation(self) -> Floats:
        """The weight of a patch's hue: its chroma, 0 below `MIN_CHROMA`."""
        return np.where(self.chroma >= MIN_CHROMA, self.chroma, 0.0)

    def at(self, patches: Indices) -> PatchLooks:
        """The looks of these patches, in this order."""
        return PatchLooks(self.hue[patches], self.chroma[patches], self.brightness[patches])


def patch_looks(trace: Trace) -> PatchLooks:
    """The looks of an image's patches; `ValueError` for a text."""
    return looks_of(patches_of(trace).colours)


def looks_of(colours: Array | Floats) -> PatchLooks:
    """The looks of colours (patch, 3), sRGB from 0 to 1."""
    lightness, a, b = oklab(colours).T
    return PatchLooks(np.arctan2(b, a) / (2 * np.pi) % 1.0, np.hypot(a, b), lightness)


def oklab(colours: Array | Floats) -> Floats:
    """SRGB (patch, 3), 0 to 1, as OKLab: lightness, green to red, blue to yellow.

    >>> oklab(np.ones((1, 3))).round(3).tolist()[0][0]
    1.0
    """
    exact = np.asarray(colours, dtype=np.float64)
    linear = np.where(exact <= 0.04045, exact / 12.92, ((exact + 0.055) / 1.055) ** 2.4)
    return np.asarray(np.cbrt(linear @ _SRGB_TO_LMS.T) @ _LMS_TO_LAB.T)


def standing_out(patches: Patches) -> int:
    """The patch (from 0) whose mean colour is farthest from the image's mean colour, in sRGB.

    More often part of the subject than of the background; of equals, the first.
    """
    colours = patches.colours.astype(np.float64)
    return int(np.linalg.norm(colours - colours.mean(axis=0), axis=1).argmax())
