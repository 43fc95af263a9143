"""Queries stay apart from keys by hue or lightness, and both can be seen on either paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.figures.palette import palette
from core.figures.shades import STEPS, shades

if TYPE_CHECKING:
    from core.analysis.arrays import Floats

COLOURINGS = {"sequential": 0, "category": 6, "hue": 9}
in_both_themes = pytest.mark.parametrize("theme", ["light", "dark"])


def light_of(colour: str) -> Floats:
    """Red, green and blue as linear light, WCAG 2."""
    shares = np.array([int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)])
    return np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)


def luminance(colour: str) -> float:
    return float(light_of(colour) @ [0.2126, 0.7152, 0.0722])


def contrast(one: str, other: str) -> float:
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


def chroma_and_hue(colour: str) -> tuple[float, float]:
    """Of CIE LCh(ab) under D65; the hue in degrees."""
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    x, y, z = np.cbrt(np.array(to_xyz) @ light_of(colour) / [0.95047, 1, 1.08883])
    a, b = 500 * (x - y), 200 * (y - z)
    return float(np.hypot(a, b)), float(np.degrees(np.arctan2(b, a)) % 360)


@in_both_themes
def test_queries_are_green_and_keys_pink(theme: str) -> None:
    red, green, blue = light_of(palette(theme).query)
    assert green > max(red, blue)
    red, green, blue = light_of(palette(theme).key)
    assert red > blue > green


@in_both_themes
def test_the_attention_scale_is_one_sequence_of_rising_contrast(theme: str) -> None:
    steps = [luminance(colour) for colour in palette(theme).sequential]
    assert steps in (sorted(steps), sorted(steps, reverse=True))
    assert abs(steps[0] - luminance(palette(theme).paper)) < 0.06


@in_both_themes
@pytest.mark.parametrize("colouring", [*COLOURINGS, "type"])
def test_every_point_has_three_to_one_with_its_paper_in_every_colouring(
    theme: str, colouring: str
) -> None:
    paper = palette(theme).paper
    queries, keys = shades(colouring, COLOURINGS.get(colouring, 0))[theme]
    assert min(contrast(each, paper) for each in (*queries, *keys)) >= 3
    stronger = queries if theme == "light" else keys
    if colouring != "type":
        assert min(contrast(each, paper) for each in stronger) > 5


@in_both_themes
@pytest.mark.parametrize("colouring", COLOURINGS)
def test_queries_are_darker_than_all_keys_and_those_of_one_meaning_have_one_hue(
    theme: str, colouring: str
) -> None:
    queries, keys = shades(colouring, COLOURINGS[colouring])[theme]
    assert len(queries) == len(keys) == (COLOURINGS[colouring] or STEPS)
    assert max(map(luminance, queries)) < min(map(luminance, keys))
    for query, key in zip(queries, keys, strict=True):
        assert contrast(query, key) > 1.7
        (pure, hue), (also_pure, other) = chroma_and_hue(query), chroma_and_hue(key)
        if min(pure, also_pure) > 10:  # grey has no hue
            assert abs((hue - other + 180) % 360 - 180) < 3
