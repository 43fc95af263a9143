"""The head view in the browser: hover, click, keys, filters, links, long texts."""

from __future__ import annotations

from urllib.parse import quote

import numpy as np
from playwright.sync_api import Locator, Page, expect

from core.analysis.strongest_link import FoundLink
from tests.browser import views
from tests.browser.conftest import TEXT, Open, box_of, follow, pixels, undo_by_back
from tests.browser.views import BOOK, BOOK_AT, IT, NAMES, WEIGHTS

LONG = quote("the cat sat on a mat and looked at the dog " * 30)


def drawn(page: Page, layer: int) -> None:
    """Wait until every line of the layer is drawn."""
    expect(page.locator("canvas.sheet")).to_have_attribute("data-drawn", str(layer))


def token(page: Page, side: str, row: int) -> Locator:
    return page.locator(f".column.{side} .token").nth(row)


def ink(page: Page) -> int:
    """How many pixels of the picture are not empty."""
    return int(np.count_nonzero(pixels(page.locator("canvas.sheet"))[..., 3]))


def test_a_visitor_points_pins_and_changes_heads_layers_and_weights(goto: Open) -> None:
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
    page.mouse.move(5, 5)
    expect(sentence).to_contain_text("Point at a token")

    # It stays when it is pressed, also in the link.
    undo_by_back(page, it, f"from={IT + 1}(&|$)")
    expect(sentence).to_contain_text("pinned; press again")
    spoken = page.get_by_role("table", name="What it attends to").get_by_role("row")
    expect(spoken).to_have_count(1 + 13)
    expect(spoken.nth(1)).to_have_text(f"{NAMES[best[0]]}{WEIGHTS[IT].max():.3f}")
    book.hover()
    expect(tip).to_contain_text("it → book")
    expect(tip).to_contain_text(f"{WEIGHTS[IT, BOOK_AT]:.5f}")
    it.focus()
    page.keyboard.press("Escape")
    expect(sentence).not_to_contain_text("pinned")

    page.get_by_role("button", name="All", exact=True).click()
    expect(on).to_have_count(12)
    follow(page, r"^(?!.*heads=)")
    swatches.nth(1).dblclick()
    follow(page, "heads=2(&|$)")
    swatches.nth(4).click()
    follow(page, "heads=2(,|%2C)5(&|$)")

    # Layers follow the arrow keys without an empty picture.
    sheet = page.locator("canvas.sheet").element_handle()
    for key, layer in (("Down", 5), ("Up", 4), ("Up", 3)):
        page.keyboard.press(f"Arrow{key}")
        drawn(page, layer)
    follow(page, "layer=3(&|$)")
    assert sheet.evaluate("sheet => sheet.isConnected")

    page.locator(".more").click()
    page.get_by_role("switch", name="Hide special tokens").check(force=True)
    expect(page.locator(".column.keys .token")).to_have_count(11)
    page.get_by_role("radiogroup", name="Weights").get_by_text("× |value|").click()
    follow(page, "weigh=value")


def test_a_long_text_scrolls_beside_a_map_and_gets_layers_as_it_needs_them(goto: Open) -> None:
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


def test_a_long_text_opens_with_the_named_pair_or_the_held_token_in_view(open_file: Open) -> None:
    trace = views.trace_of("the cat sat on a mat and " * 30)
    found = FoundLink(1, 2, query=121, key=118, weight=0.5, mean=0.1, joins_words=True)
    page = open_file(views.head_view_file(trace, found, pinned=[3]))
    expect(token(page, "queries", 2)).to_be_in_viewport()
    page = open_file(views.head_view_file(trace, found))
    expect(page.locator(".token.found")).to_have_count(2)
    for node in page.locator(".token.found").all():
        expect(node).to_be_in_viewport()


def test_two_sentences_have_filters_in_sight_and_a_boundary(open_file: Open) -> None:
    page = open_file(
        views.head_view_file(views.trace_of("leaves fall in autumn [SEP] autumn is colorful"))
    )
    filters = page.get_by_role("radiogroup", name="Sentences")
    expect(filters).to_be_visible()
    expect(page.locator(".bound").first).to_be_visible()
    queries = page.locator(".column.queries .token")
    expect(queries).to_have_count(10)
    filters.get_by_text("A→B").click()
    expect(queries).to_have_text(["[CLS]", "leaves", "fall", "in", "autumn", "[SEP]"])
    expect(page.locator(".column.keys .token").first).to_have_text("autumn₂")
    views.await_report(page, pairs="ab")
    filters.get_by_text("All").click()
    expect(queries).to_have_count(10)


def test_lines_follow_the_width_and_a_phone_shows_both_columns(open_file: Open) -> None:
    page = open_file(views.head_view_file(BOOK, layer="4", heads=[2]), width=1600, scheme="dark")
    sheet = page.locator("canvas.sheet")
    for width in (900, 390):
        drawn(page, 4)
        wide = box_of(sheet)["width"]
        page.set_viewport_size({"width": width, "height": 900})
        expect(sheet).not_to_have_css("width", f"{wide}px")
        drawn(page, 4)
        ends, heading = box_of(sheet), box_of(page.locator(".heading .query"))
        columns = np.atleast_1d(pixels(sheet)[..., 3].any(axis=0))
        inked = int(columns.argmax()) * ends["width"] / len(columns)
        assert -1 <= ends["x"] + inked - heading["x"] - heading["width"] < 12
    for side in ("queries", "keys"):
        box = box_of(token(page, side, BOOK_AT))
        assert 0 <= box["x"] < box["x"] + box["width"] <= 390
    it, sentence = token(page, "queries", IT), page.locator(".sentence")
    it.scroll_into_view_if_needed()
    before = box_of(it)
    it.click()
    expect(sentence).to_contain_text("pinned")
    assert box_of(it) == before  # it does not move under the finger that points at it
