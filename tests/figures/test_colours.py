"""Colours that carry meaning stay apart for people who see fewer of them, and read on their paper.

Colour blindness as simulated by ColorAide, after Machado, Oliveira and Fernandes (2009) and after
Viénot, Brettel and Mollon (1999); differences as CIEDE2000; contrast as in WCAG 2.
"""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pytest
from coloraide import Color

from core.figures.palette import palette
from core.figures.shades import SHADE_STEPS, shades

THEMES = ("light", "dark")
KINDS = ("protan", "deutan", "tritan")
METHODS = ("machado", "vienot")
PICTURES = Path(__file__).parents[2] / "core/ui/pictures"
DIFFERENT = 20.0  # CIEDE2000; 1 is just visible side by side
COLOURINGS = {"type": 0, "sequential": 0, "category": 6, "hue": 9}
in_both_themes = pytest.mark.parametrize("theme", THEMES)


def seen(colour: str) -> list[Color]:
    """A colour as people with usual vision see it, then with each kind by each method."""
    usual = Color(colour)
    return [usual] + [
        usual.filter(kind, method=method).convert("srgb").clip()
        for kind, method in product(KINDS, METHODS)
    ]


def least_difference(one: str, other: str) -> float:
    """CIEDE2000 for whoever sees the two colours most alike."""
    pairs = zip(seen(one), seen(other), strict=True)
    return min(a.delta_e(b, method="2000") for a, b in pairs)


def contrast(one: str, other: str) -> float:
    return Color(one).contrast(other, method="wcag21")


def luminance(colour: str) -> float:
    return Color(colour).luminance()


@in_both_themes
def test_queries_are_green_and_keys_pink_apart_to_everyone_as_signs_of_scores_are(
    theme: str,
) -> None:
    query, key = palette(theme).query, palette(theme).key
    red, green, blue = Color(query).coords()
    assert green > max(red, blue)
    red, green, blue = Color(key).coords()
    assert red > blue > green
    assert least_difference(query, key) >= DIFFERENT
    lightness = [Color(each).convert("lab-d65")["lightness"] for each in (query, key)]
    assert lightness[1] - 14 > lightness[0]
    scores = palette(theme).diverging
    for step in range(len(scores) // 2 - 2):  # the two in the middle are nearly zero
        assert least_difference(scores[step], scores[-1 - step]) >= DIFFERENT


@in_both_themes
def test_texts_read_on_the_page_and_in_its_boxes_and_attention_is_one_scale(theme: str) -> None:
    colours = palette(theme)
    texts = (colours.query, colours.key, colours.alert, colours.ink, colours.link)
    for text, paper in product(texts, (colours.paper, colours.panel)):
        assert contrast(text, paper) >= 4.5, (text, paper)
    steps = [luminance(colour) for colour in colours.sequential]
    assert steps in (sorted(steps), sorted(steps, reverse=True))
    assert abs(steps[0] - luminance(colours.paper)) < 0.06


@in_both_themes
@pytest.mark.parametrize("colouring", COLOURINGS)
def test_points_show_on_their_paper_queries_darker_than_keys_and_one_meaning_has_one_hue(
    theme: str, colouring: str
) -> None:
    paper, count = palette(theme).paper, COLOURINGS[colouring]
    queries, keys = shades(colouring, count)[theme]
    assert min(contrast(each, paper) for each in (*queries, *keys)) >= 3
    if colouring == "type":
        return
    stronger = queries if theme == "light" else keys
    assert min(contrast(each, paper) for each in stronger) > 5
    assert len(queries) == len(keys) == (count or SHADE_STEPS)
    assert max(map(luminance, queries)) < min(map(luminance, keys))
    for query, key in zip(queries, keys, strict=True):
        assert contrast(query, key) > 1.7
        both = [Color(each).convert("lch-d65") for each in (query, key)]
        if min(each["chroma"] for each in both) > 10:  # grey has no hue
            assert abs((both[0]["hue"] - both[1]["hue"] + 180) % 360 - 180) < 3


@pytest.mark.parametrize("picture", sorted(PICTURES.glob("*.svg")), ids=lambda path: path.name)
def test_the_logo_shows_in_both_themes_and_to_everyone(picture: Path) -> None:
    drawn = re.findall(r'(?:fill|stroke)="(#[0-9a-f]{6})"', picture.read_text("utf-8"))
    query, key = (colour for colour in dict.fromkeys(drawn) if colour != drawn[0])
    assert least_difference(query, key) >= DIFFERENT
    for colour, theme in product(set(drawn), THEMES):
        colours = palette(theme)
        assert contrast(colour, colours.sidebar) >= 3
        on_page = min(contrast(colour, paper) for paper in (colours.paper, colours.panel))
        assert on_page >= 3 or theme == "dark"
