"""Queries stay apart from keys by lightness, and both can be seen on either paper."""

from __future__ import annotations

import numpy as np
import pytest

from core.figures.palette import palette
from core.figures.shades import STEPS, shades

THEMES = ["light", "dark"]
COLOURINGS = [("sequential", 0), ("category", 6)]


def luminance(colour: str) -> float:
    """As WCAG 2 has it."""
    shares = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


def chroma_and_hue(colour: str) -> tuple[float, float]:
    """Of CIE LCh(ab) under D65; the hue in degrees."""
    shares = np.array([int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)])
    linear = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    x, y, z = np.cbrt(np.array(to_xyz) @ linear / [0.95047, 1, 1.08883])
    a, b = 500 * (x - y), 200 * (y - z)
    return float(np.hypot(a, b)), float(np.degrees(np.arctan2(b, a)) % 360)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize(("colouring", "count"), [*COLOURINGS, ("type", 0)])
def test_every_point_has_three_to_one_with_its_paper_in_every_colouring(
    theme: str, colouring: str, count: int
) -> None:
    paper = palette(theme).paper
    for kind in shades(colouring, count)[theme]:
        assert min(contrast(each, paper) for each in kind) >= 3
    queries, keys = shades(colouring, count)[theme]
    stronger = queries if theme == "light" else keys
    if colouring != "type":
        assert min(contrast(each, paper) for each in stronger) > 5


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize(("colouring", "count"), COLOURINGS)
def test_the_lightest_query_is_darker_than_the_darkest_key(
    theme: str, colouring: str, count: int
) -> None:
    queries, keys = shades(colouring, count)[theme]
    assert len(queries) == len(keys) == (count or STEPS)
    assert max(map(luminance, queries)) < min(map(luminance, keys))
    between = [contrast(query, key) for query, key in zip(queries, keys, strict=True)]
    assert min(between) > 1.7


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize(("colouring", "count"), COLOURINGS)
def test_a_query_and_a_key_of_the_same_meaning_have_the_same_hue(
    theme: str, colouring: str, count: int
) -> None:
    for query, key in zip(*shades(colouring, count)[theme], strict=True):
        (pure, hue), (also_pure, other) = chroma_and_hue(query), chroma_and_hue(key)
        if min(pure, also_pure) > 10:  # grey has no hue
            assert abs((hue - other + 180) % 360 - 180) < 3


@pytest.mark.parametrize("theme", THEMES)
def test_categories_differ_in_hue_and_a_scale_goes_one_way(theme: str) -> None:
    for kind in shades("category", 6)[theme]:
        hues = sorted(hue for pure, hue in map(chroma_and_hue, kind) if pure > 10)
        assert len(hues) == 5
        assert np.diff([*hues, hues[0] + 360]).min() > 25
    for kind in shades("sequential", 0)[theme]:
        paper = palette(theme).paper
        steps = np.diff([contrast(each, paper) for each in kind])
        assert steps.min() > -0.03  # of colours with 8 bits a channel
