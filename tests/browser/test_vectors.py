"""Arrows in the browser: heads, labels, picks, and the way to a head's table."""

from __future__ import annotations

import re
from itertools import combinations
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import TEXT, Open, box_of, click_head, follow, settle
from tests.looks.visit import words_in_view

if TYPE_CHECKING:
    from playwright.sync_api import FloatRect, Locator, Page

BOOK = quote(TEXT)
LIKE = (
    "Only in layer 6 do it and book attend to the same words: cosine 0.73 in full space (layer 6)."
    " Planes keep 71 % of the variance."
)


# A text's box reaches beyond its letters, in pixels: the halo of 1.5 around each of the two texts
# that meet, and 3 more above and below the letters.
BESIDE, ABOVE = 4, 6


def answer_of(page: Page) -> Locator:
    return page.locator(".st-key-page_title p:has(strong)")


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
    for _ in range(4):  # from the end: [SEP], the full stop, it, enjoyed
        plane.press("ArrowLeft")
    expect(spoken).to_have_text(re.compile(r"^enjoyed · Layer 4: \(-?\d\.\d{3}, -?\d\.\d{3}\)$"))
    expect(plane.locator(".arrow.reached")).to_have_attribute("data-index", "9")
    plane.press("Enter")
    follow(page, "pick=10(&|$)")
    expect(spoken).to_contain_text(", held")
    expect(plane).to_be_focused()  # the planes are drawn anew, the keyboard stays
    plane.press("Escape")
    settle(page)
    expect(page).not_to_have_url(re.compile("pick="))


@pytest.mark.parametrize("width", [390, pytest.param(1400, marks=pytest.mark.nightly)])
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
        assert 6 <= len(boxes) <= 14
        assert all(apart(a, b) for a, b in combinations(boxes, 2))
        expect(tile.locator("text.count")).to_have_text(f"{len(boxes)} of 60 named")
        assert 60 - 14 <= tile.locator(".arrow.quiet").count() <= 60 - 12  # the pair may be long
    quiet = tiles[0].locator(".arrow.quiet").last
    quiet.locator(".hit").hover(force=True)
    expect(page.locator(".tip")).to_contain_text("Layer 1")
    quiet.locator(".hit").click(force=True)
    follow(page, "pick=")
    expect(page.locator(".arrow.held")).to_have_count(6)
    expect(page.locator("text.label.held")).to_have_count(6)  # the first to have a place


def held_in(page: Page) -> set[str]:
    """The labels of the arrows that are coloured, in all layers; all others are of one grey."""
    colours: list[tuple[str, bool]] = page.locator("figure .arrow").evaluate_all(
        "arrows => arrows.map((each) =>"
        " [getComputedStyle(each).color, each.classList.contains('held')])"
    )
    greys = {colour for colour, held in colours if not held}
    assert len(greys) == 1
    assert not greys & {colour for colour, held in colours if held}
    return set(page.locator("text.label.held").all_text_contents())


def test_all_arrows_are_grey_but_those_held_at_first_the_pair_that_home_names(goto: Open) -> None:
    page = goto(f"/vectors?text={BOOK}")
    expect(page.locator(".arrow.held")).to_have_count(2 * 6)
    assert held_in(page) == {"it", "book"}
    page.locator('figure:nth-of-type(4) .arrow[data-index="0"] .hit').hover(force=True)
    expect(page.locator(".tip")).to_contain_text("oh · Layer 4")
    expect(page.locator(".arrow.held")).to_have_count(6)  # while the pointer is there
    assert held_in(page) == {"oh"}
    page.mouse.move(2, 2)
    expect(page.locator(".arrow.held")).to_have_count(2 * 6)
    page.locator('figure:nth-of-type(3) .arrow[data-index="9"] .hit').click(force=True)
    follow(page, r"pick=11(&|$)")
    page.mouse.move(2, 2)
    expect(page.locator(".arrow.held")).to_have_count(6)
    assert held_in(page) == {"it"}
    page.locator('figure:nth-of-type(6) .arrow[data-index="3"] .hit').click(
        force=True, modifiers=["Shift"]
    )
    follow(page, r"pick=4%2C11|pick=5%2C11|pick=11%2C5|pick=5,11")
    page.mouse.move(2, 2)
    assert held_in(page) == {"it", "book"}


def test_the_plane_of_one_layer_is_large(goto: Open) -> None:
    page = goto(f"/vectors?text={BOOK}")
    page.get_by_role("radio", name="one layer").click()
    follow(page, "show=one")
    expect(page.locator("figcaption")).to_have_text(re.compile(r"^Layer 4\d+\s% \+ \d+\s%$"))
    assert box_of(page.locator("figure"))["height"] > 450
    page.locator('.arrow[data-index="0"] .hit').click(force=True)
    follow(page, r"pick=2(&|$)")
    page.mouse.move(2, 2)
    assert held_in(page) == {"oh"}


def test_the_projection_page_begins_with_it_on_book(goto: Open) -> None:
    page = goto(f"/projection?text={BOOK}")
    expect(answer_of(page)).to_have_text(LIKE)
    expect(page.locator("figure .arrow")).to_have_count(6 * 3)
    expect(page.locator("figure .square").first).to_be_attached()
    expect(page.locator("figcaption").first).to_contain_text(re.compile(r"[+-]0\.\d\d"))
    labels = page.locator(".st-key-projection_planes svg text.label")
    for words in ("it", "book", "it along book"):
        expect(labels.filter(has_text=re.compile(f"^{words}$"))).to_have_count(6)


@pytest.mark.parametrize(
    ("part", "first", "badge", "detail"),
    [
        ("like", "Do it and book attend to the same words?", "Projection quality", "variance"),
        ("to", "Does it attend to book?", "23 of 72 heads above uniform", "With uniform attention"),
    ],
)
def test_the_panel_of_a_part_comes_first_with_an_answer_that_a_phone_shows_too(
    goto: Open, part: str, first: str, badge: str, detail: str
) -> None:
    """And behind one badge is how far the panel can be trusted."""
    page = goto(f"/projection?text={BOOK}&part={part}", width=390, height=844)
    expect(answer_of(page)).to_be_visible()
    titles = page.locator(".st-key-projection_layers .annotation-text")
    expect(titles).to_have_count(2)
    assert min(titles.all(), key=lambda title: box_of(title)["y"]).text_content() == first
    page.get_by_role("button", name=badge).click()
    expect(page.get_by_test_id("stPopoverBody")).to_contain_text(detail)
    page.keyboard.press("Escape")
    page.set_viewport_size({"width": 1280, "height": 720})
    settle(page)
    assert 20 < words_in_view(page) <= 60


def test_a_clicked_square_opens_that_heads_table(goto: Open) -> None:
    page = goto(f"/projection?text={BOOK}&part=to")
    click_head(page, "projection_heads", 4, 2)
    follow(page, "/heatmap")
    expect(page.get_by_role("grid")).to_have_attribute("aria-label", re.compile("of L4 H2,"))
