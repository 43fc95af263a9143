"""Home in the browser: its picture answers by itself, whatever the text and the screen."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.conftest import TEXT, Open, box_of, follow, undo_by_back
from tests.browser.views import BOOK, arcs_file, await_report, trace_of
from tests.looks.visit import wait_until_drawn

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

LONG = "The board that promised its help withdrew it " * 8
PICTURE = ".st-key-home_arcs"
BOXES = """nodes => nodes.map((node) => {
  const { left, top, right, bottom } = node.getBoundingClientRect()
  return [left, top, right, bottom]
})"""
# How many lines all words stand in, and the last two of them, at every width of the view.
LINES = """async () => {
  const view = document.getElementById("view")
  const line = view.shadowRoot.querySelector(".words")
  const counts = []
  for (let width = 1352; width > 332; width -= 20) {
    view.style.width = `${width}px`
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)))
    const tops = [...line.children].map((word) => word.offsetTop)
    counts.push([new Set(tops).size, new Set(tops.slice(-2)).size])
  }
  return counts
}"""


def word(page: Page, text: str) -> Locator:
    return page.locator(".root .word").filter(has_text=text).first


def square(page: Page, name: str) -> Locator:
    """The square of a head in the map: "L2 H5"."""
    return page.locator(f'.square[aria-label^="{name}:"]')


def claim(page: Page) -> Locator:
    return page.locator(".root .claim")


def test_cards_stand_in_order_and_what_is_picked_is_in_the_link(goto: Open) -> None:
    page = goto(f"/home?text={quote(TEXT)}", width=1280, height=720)
    cards = page.locator(f"{PICTURE} .card")
    expect(cards).to_have_count(4)
    expect(cards.nth(2)).to_contain_text("divided by √32")
    expect(cards.nth(3).locator(".weight.key")).to_have_text("book6.300.93")
    assert page.locator(".js-plotly-plot").count() == 0  # Plotly's script is as large as all else
    wait_until_drawn(page)
    boxes = [box_of(card) for card in cards.all()]
    assert len({round(box["y"]) for box in boxes}) == 1
    assert all(a["x"] + a["width"] <= b["x"] for a, b in pairwise(boxes))
    assert boxes[0]["y"] + boxes[0]["height"] <= 720

    square(page, "L2 H5").click()
    follow(page, "layer=2.*head=5")
    undo_by_back(page, word(page, "enjoyed"), "cell=10%2C")
    expect(page.locator(".cards")).to_contain_text("In L2 H5 each token")


def test_a_layer_that_is_not_in_the_browser_is_fetched_when_its_head_is_picked(goto: Open) -> None:
    page = goto(f"/home?text={quote('The water was high. ' * 30)}", width=1280)
    word(page, "high").click()
    away = page.locator(f"{PICTURE} .square.away")
    expect(away).to_have_count(60)
    square(page, "L5 H7").click()
    expect(page.locator(f"{PICTURE} .cards")).to_contain_text("In L5 H7 each token")
    expect(away).to_have_count(48)  # the first layer stays
    follow(page, "layer=5.*head=7")


def test_words_and_squares_answer_without_the_server(open_file: Open) -> None:
    page = open_file(arcs_file(BOOK), width=1280, height=720)
    cards, names = page.locator(".cards"), page.locator(".map-words")
    expect(claim(page)).to_contain_text("Layer 4, head 2 gives 0.93 of the attention of it to book")
    before = cards.inner_text()
    word(page, "enjoyed").hover()
    expect(claim(page)).to_have_text("enjoyed attends to book 0.39 · it 0.31 · this 0.23")
    expect(word(page, "this").locator(".share")).to_have_text("0.23")
    assert cards.inner_text() == before
    assert "query of it" in before
    word(page, "enjoyed").click()
    expect(cards).to_contain_text("query of enjoyed")
    expect(names).to_have_text("Attention of “enjoyed” to “book” in each head")
    square(page, "L1 H1").click()
    expect(cards).to_contain_text("In L1 H1 each token")
    expect(cards).to_contain_text("query of enjoyed")  # the pair stays, in the other head
    expect(page.locator(".square.chosen")).to_have_attribute("aria-selected", "true")
    await_report(page, layer="1", head=1, cell=[10, 5])


@pytest.mark.parametrize(("text", "kept"), [(TEXT, "enjoyed"), (LONG, "help")])
def test_words_lie_flat_and_none_is_cut_or_moves_away(
    open_file: Open, text: str, kept: str
) -> None:
    page = open_file(arcs_file(BOOK if text == TEXT else trace_of(text)))
    words, field = page.locator(".word"), page.locator(".field")
    expect(words).to_have_count(13 if text == TEXT else 66)
    for width, height in ((1044, 720), (409, 844)):  # it is as wide as at 1280 and 390 in the app
        page.set_viewport_size({"width": width, "height": height})
        wait_until_drawn(page)
        around, before = box_of(field), words.evaluate_all(BOXES)
        for left, top, right, bottom in before:
            assert around["x"] <= left < right <= around["x"] + around["width"] + 1
            assert around["y"] <= top < bottom <= around["y"] + around["height"]
        uncut = "nodes => nodes.every(each => each.scrollWidth <= each.clientWidth + 1)"
        assert page.locator(".word .text").evaluate_all(uncut)
        if width > height:  # all lines are in view
            reel = page.locator(".reel")
            assert reel.evaluate("each => each.scrollHeight - each.clientHeight") <= 1
        word(page, kept).click()
        expect(page.locator(".word.query")).to_have_count(1)
        scrolled = box_of(field)["y"] - around["y"]
        moved = np.subtract(words.evaluate_all(BOXES), before)[:, :2] - [0, scrolled]
        assert np.abs(moved).max() < 0.5
        page.keyboard.press("Escape")


@pytest.mark.parametrize("text", [TEXT, "שלום לכם מה שלומכם היום"])
def test_the_last_word_never_stands_alone_in_its_line(open_file: Open, text: str) -> None:
    page = open_file(arcs_file(BOOK if text == TEXT else trace_of(" ".join(text))))
    wait_until_drawn(page)
    counts: list[list[int]] = page.evaluate(LINES)
    assert len({lines for lines, _ in counts}) > 1
    assert {of_the_last_two for _, of_the_last_two in counts} == {1}


def test_a_text_from_right_to_left_runs_so(open_file: Open) -> None:
    words = open_file(arcs_file(trace_of("مرحبا بالعالم يا صديقي"))).locator(".word")
    assert box_of(words.nth(0))["x"] > box_of(words.nth(1))["x"] > box_of(words.nth(2))["x"]
    words.nth(1).press("ArrowLeft")
    expect(words.nth(2)).to_be_focused()
