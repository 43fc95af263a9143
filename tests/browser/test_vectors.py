"""Arrows in the browser: heads, labels, picks, motion, and the way to a head's table."""

from __future__ import annotations

import re
from itertools import combinations
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import TEXT, Open, box_of, click_head, follow, settle

if TYPE_CHECKING:
    from playwright.sync_api import FloatRect

BOOK = quote(TEXT)


# A text's box reaches beyond its letters, in pixels: the halo of 1.5 around each of the two texts
# that meet, and 3 more above and below the letters.
BESIDE, ABOVE = 4, 6


def apart(a: FloatRect, b: FloatRect) -> bool:
    return (
        a["x"] + a["width"] <= b["x"] + BESIDE
        or b["x"] + b["width"] <= a["x"] + BESIDE
        or a["y"] + a["height"] <= b["y"] + ABOVE
        or b["y"] + b["height"] <= a["y"] + ABOVE
    )


def test_keys_read_the_arrows_of_a_plane_and_pick_one(goto: Open) -> None:
    page = goto(f"/vectors?text={BOOK}&special=1")
    plane = page.get_by_role("img", name=re.compile("13 arrows; arrow keys read them")).nth(3)
    plane.focus()
    spoken = page.locator(".spoken[aria-live=polite]")
    for key in ("ArrowLeft", "ArrowLeft", "ArrowLeft"):  # from the end: [SEP], the full stop, it
        plane.press(key)
    expect(spoken).to_have_text(re.compile(r"^it.* · Layer 4: \(-?\d\.\d{3}, -?\d\.\d{3}\)$"))
    expect(plane.locator(".arrow.reached")).to_have_attribute("data-index", "10")
    plane.press("Enter")
    follow(page, "pick=11(&|$)")
    expect(spoken).to_contain_text(", picked")
    expect(plane).to_be_focused()  # the planes are drawn anew, the keyboard stays
    plane.press("Escape")
    settle(page)
    expect(page).not_to_have_url(re.compile("pick="))


@pytest.mark.parametrize("width", [390, 1400])
def test_every_arrow_has_a_head_and_labels_do_not_overlap(goto: Open, width: int) -> None:
    page = goto(f"/vectors?text={BOOK}&special=1", width=width)
    expect(page.locator("figure")).to_have_count(6)
    expect(page.locator("figure .arrow")).to_have_count(6 * 13)
    heads = page.locator("figure .head").count() + page.locator("figure .dot").count()
    assert heads == 6 * 13
    box = box_of(page.locator("figure .head").first)
    assert min(box["width"], box["height"]) > 2
    for tile in page.locator("figure").all():
        labels = tile.locator("text.label").all()
        boxes = [found for label in labels if (found := label.bounding_box())]
        assert len(boxes) >= 6
        assert all(apart(a, b) for a, b in combinations(boxes, 2))


def test_of_sixty_tokens_the_longest_arrows_are_named_and_counted(goto: Open) -> None:
    words = " ".join(f"{a} {b}" for a in ["river", "bread", "stone"] for b in "abcdefghij")
    page = goto(f"/vectors?text={quote(words)}")
    expect(page.locator("figure text.count")).to_have_count(6)
    tiles = page.locator("figure").all()
    for tile in tiles:
        boxes = [box_of(label) for label in tile.locator("text.label").all()]
        assert 6 <= len(boxes) <= 12
        assert all(apart(a, b) for a, b in combinations(boxes, 2))
        expect(tile.locator("text.count")).to_have_text(f"{len(boxes)} of 60 named")
        expect(tile.locator(".arrow.quiet")).to_have_count(60 - 12)
    quiet = tiles[0].locator(".arrow.quiet").last
    quiet.locator(".hit").hover(force=True)
    expect(page.locator(".tip")).to_contain_text("Layer 1")
    quiet.locator(".hit").click(force=True)
    settle(page)
    expect(page.locator(".arrow.faded")).to_have_count(6 * 59)
    expect(page.locator(".arrow.quiet")).to_have_count(0)


def test_a_clicked_arrow_stays_coloured_in_every_layer(goto: Open) -> None:
    page = goto(f"/vectors?text={BOOK}")
    it = page.locator('figure:nth-of-type(3) .arrow[data-index="9"] .hit')
    it.click(force=True)
    settle(page)
    expect(page.locator(".arrow.faded")).to_have_count(6 * 10)
    expect(page.locator('.arrow[data-index="9"]:not(.faded)')).to_have_count(6)
    follow(page, r"pick=11")
    page.locator('figure:nth-of-type(4) .arrow[data-index="9"] .hit').hover(force=True)
    expect(page.locator(".tip")).to_contain_text("it · Layer 4")


def test_the_animation_plays_and_a_picture_of_one_layer_names_its_components(goto: Open) -> None:
    page = goto(f"/vectors?text={BOOK}&show=play")
    expect(page.locator(".slider-label").first).to_contain_text("layer 1")
    page.locator(".updatemenu-button", has_text="Play").click()
    expect(page.locator(".slider-label").first).to_contain_text("layer 6")
    page.get_by_role("radio", name="one layer").click()
    follow(page, "show=one")
    expect(page.locator(".js-plotly-plot")).to_contain_text("of the variance")
    assert page.locator('.modebar-btn[data-title*="ownload"]').count() == 1


def test_the_projection_page_begins_with_it_on_book(goto: Open) -> None:
    page = goto(f"/projection?text={BOOK}")
    expect(page.get_by_text("Only in layer 6 do both attend alike")).to_be_visible()
    expect(page.locator("figure .arrow")).to_have_count(6 * 3)
    expect(page.locator("figure .square").first).to_be_attached()
    expect(page.locator("figcaption").first).to_contain_text(re.compile(r"[+-]0\.\d\d"))
    labels = page.locator(".st-key-projection_planes svg text.label")
    for words in ("it", "book", "it along book"):
        expect(labels.filter(has_text=re.compile(f"^{words}$"))).to_have_count(6)


def test_a_clicked_square_opens_that_heads_table(goto: Open) -> None:
    page = goto(f"/projection?text={BOOK}")
    click_head(page, "projection_heads", 4, 2)
    follow(page, "/heatmap")
    expect(page.get_by_role("grid")).to_have_attribute("aria-label", re.compile("of L4 H2,"))
    page.get_by_role("link", name="Projection").first.click()
    settle(page)
    expect(page.get_by_text("Only in layer 6 do both attend alike")).to_be_visible()
    assert "/projection" in page.url


def test_several_sentences_are_compared_and_a_wrong_line_is_reported(goto: Open) -> None:
    lines = quote("The [dog] barked because [it] was hungry.\nno marks here")
    page = goto(f"/projection?text={BOOK}&lines={lines}")
    expect(page.get_by_test_id("stAlert")).to_contain_text("mark exactly two words")
    expect(page.locator(".st-key-projection_sentences")).to_contain_text("1. it on dog")
    expect(page.locator(".st-key-projection_sentences")).to_contain_text("mean")
