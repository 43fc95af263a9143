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
from core.figures.shades import STEPS, shades

THEMES = ("light", "dark")
KINDS = ("protan", "deutan", "tritan")
METHODS = ("machado", "vienot")
PICTURES = Path(__file__).parents[2] / "core/ui/pictures"
DIFFERENT = 20.0  # CIEDE2000; 1 is just visible side by side
COLOURINGS = {"sequential": 0, "category": 6, "hue": 9}
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


def papers(theme: str) -> tuple[str, str]:
    """What texts stand on: the page, and boxes and the sidebar."""
    return palette(theme).paper, palette(theme).panel


def luminance(colour: str) -> float:
    return Color(colour).luminance()


@in_both_themes
def test_queries_are_green_and_keys_pink(theme: str) -> None:
    red, green, blue = Color(palette(theme).query).coords()
    assert green > max(red, blue)
    red, green, blue = Color(palette(theme).key).coords()
    assert red > blue > green


@in_both_themes
def test_queries_and_keys_differ_to_everyone_and_queries_are_the_darker(theme: str) -> None:
    query, key = palette(theme).query, palette(theme).key
    assert least_difference(query, key) >= DIFFERENT
    assert (
        Color(key).convert("lab-d65")["lightness"] - 14
        > (Color(query).convert("lab-d65")["lightness"])
    )


@in_both_themes
def test_negative_and_positive_scores_differ_to_everyone(theme: str) -> None:
    scores = palette(theme).diverging
    half = len(scores) // 2
    for step in range(half - 2):  # the two in the middle are nearly zero
        assert least_difference(scores[step], scores[-1 - step]) >= DIFFERENT


@in_both_themes
def test_texts_read_on_the_page_and_in_its_boxes(theme: str) -> None:
    colours = palette(theme)
    texts = (colours.query, colours.key, colours.alert, colours.ink, colours.link)
    for text, paper in product(texts, papers(theme)):
        assert contrast(text, paper) >= 4.5, (text, paper)


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
        both = [Color(each).convert("lch-d65") for each in (query, key)]
        if min(each["chroma"] for each in both) > 10:  # grey has no hue
            assert abs((both[0]["hue"] - both[1]["hue"] + 180) % 360 - 180) < 3


@pytest.mark.parametrize("picture", sorted(PICTURES.glob("*.svg")), ids=lambda path: path.name)
def test_the_logo_shows_in_both_themes_and_to_everyone(picture: Path) -> None:
    drawn = re.findall(r'(?:fill|stroke)="(#[0-9a-f]{6})"', picture.read_text("utf-8"))
    query, key = (colour for colour in dict.fromkeys(drawn) if colour != drawn[0])
    assert least_difference(query, key) >= DIFFERENT
    for colour, theme in product(set(drawn), THEMES):
        assert min(contrast(colour, paper) for paper in papers(theme)) >= 3 or theme == "dark"
        assert contrast(colour, palette(theme).sidebar) >= 3
