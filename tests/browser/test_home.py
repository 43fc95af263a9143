"""Home in the browser: its picture answers by itself, whatever the text and the screen."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from core.analysis.layer_payload import LayerPayload
from core.analysis.strongest_link import find_link
from core.components.arcs import ArcsView, pack_arcs
from core.components.export import standalone_page
from core.model import load, trace_text
from tests.browser.conftest import HOSTILE, TEXT, Open, box_of, follow
from tests.looks.visit import wait_until_drawn

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

BOOK = quote(TEXT)
LONG = (  # 66 tokens besides [CLS] and [SEP]
    "The committee that had promised the delegation its support withdrew it, because the minister"
    " who wrote the letter said that he could not defend the plan, and although the newspapers"
    " praised her colleagues for the courage they showed, nobody in the old harbour town believed"
    " that the promise would be kept, so they packed their books and left before it rained."
)
PICTURE = ".st-key-home_arcs"
# What a press changes before the script that made it goes on: no server can have had a part in it.
AT_ONCE = """(node, type) => {
  const text = (name) => node.getRootNode().querySelector(name).innerText
  const before = text(".cards")
  node.dispatchEvent(new PointerEvent(type, { bubbles: true }))
  return { before, after: text(".cards"), claim: text(".claim") }
}"""


def word(page: Page, text: str) -> Locator:
    return page.locator(f"{PICTURE} .word").filter(has_text=text).first


def square(page: Page, name: str) -> Locator:
    """The square of a head in the map: "L2 H5"."""
    return page.locator(f'{PICTURE} .square[aria-label^="{name}:"]')


def claim(page: Page) -> Locator:
    return page.locator(f"{PICTURE} .claim")


@pytest.mark.parametrize(("width", "height", "below"), [(1280, 720, 190), (390, 844, 270)])
def test_the_picture_begins_high_and_its_cards_stand_beside_or_below_each_other(
    goto: Open, width: int, height: int, below: int
) -> None:
    page = goto(f"/home?text={BOOK}", width=width, height=height)
    cards = page.locator(f"{PICTURE} .card")
    expect(cards).to_have_count(4)
    assert box_of(page.locator(PICTURE))["y"] < below
    boxes = [box_of(card) for card in cards.all()]
    if width > height:
        assert len({round(box["y"]) for box in boxes}) == 1
        assert all(a["x"] + a["width"] <= b["x"] for a, b in pairwise(boxes))
        assert boxes[0]["y"] + boxes[0]["height"] <= height
    else:
        assert all(a["y"] + a["height"] <= b["y"] for a, b in pairwise(boxes))
    expect(cards.nth(2)).to_contain_text("divided by √32")
    expect(cards.nth(3).locator(".weight.key")).to_have_text("book6.300.93")
    assert page.locator(".js-plotly-plot").count() == 0  # Plotly's script is as large as all else


def test_words_and_squares_answer_without_the_server(goto: Open) -> None:
    page = goto(f"/home?text={BOOK}", width=1280, height=720)
    expect(claim(page)).to_contain_text("Layer 4, head 2 gives 0.93 of the attention of it to book")
    hovered = word(page, "enjoyed").evaluate(AT_ONCE, "pointerover")
    assert hovered["claim"] == "enjoyed attends to book 0.39 · it 0.31 · this 0.23"
    assert hovered["before"] == hovered["after"]
    expect(word(page, "this").locator(".share")).to_have_text("0.23")
    pinned = word(page, "enjoyed").evaluate(AT_ONCE, "click")
    assert "query of it" in pinned["before"]
    assert "query of enjoyed" in pinned["after"]
    assert "Softmax turns the scores of “enjoyed” into shares" in pinned["after"]
    expect(page.locator(f"{PICTURE} .map-words")).to_have_text(
        "Attention of “enjoyed” to “book” in each head"
    )
    other = square(page, "L1 H1").evaluate(AT_ONCE, "click")
    assert "In L4 H2 each token" in other["before"]
    assert "In L1 H1 each token" in other["after"]
    assert "query of enjoyed" in other["after"]  # the pair stays, in the other head
    expect(page.locator(f"{PICTURE} .square.chosen")).to_have_attribute("aria-selected", "true")
    word(page, "enjoyed").press("Escape")
    page.mouse.move(5, 5)
    expect(page.locator(f"{PICTURE} .map-words")).to_contain_text("Strongest link between two")
    expect(claim(page)).to_contain_text("Layer 1, head 1 gives")


def test_what_is_picked_reaches_the_link_which_brings_it_back(goto: Open) -> None:
    page = goto(f"/home?text={BOOK}", width=1280, height=720)
    square(page, "L2 H5").click()
    word(page, "enjoyed").click()
    follow(page, r"/home\?.*layer=2.*head=5.*cell=10")
    page.reload()
    expect(word(page, "enjoyed")).to_have_attribute("aria-pressed", "true")
    expect(page.locator(f"{PICTURE} .cards")).to_contain_text("In L2 H5 each token")


def test_keys_reach_every_word_and_every_head(goto: Open) -> None:
    page = goto(f"/home?text={BOOK}", width=1280, height=720)
    first = page.locator(f"{PICTURE} .word").first
    expect(first).to_have_attribute("tabindex", "0")
    first.focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    expect(claim(page)).to_contain_text("book attends to")
    page.keyboard.press("Enter")
    expect(word(page, "book")).to_have_attribute("aria-pressed", "true")
    expect(page.locator(f"{PICTURE} .cards")).to_contain_text("query of book")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.locator(f"{PICTURE} .cards")).to_contain_text("In L3 H3 each token")
    page.keyboard.press("Escape")
    expect(word(page, "book")).to_have_attribute("aria-pressed", "false")


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (390, 844)])
@pytest.mark.parametrize("text", [TEXT, LONG])
def test_words_lie_flat_and_none_is_cut_or_moves_away_from_the_pointer(
    goto: Open, text: str, width: int, height: int
) -> None:
    page = goto(f"/home?text={quote(text)}", width=width, height=height)
    words = page.locator(f"{PICTURE} .word")
    expect(words).to_have_count(13 if text == TEXT else 68)
    field = box_of(page.locator(f"{PICTURE} .field"))
    before = [box_of(each) for each in words.all()]
    for box in before:
        assert field["x"] <= box["x"]
        assert box["x"] + box["width"] <= field["x"] + field["width"] + 1
        assert box["y"] >= field["y"]
        assert box["y"] + box["height"] <= field["y"] + field["height"]
    uncut = "nodes => nodes.every(each => each.scrollWidth <= each.clientWidth + 1)"
    assert page.locator(f"{PICTURE} .word .text").evaluate_all(uncut)
    size = words.first.evaluate("each => getComputedStyle(each).fontSize")
    assert size == "18px"
    if (width, text) == (1280, LONG):  # all lines are in view
        reel = page.locator(f"{PICTURE} .reel")
        assert reel.evaluate("each => each.scrollHeight - each.clientHeight") <= 1
    word(page, "books" if text == LONG else "enjoyed").click()
    expect(page.locator(f"{PICTURE} .word.query")).to_have_count(1)
    top = box_of(page.locator(f"{PICTURE} .field"))["y"] - field["y"]  # it may have scrolled
    after = [box_of(each) for each in words.all()]
    assert [round(box["x"]) for box in before] == [round(box["x"]) for box in after]
    assert [round(box["y"] + top) for box in before] == [round(box["y"]) for box in after]


def page_of(text: str) -> str:
    """The picture as a file."""
    trace = trace_text(load("bundled/minilm"), text)
    found = find_link(trace)
    assert found is not None
    view = ArcsView({"layer": "4", "head": 2, "cell": []}, 1, found, "")
    layers = {layer: LayerPayload.of(trace, layer) for layer in range(6)}
    return standalone_page("arcs", pack_arcs(trace, layers, view), "Title", "A note")


@pytest.mark.parametrize("text", [TEXT, "שלום לכם מה שלומכם היום"])
def test_the_last_word_never_stands_alone_in_its_line(open_file: Open, text: str) -> None:
    page = open_file(page_of(text))
    line = page.locator(".words").element_handle()
    tops = "line => [...line.children].map((word) => word.offsetTop)"
    lines = set()
    for width in range(1400, 380, -20):
        page.set_viewport_size({"width": width, "height": 800})
        wait_until_drawn(page)
        page.wait_for_function(f"line => new Set(({tops})(line).slice(-2)).size === 1", arg=line)
        lines.add(len(set(line.evaluate(tops))))
    assert len(lines) > 1


def test_a_text_from_right_to_left_runs_so(open_file: Open) -> None:
    words = open_file(page_of("مرحبا بالعالم")).locator(".word")
    expect(words.first).to_have_text("[CLS]")
    assert box_of(words.nth(0))["x"] > box_of(words.nth(1))["x"] > box_of(words.nth(2))["x"]
    words.nth(1).press("ArrowLeft")
    expect(words.nth(2)).to_be_focused()


def test_hostile_words_stay_words_on_a_phone(goto: Open) -> None:
    page = goto(f"/home?text={HOSTILE}", width=390)
    expect(page.locator(f"{PICTURE} .card")).to_have_count(4)
    assert page.locator(f"{PICTURE} img").count() == 0
    for selector in (".chip", ".weight", ".vector", ".word", ".square"):
        inside = "nodes => nodes.every(each => each.getBoundingClientRect().right <= 390)"
        assert page.locator(f"{PICTURE} {selector}").evaluate_all(inside), selector
    for chip in page.locator(".st-key-home_chips .chip").all()[:8]:
        assert chip.evaluate("node => node.scrollWidth <= node.clientWidth + 1")


def test_a_layer_that_is_not_in_the_browser_is_fetched_when_its_head_is_picked(goto: Open) -> None:
    page = goto(f"/home?text={quote('The water was high. ' * 60)}", width=1280)
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
