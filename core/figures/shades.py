"""Darker colours for queries and lighter ones for keys, in both themes, readable on their paper.

A colour's hue says what it stands for, its lightness whether the point is a query or a key.
Contrast is as in WCAG 2, (lighter + 0.05) / (darker + 0.05), and at least 3, as for graphics.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from core.figures.palette import Palette, lch_to_hex, lch_to_linear, palette

# For each theme, the colours of queries, then those of keys.
Shades: TypeAlias = dict[str, tuple[tuple[str, ...], tuple[str, ...]]]
Hue: TypeAlias = tuple[float, float]  # degrees, and the chroma it has if a screen can show it

# Contrast with the paper, for the kind closer to it in lightness and for the other: of categories,
# and along a scale, from low to high, in bands that do not meet.
NEAR, FAR = 3.2, 8.0
NEAR_BAND, FAR_BAND = (3.1, 4.3), (5.5, 12.0)
SHADE_STEPS = 64  # per scale
SCALE_HUES, SCALE_CHROMA = (275.0, 430.0), 70.0  # degrees: from blue by purple and red to orange
CATEGORY_HUES = (  # the theme's five besides green and pink, a little purer, and olive
    (288.0, 62.0),
    (55.0, 70.0),
    (248.0, 50.0),
    (322.0, 48.0),
    (270.0, 6.0),
    (108.0, 60.0),
)
# Red, orange, yellow, green, cyan, blue, purple and pink in CIE LCh, in degrees.
NAMED_HUES = (38.0, 62.0, 98.0, 138.0, 205.0, 285.0, 315.0, 352.0)
NAMED_CHROMA = 75.0
_LIGHT_PAPER = 0.5  # luminance above which the darker kind is farther from the paper
_FADING = 0.97  # factor on a chroma no screen can show at that lightness, repeated until one can


def shades(colouring: str, count: int) -> Shades:
    """For both themes: "type" has one per kind, "sequential" ``SHADE_STEPS``, "category" `count`.

    "hue" has the eight named hues, then grey.
    """
    return {theme: shades_on(palette(theme), colouring, count) for theme in ("light", "dark")}


def shades_on(
    colours: Palette, colouring: str, count: int = 0
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Colours of queries and of keys in one theme, as in :func:`shades`."""
    if colouring == "type":
        return (colours.query,), (colours.key,)
    paper = _luminance(colours.paper)
    if colouring == "sequential":
        hues = [(float(hue) % 360, SCALE_CHROMA) for hue in np.linspace(*SCALE_HUES, SHADE_STEPS)]
        near, far = np.geomspace(*NEAR_BAND, SHADE_STEPS), np.geomspace(*FAR_BAND, SHADE_STEPS)
    elif colouring == "hue":
        hues = [*((degrees, NAMED_CHROMA) for degrees in NAMED_HUES), (0.0, 0.0)]
        near, far = np.full(len(hues), NEAR), np.full(len(hues), FAR)
    else:
        hues = [CATEGORY_HUES[index % len(CATEGORY_HUES)] for index in range(count)]
        near, far = np.full(count, NEAR), np.full(count, FAR)
    darker, lighter = (far, near) if paper > _LIGHT_PAPER else (near, far)
    queries, keys = (
        tuple(_shade(hue, float(c), paper) for hue, c in zip(hues, contrasts, strict=True))
        for contrasts in (darker, lighter)
    )
    return queries, keys


def _shade(hue: Hue, contrast: float, paper: float) -> str:
    """A hue with this contrast to paper of this luminance, as pure as a screen can show it."""
    light = paper > _LIGHT_PAPER
    luminance = (paper + 0.05) / contrast - 0.05 if light else (paper + 0.05) * contrast - 0.05
    lightness = 116 * luminance ** (1 / 3) - 16  # CIE L*, which depends only on luminance
    degrees, chroma = hue
    while not all(0 <= each <= 1 for each in lch_to_linear(lightness, chroma, degrees)):
        chroma *= _FADING
    return lch_to_hex(lightness, chroma, degrees)


def _luminance(colour: str) -> float:
    """Relative luminance of ``#rrggbb``, WCAG 2."""
    share = np.array([int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)])
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])
