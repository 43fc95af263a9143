"""Home in the browser: its picture answers by itself, whatever the text and the screen."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.conftest import TEXT, Open, box_of, follow, reload, settle, undo_by_back
from tests.browser.views import arcs_file, await_report, first_trace, trace_of
from tests.looks.visit import wait_until_drawn

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

LONG = (  # 66 tokens besides [CLS] and [SEP]
    "The committee that had promised the delegation its support withdrew it , because the minister"
    " who wrote the letter said that he could not defend the plan , and although the newspapers"
    " praised her colleagues for the courage they showed , nobody in the old harbour town believed"
    " that the promise would be kept , so they packed their books and left before it rained ."
)
PICTURE = ".st-key-home_arcs"
# What a press changes before the script that made it goes on: no server can have had a part in it.
AT_ONCE = """(node, type) => {
  const text = (name) => node.getRootNode().querySelector(name).innerText
  const before = text(".cards")
  node.dispatchEvent(new PointerEvent(type, { bubbles: true }))
  return { before, after: text(".cards"), claim: text(".claim") }
}"""
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


def test_the_picture_begins_high_its_cards_stand_in_order_and_what_is_picked_is_in_the_link(
    goto: Open,
) -> None:
    page = goto(f"/home?text={quote(TEXT)}", width=390, height=844)
    cards = page.locator(f"{PICTURE} .card")
    expect(cards).to_have_count(4)
    expect(cards.nth(2)).to_contain_text("divided by √32")
    expect(cards.nth(3).locator(".weight.key")).to_have_text("book6.300.93")
    assert page.locator(".js-plotly-plot").count() == 0  # Plotly's script is as large as all else
    assert box_of(page.locator(PICTURE))["y"] < 270
    boxes = [box_of(card) for card in cards.all()]
    assert all(a["y"] + a["height"] <= b["y"] for a, b in pairwise(boxes))
    page.set_viewport_size({"width": 1280, "height": 720})
    settle(page)
    wait_until_drawn(page)
    assert box_of(page.locator(PICTURE))["y"] < 190
    boxes = [box_of(card) for card in cards.all()]
    assert len({round(box["y"]) for box in boxes}) == 1
    assert all(a["x"] + a["width"] <= b["x"] for a, b in pairwise(boxes))
    assert boxes[0]["y"] + boxes[0]["height"] <= 720

    square(page, "L2 H5").click()
    follow(page, "layer=2.*head=5")
    undo_by_back(page, word(page, "enjoyed"), "cell=10%2C")
    reload(page)
    expect(word(page, "enjoyed")).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".cards")).to_contain_text("In L2 H5 each token")


def test_a_layer_that_is_not_in_the_browser_is_fetched_when_its_head_is_picked(goto: Open) -> None:
    page = goto(f"/home?text={quote('The water was high. ' * 30)}", width=1280)
    word(page, "high").click()
    away = page.locator(f"{PICTURE} .square.away")
    expect(away).to_have_count(60)
    name = square(page, "L5 H7")
    expect(name).to_have_attribute(
        "aria-label", "L5 H7: not in the browser yet: press to fetch this layer"
    )
    name.click()
    expect(page.locator(f"{PICTURE} .cards")).to_contain_text("In L5 H7 each token")
    expect(away).to_have_count(48)  # the first layer stays
    follow(page, "layer=5.*head=7")


def test_words_and_squares_answer_without_the_server(open_file: Open) -> None:
    page = open_file(arcs_file(first_trace()), width=1280, height=720)
    expect(claim(page)).to_contain_text("Layer 4, head 2 gives 0.93 of the attention of it to book")
    hovered = word(page, "enjoyed").evaluate(AT_ONCE, "pointermove")
    assert hovered["claim"] == "enjoyed attends to book 0.39 · it 0.31 · this 0.23"
    assert hovered["before"] == hovered["after"]
    expect(word(page, "this").locator(".share")).to_have_text("0.23")
    pinned = word(page, "enjoyed").evaluate(AT_ONCE, "click")
    assert "query of it" in pinned["before"]
    assert "query of enjoyed" in pinned["after"]
    assert "Softmax turns the scores of “enjoyed” into shares" in pinned["after"]
    names = page.locator(".map-words")
    expect(names).to_have_text("Attention of “enjoyed” to “book” in each head")
    other = square(page, "L1 H1").evaluate(AT_ONCE, "click")
    assert "In L4 H2 each token" in other["before"]
    assert "In L1 H1 each token" in other["after"]
    assert "query of enjoyed" in other["after"]  # the pair stays, in the other head
    expect(page.locator(".square.chosen")).to_have_attribute("aria-selected", "true")
    await_report(page, layer="1", head=1, cell=[10, 5])
    word(page, "enjoyed").press("Escape")
    page.mouse.move(5, 5)
    expect(names).to_contain_text("Strongest link between two")
    expect(claim(page)).to_contain_text("Layer 1, head 1 gives")


def test_keys_reach_every_word_and_every_head(open_file: Open) -> None:
    page = open_file(arcs_file(first_trace()), width=1280, height=720)
    first, cards = page.locator(".word").first, page.locator(".cards")
    expect(first).to_have_attribute("tabindex", "0")
    first.focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    expect(claim(page)).to_contain_text("book attends to")
    page.keyboard.press("Enter")
    expect(word(page, "book")).to_have_attribute("aria-pressed", "true")
    expect(cards).to_contain_text("query of book")
    for key in ("Tab", "ArrowUp", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    expect(cards).to_contain_text("In L3 H3 each token")
    page.keyboard.press("Escape")
    expect(word(page, "book")).to_have_attribute("aria-pressed", "false")
    await_report(page, layer="3", head=3, cell=[])


@pytest.mark.parametrize(("text", "kept"), [(TEXT, "enjoyed"), (LONG, "books")])
def test_words_lie_flat_and_none_is_cut_or_moves_away_from_the_pointer(
    open_file: Open, text: str, kept: str
) -> None:
    page = open_file(arcs_file(first_trace() if text == TEXT else trace_of(text)))
    words, field = page.locator(".word"), page.locator(".field")
    expect(words).to_have_count(13 if text == TEXT else 68)
    for width, height in ((1044, 720), (409, 844)):  # it is as wide as at 1280 and 390 in the app
        page.set_viewport_size({"width": width, "height": height})
        wait_until_drawn(page)
        around, before = box_of(field), words.evaluate_all(BOXES)
        for left, top, right, bottom in before:
            assert around["x"] <= left < right <= around["x"] + around["width"] + 1
            assert around["y"] <= top < bottom <= around["y"] + around["height"]
        uncut = "nodes => nodes.every(each => each.scrollWidth <= each.clientWidth + 1)"
        assert page.locator(".word .text").evaluate_all(uncut)
        assert words.first.evaluate("each => getComputedStyle(each).fontSize") == "18px"
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
    page = open_file(arcs_file(first_trace() if text == TEXT else trace_of(" ".join(text))))
    wait_until_drawn(page)
    counts: list[list[int]] = page.evaluate(LINES)
    assert len({lines for lines, _ in counts}) > 1
    assert {of_the_last_two for _, of_the_last_two in counts} == {1}


def test_a_text_from_right_to_left_runs_so(open_file: Open) -> None:
    words = open_file(arcs_file(trace_of("مرحبا بالعالم يا صديقي"))).locator(".word")
    expect(words.first).to_have_text("[CLS]")
    assert box_of(words.nth(0))["x"] > box_of(words.nth(1))["x"] > box_of(words.nth(2))["x"]
    words.nth(1).press("ArrowLeft")
    expect(words.nth(2)).to_be_focused()
