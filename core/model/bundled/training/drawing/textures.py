"""Textures: how much lighter (1) or darker (-1) each pixel is than its paint."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def _plain(x: Floats, y: Floats, generator: np.random.Generator) -> Floats:
    del y, generator
    return np.zeros_like(x)


def _stripes(x: Floats, y: Floats, generator: np.random.Generator) -> Floats:
    del y, generator
    return _wave(x)


def _checks(x: Floats, y: Floats, generator: np.random.Generator) -> Floats:
    del generator
    return _wave(x) * _wave(y)


def _dots(x: Floats, y: Floats, generator: np.random.Generator) -> Floats:
    del generator
    distance = np.hypot(x - np.rint(x), y - np.rint(y))
    return np.clip((0.3 - distance) * 10, -1, 1)


def _noise(x: Floats, y: Floats, generator: np.random.Generator) -> Floats:
    """Uniform values on a lattice of half periods, the nearest for each pixel."""
    table = generator.uniform(-1, 1, (64, 64))
    rows, columns = np.floor(2 * y).astype(int) % 64, np.floor(2 * x).astype(int) % 64
    noise: Floats = table[rows, columns]
    return noise


def _wave(x: Floats) -> Floats:
    """A square wave of period 1 with soft edges."""
    return np.clip(4 * np.sin(2 * np.pi * x), -1, 1)


TEXTURES: dict[str, Callable[[Floats, Floats, np.random.Generator], Floats]] = {
    "plain": _plain,
    "stripes": _stripes,
    "checks": _checks,
    "dots": _dots,
    "noise": _noise,
}
