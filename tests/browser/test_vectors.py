"""Arrows in the browser: heads, labels, picks, and the way to a head's table."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

import numpy as np
from playwright.sync_api import expect

from tests.browser.conftest import TEXT, Open, box_of, click_head, follow, pixels, place
from tests.browser.views import await_report, planes_file
from tests.looks.visit import words_in_view

if TYPE_CHECKING:
    from playwright.sync_api import Page

BOOK = quote(TEXT)


def lit_in(page: Page) -> set[str]:
    """The arrows that are coloured, which are the same in all planes."""
    [numbers] = {each.get_attribute("data-lit") or "" for each in page.locator("figure").all()}
    return set(numbers.split())


def test_of_sixty_tokens_the_longest_and_a_held_one_are_named(open_file: Open) -> None:
    points = np.random.default_rng(1).normal(size=(6, 60, 2))
    labels = [f"word{i}" for i in range(60)]
    shortest = int(np.linalg.norm(points[3], axis=1).argmin())
    page = open_file(planes_file(points, labels))
    for tile, own in enumerate(np.linalg.norm(points, axis=2).argsort(axis=1)[:, -12:]):
        named = page.locator("figure[data-labels]").nth(tile).get_attribute("data-labels") or ""
        assert len(named.split()) >= 6
        assert {*map(int, named.split())} <= {*own.tolist()}
    page = open_file(planes_file(points, labels, held=[shortest]))
    for figure in page.locator("figure").all():
        expect(figure).to_have_attribute("data-labels", re.compile(f"^{shortest} "))


def test_all_arrows_are_grey_but_those_held_or_under_the_pointer(open_file: Open) -> None:
    points = np.array([[[1.0, 0], [0, 1], [-1, 0]], [[0, -1], [1, 1], [-1, 1]]])
    page = open_file(planes_file(points, ["a", "b", "c"], held=[1]))
    figures = page.locator("figure")
    expect(figures.first).to_have_attribute("data-labels", "1 0 2")
    assert lit_in(page) == {"1"}
    for item, colour in ((1, "#117766"), (0, "#7f8598")):  # the border's grey
        canvas, (x, y) = figures.first.locator("canvas"), place(figures.first, points[0, item] / 2)
        box = box_of(canvas)
        red, green, blue, _ = pixels(canvas)[round(y - box["y"]), round(x - box["x"])]
        assert f"#{red:02x}{green:02x}{blue:02x}" == colour
    page.mouse.move(*place(figures.nth(1), points[1, 0] / 2))
    expect(page.locator(".tip")).to_have_text("a · Layer 2(0.000, -1.000)")
    expect(figures.first).to_have_attribute("data-lit", "0")
    assert lit_in(page) == {"0"}
    page.keyboard.down("Shift")
    page.mouse.click(*place(figures.first, points[0, 2]))
    await_report(page, arrows=[1, 2])
    page.keyboard.up("Shift")
    page.mouse.move(2, 2)
    expect(figures.first).to_have_attribute("data-lit", "1")


def test_the_pair_that_home_names_is_held_and_the_plane_of_one_layer_is_large(goto: Open) -> None:
    page = goto(f"/vectors?text={BOOK}")
    expect(page.locator("figure[data-lit]")).to_have_count(6)
    assert lit_in(page) == {"3", "9"}  # book and it
    page.locator("figure canvas").nth(3).press("ArrowLeft")
    page.keyboard.press("Enter")
    follow(page, "pick=1[12](&|$)")
    expect(page.locator("figure canvas").nth(3)).to_be_focused()  # the keyboard stays
    page.keyboard.press("Escape")
    follow(page, "^(?!.*pick=)")
    page.get_by_role("radio", name="one layer").click()
    follow(page, "show=one")
    expect(page.locator("figcaption")).to_have_text(re.compile(r"^Layer 4\d+\s% \+ \d+\s%$"))
    assert box_of(page.locator("figure"))["height"] > 450


def test_the_panel_of_a_part_is_first_and_a_square_opens_its_table(goto: Open) -> None:
    page = goto(f"/projection?text={BOOK}")
    figures = page.locator(".st-key-projection_planes figure")
    expect(figures).to_have_count(6)
    for figure in figures.all():  # book, it, it along book
        expect(figure).to_have_attribute("data-labels", re.compile(r"^\d \d \d$"))
        assert sorted((figure.get_attribute("data-labels") or "").split()) == ["0", "1", "2"]
    titles = page.locator(".st-key-projection_layers .annotation-text")
    for part, first in (
        ("like", "Do it and book attend to the same words?"),
        ("to", "Does it attend to book?"),
    ):
        goto(f"/projection?part={part}", width=1280, height=720)
        expect(titles).to_have_count(2)
        assert 20 < words_in_view(page) <= 60
        assert min(titles.all(), key=lambda title: box_of(title)["y"]).text_content() == first
    page.get_by_role("button", name="23 of 72 heads above uniform").click()
    expect(page.get_by_test_id("stPopoverBody")).to_contain_text("With uniform attention")
    page.keyboard.press("Escape")
    click_head(page, "projection_heads", 4, 2)
    follow(page, "/heatmap")
    expect(page.get_by_role("grid")).to_have_attribute("aria-label", re.compile("of L4 H2,"))
