"""Paints: colours whose hue, saturation and brightness can be chosen apart from each other."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Share of the circle (HSV), by name. Sixths of it, so that swapping colour channels maps names to
# names.
HUES = {
    "red": 0.0,
    "yellow": 1 / 6,
    "green": 2 / 6,
    "cyan": 3 / 6,
    "blue": 4 / 6,
    "magenta": 5 / 6,
}
GREY = "grey"
# Luma of ITU-R BT.601, of sRGB values as they stand.
LUMA = np.array((0.299, 0.587, 0.114))


@dataclass(frozen=True)
class Paint:
    """A colour.

    Attributes
    ----------
    hue : share of the circle as in HSV, 0 (red) to 1 (red again).
    saturation : 0 (grey) to 1 (as saturated as the brightness permits).
    brightness : luma, 0 (black) to 1 (white).
    """

    hue: float
    saturation: float
    brightness: float

    @property
    def rgb(self) -> Floats:
        """The sRGB values, (3,), 0 to 1."""
        return mix(self.hue, self.saturation, self.brightness)

    @property
    def name(self) -> str:
        """The nearest of `HUES`, or "grey"."""
        if self.saturation < 0.2:
            return GREY
        return list(HUES)[round(self.hue * len(HUES)) % len(HUES)]

    def with_brightness(self, brightness: float) -> Paint:
        """The same paint at another brightness, kept between 0 and 1."""
        return replace(self, brightness=min(max(brightness, 0.0), 1.0))


def mix(hue: float | Floats, saturation: float | Floats, brightness: float | Floats) -> Floats:
    """SRGB values (..., 3), 0 to 1, that have exactly this HSV hue and this luma.

    The pure colour of the hue is mixed with black or white until its luma is right, and then with
    the grey of that luma, which changes neither.

    >>> mix(0.0, 1.0, 0.299).round(3).tolist()  # pure red has this luma
    [1.0, 0.0, 0.0]
    >>> mix(0.0, 0.0, 0.299).round(3).tolist()
    [0.299, 0.299, 0.299]
    """
    hue, saturation, brightness = (
        np.asarray(value, dtype=np.float64)[..., None] for value in (hue, saturation, brightness)
    )
    offsets = np.array((0.0, 4.0, 2.0))  # of red, green and blue along the circle, in sixths
    pure = np.clip(np.abs((6 * hue + offsets) % 6 - 3) - 1, 0, 1)
    luma = (pure @ LUMA)[..., None]
    with_black = pure * (brightness / luma)
    with_white = 1 - (1 - pure) * (1 - brightness) / (1 - luma)
    full = np.where(brightness <= luma, with_black, with_white)
    return np.clip(brightness + saturation * (full - brightness), 0, 1)
