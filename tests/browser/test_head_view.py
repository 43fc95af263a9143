"""The head view in the browser: hover, click, keys, filters, links, long texts."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from core.analysis.strongest_link import FoundLink
from core.screens.head_view import take_report
from tests.browser.conftest import TEXT, Open, box_of, follow, reload, undo_by_back
from tests.browser.views import await_report, first_trace, head_view_file, told, trace_of

if TYPE_CHECKING:
    from playwright.sync_api import FloatRect

LONG = quote("the cat sat on a mat and looked at the dog " * 30)
IT, BOOK_AT = 10, 4  # positions from 0
WEIGHTS = first_trace().attention(3, 1)
NAMES = [token.display for token in first_trace().tokens]

# Red, green and blue of an element's background.
BACKGROUND = "node => getComputedStyle(node).backgroundColor.match(/[\\d.]+/g).map(Number)"


def drawn(page: Page, layer: int) -> None:
    """Wait until every line of the layer is drawn."""
    expect(page.locator("canvas.sheet")).to_have_attribute("data-drawn", str(layer))


def token(page: Page, side: str, row: int) -> Locator:
    return page.locator(f".column.{side} .token").nth(row)


def ink(page: Page) -> int:
    """How many pixels of the picture are not empty."""
    count: int = page.locator("canvas.sheet").evaluate(
        """(sheet) => sheet.getContext("2d").getImageData(0, 0, sheet.width, sheet.height).data
             .filter((value, i) => i % 4 === 3 && value > 0).length"""
    )
    return count


def test_a_first_visitor_points_pins_and_comes_back_and_changes_heads_layers_and_weights(
    goto: Open,
) -> None:
    page = goto(f"/head_view?text={quote(TEXT)}")
    swatches, on = page.locator(".swatch"), page.locator('.swatch[aria-pressed="true"]')
    sentence, tip = page.locator(".sentence"), page.locator(".tip")
    it, book = token(page, "queries", IT), token(page, "keys", BOOK_AT)

    # Only the head of Home is on, and its link is read.
    drawn(page, 4)
    expect(on).to_have_text(["2"])
    named = f"it → book {WEIGHTS[IT, BOOK_AT]:.3f} in H2: the pair shown on Home"
    expect(sentence).to_contain_text(named)
    expect(page.locator(".token.found")).to_have_text(["it", "book"])
    expect(page.locator(".count")).to_contain_text(" of 169 lines")

    # A token shows its exact weights while it is pointed at.
    everything, best = ink(page), np.argsort(-WEIGHTS[IT])
    it.hover()
    weights = [f"{NAMES[i]} {WEIGHTS[IT, i]:.3f}" for i in best[:3]]
    expect(sentence).to_have_text(f"it attends to {' · '.join(weights)}")
    drawn(page, 4)
    assert 0 < ink(page) < everything
    book.hover()
    expect(sentence).to_contain_text("book gets ")
    page.mouse.move(5, 5)
    expect(sentence).to_contain_text("Point at a token")
    drawn(page, 4)
    assert ink(page) == everything

    # It stays when it is pressed, also in the link.
    undo_by_back(page, it, f"from={IT + 1}(&|$)")
    expect(sentence).to_contain_text("pinned; press again")
    spoken = page.get_by_role("table", name="What it attends to").get_by_role("row")
    expect(spoken).to_have_count(1 + 13)
    expect(spoken.nth(1)).to_have_text(f"{NAMES[best[0]]}{WEIGHTS[IT].max():.3f}")
    book.hover()
    expect(tip).to_contain_text("it → book")
    expect(tip).to_contain_text(f"{WEIGHTS[IT, BOOK_AT]:.5f}")
    red, green, *_ = page.locator(".queries .token.active").evaluate(BACKGROUND)
    assert green > red  # the query's colour
    reload(page)
    expect(sentence).to_contain_text("it attends to book 0.93")
    expect(it).to_have_attribute("aria-pressed", "true")
    it.focus()
    page.keyboard.press("Escape")
    expect(sentence).not_to_contain_text("pinned")
    page.wait_for_url(lambda url: "from=" not in url or "from=&" in url or url.endswith("from="))
    book.hover()
    red, green, *_ = page.locator(".keys .token.active").evaluate(BACKGROUND)
    assert red > green  # the key's

    expect(swatches).to_have_count(12)
    page.get_by_role("button", name="All", exact=True).click()
    expect(on).to_have_count(12)
    follow(page, r"^(?!.*heads=)")
    swatches.nth(1).dblclick()
    follow(page, "heads=2(&|$)")
    expect(on).to_have_text(["2"])
    swatches.nth(4).click()
    follow(page, "heads=2(,|%2C)5(&|$)")
    page.locator(".more").click()
    page.get_by_role("button", name="Invert").click()
    expect(on).to_have_count(10)
    page.get_by_role("button", name="None").click()
    expect(sentence).to_contain_text("No head is on")
    expect(page.locator(".count")).to_contain_text("0 of 0 lines")
    swatches.nth(1).dblclick()
    expect(on).to_have_text(["2"])

    # Layers follow the arrow keys without an empty picture.
    page.evaluate(
        """() => {
          const sheet = [...document.querySelectorAll("*")]
            .map((host) => host.shadowRoot?.querySelector("canvas.sheet")).find(Boolean)
          window.sameSheet = () => sheet.isConnected
        }"""
    )
    for key, layer in (("Down", 5), ("Up", 4), ("Up", 3), ("Up", 2), ("Up", 1)):
        page.keyboard.press(f"Arrow{key}")
        drawn(page, layer)
    follow(page, "layer=1(&|$)")
    assert page.evaluate("window.sameSheet()")

    page.get_by_role("switch", name="Hide special tokens").check(force=True)
    expect(page.locator(".column.keys .token")).to_have_count(11)
    page.get_by_role("radiogroup", name="Weights").get_by_text("× |value|").click()
    follow(page, "weigh=value")
    token(page, "queries", IT - 1).hover()
    norms = np.linalg.norm(first_trace().values[0, 1], axis=-1)
    weighted = first_trace().attention(0, 1)[IT] * norms
    strongest = 1 + weighted[1:-1].argmax()
    expect(sentence).to_contain_text(f"{NAMES[strongest]} {weighted[strongest]:.3f}")


def test_a_long_text_scrolls_both_columns_beside_a_map_and_gets_layers_as_it_needs_them(
    goto: Open,
) -> None:
    page = goto(f"/head_view?text={LONG}&layer=2&heads=3")
    drawn(page, 2)
    box = box_of(page.locator("canvas.map"))
    before = [box_of(token(page, side, 100)) for side in ("queries", "keys")]
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] * 0.9)
    drawn(page, 2)
    after = [box_of(token(page, side, 100)) for side in ("queries", "keys")]
    moved = [b["y"] - a["y"] for b, a in zip(before, after, strict=True)]
    assert moved[0] == moved[1] > 500
    for layer in (3, 4):
        page.get_by_role("button", name="Next layer").click()
        drawn(page, layer)
    page.get_by_role("combobox", name="Layer").select_option("1")
    drawn(page, 1)
    follow(page, "layer=1(&|$)")


def test_the_keyboard_walks_the_tokens_and_says_their_weights(open_file: Open) -> None:
    page = open_file(head_view_file(first_trace(), layer="4", heads=[2]))
    drawn(page, 4)
    page.get_by_role("button", name="More", exact=True).last.focus()
    for _ in range(4):  # until it is the one token in the tab order
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.shadowRoot.activeElement?.matches('.token')"):
            break
    for key in ("End", "ArrowUp", "ArrowUp"):
        page.keyboard.press(key)
    focused = token(page, "queries", IT)
    expect(focused).to_be_focused()
    expect(focused).to_have_attribute("aria-label", "it, position 11, attends")
    expect(page.locator(".sentence[aria-live=polite]")).to_contain_text("it attends to book 0.93")
    page.keyboard.press("ArrowRight")
    expect(token(page, "keys", IT)).to_be_focused()
    expect(page.locator(".sentence")).to_contain_text("it gets ")
    page.keyboard.press("Enter")
    await_report(page, to=[IT + 1])


@pytest.mark.parametrize("pinned", [[], [3]])
def test_a_long_text_opens_with_the_named_pair_or_the_held_token_in_view(
    open_file: Open, pinned: list[int]
) -> None:
    trace = trace_of("the cat sat on a mat . " * 16 + "they went home . " * 8)
    found = FoundLink(1, 2, query=121, key=118, weight=0.5, mean=0.1, joins_words=True)
    page = open_file(head_view_file(trace, found, pinned))
    if pinned:
        expect(token(page, "queries", 2)).to_be_in_viewport()
        return
    scroller = box_of(page.locator(".scroller"))
    expect(page.locator(".token.found")).to_have_count(2)
    for node in page.locator(".token.found").all():
        box = box_of(node)
        assert scroller["y"] <= box["y"] < scroller["y"] + scroller["height"] - box["height"]


def test_two_sentences_have_filters_in_sight_and_a_boundary(
    open_file: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = open_file(head_view_file(trace_of("leaves fall in autumn [SEP] autumn is colorful")))
    filters = page.get_by_role("radiogroup", name="Sentences")
    expect(filters).to_be_visible()
    expect(page.locator(".bound").first).to_be_visible()
    queries = page.locator(".column.queries .token")
    expect(queries).to_have_count(10)
    filters.get_by_text("A→B").click()
    expect(queries).to_have_text(["[CLS]", "leaves", "fall", "in", "autumn", "[SEP]"])
    expect(page.locator(".column.keys .token").first).to_have_text("autumn₂")
    await_report(page, pairs="ab")
    monkeypatch.setattr("streamlit.session_state", picked := dict[str, object]())
    take_report(told(page)[-1])
    assert picked["pairs"] == "ab"
    filters.get_by_text("All").click()
    expect(queries).to_have_count(10)


def test_lines_follow_the_width_and_a_phone_shows_both_columns(open_file: Open) -> None:
    page = open_file(head_view_file(first_trace(), layer="4", heads=[2]), width=1600, scheme="dark")
    sheet = page.locator("canvas.sheet")
    for width in (900, 390):
        drawn(page, 4)
        wide = box_of(sheet)["width"]
        page.set_viewport_size({"width": width, "height": 900})
        expect(sheet).not_to_have_css("width", f"{wide}px")
        drawn(page, 4)
        assert -1 <= first_ink(sheet) - right_of(box_of(page.locator(".heading .query"))) < 12
    for side in ("queries", "keys"):
        box = box_of(token(page, side, BOOK_AT))
        assert 0 <= box["x"] < right_of(box) <= 390
    it, sentence = token(page, "queries", IT), page.locator(".sentence")
    it.scroll_into_view_if_needed()
    before = box_of(it)
    it.hover()
    expect(sentence).to_contain_text("it attends to book 0.93")
    assert box_of(it) == before  # it does not move under the finger that points at it
    it.click()
    expect(sentence).to_contain_text("pinned")
    assert box_of(it) == before


def first_ink(sheet: Locator) -> float:
    """Where the picture's first pixel that is not empty lies on the page."""
    first: float = sheet.evaluate(
        """(sheet) => {
          const pen = sheet.getContext("2d")
          const { data, width } = pen.getImageData(0, 0, sheet.width, sheet.height)
          let first = width
          for (let i = 3; i < data.length; i += 4)
            if (data[i] > 0) first = Math.min(first, ((i - 3) / 4) % width)
          return first * sheet.clientWidth / width + sheet.getBoundingClientRect().left
        }"""
    )
    return first


def right_of(box: FloatRect) -> float:
    return box["x"] + box["width"]
