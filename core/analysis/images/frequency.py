"""Spatial frequency of patches: how much of what a patch shows is fine, whatever its brightness.

AttentionViz (Yeh et al. 2023, section 5.2) finds heads of vision transformers that group patches by
hue, brightness and spatial frequency. Here it is one number a patch.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.analysis.arrays import Floats
from core.analysis.images.colour import oklab

# Cycles a patch: power farther than this from the middle of the spectrum is fine. A window that
# fades to the edges leaves nearly all of a gradient, and of one wave a patch, within.
RADIUS = 2.0
_FLAT = 1 / 255  # a patch whose brightness varies by no more than a step of 8 bits has no frequency
_DIGITS = 6  # of a share; what is smaller is rounding, and would set even patches apart
_BLOCK = 512  # patches at once: 12 MB of 16 x 16 pixels


def fine_shares(cells: NDArray[np.uint8]) -> Floats:
    """The share of each patch's power beyond `RADIUS` of its two-dimensional spectrum, (patch,).

    `cells` are (patch, size, size, 3) in sRGB. Of brightness (OKLab lightness) less its mean, under
    a Hann window (Harris 1978): 0 for an even or a smoothly shaded patch, near 1 for stripes of two
    or three pixels. Variance of a step of 8 bits is added to the whole, so that rounding is no
    texture.
    """
    parts = [_shares(cells[start : start + _BLOCK]) for start in range(0, len(cells), _BLOCK)]
    return np.concatenate(parts) if parts else np.zeros(0)


def _shares(cells: NDArray[np.uint8]) -> Floats:
    count, size = cells.shape[:2]
    bright = oklab(cells.reshape(-1, 3) / 255)[:, 0].reshape(count, size, size)
    line = np.sin(np.pi * (np.arange(size) + 0.5) / size) ** 2
    window = np.outer(line, line)
    means = (bright * window).sum(axis=(1, 2), keepdims=True) / window.sum()
    spectrum = np.fft.fft2((bright - means) * window)
    power = np.square(np.abs(spectrum)) / (size**2 * np.square(window).sum())  # sums to variance
    cycles = np.fft.fftfreq(size) * size
    fine = np.hypot(cycles[:, None], cycles) > RADIUS
    shares = power[:, fine].sum(axis=1) / (power.sum(axis=(1, 2)) + _FLAT**2)
    return np.asarray(shares.round(_DIGITS))
