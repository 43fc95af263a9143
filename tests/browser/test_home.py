"""Home in the browser: the claim's picture in the fold, its cards, and the head it opens."""

from __future__ import annotations

import re
from itertools import pairwise
from urllib.parse import quote

from playwright.sync_api import expect

from tests.browser.conftest import HOSTILE, TEXT, Open, box_of, follow

BOOK = quote(TEXT)


def test_the_cards_stand_in_a_row_inside_the_fold_and_open_the_head(goto: Open) -> None:
    page = goto(f"/home?text={BOOK}", width=1280, height=720)
    assert box_of(page.locator(".st-key-home_arcs")).get("y", 999) < 260
    cards = page.locator(".st-key-home_cards .card")
    expect(cards).to_have_count(4)
    boxes = [box_of(card) for card in cards.all()]
    assert len({round(box["y"]) for box in boxes}) == 1
    assert all(a["x"] + a["width"] <= b["x"] for a, b in pairwise(boxes))
    assert boxes[0]["y"] + boxes[0]["height"] <= 720
    expect(cards.nth(2)).to_contain_text("divided by √32")
    expect(cards.nth(3).locator(".weight.key")).to_have_text("book0.93")
    page.get_by_role("button", name="Open this head").click()
    follow(page, r"/head_view\?.*layer=4.*heads=2")
    expect(page.get_by_role("heading", name="Head view")).to_be_visible()


def test_on_a_phone_the_cards_stack_and_nothing_is_cut_off(goto: Open) -> None:
    page = goto(f"/home?text={HOSTILE}", width=390)
    cards = page.locator(".st-key-home_cards .card")
    expect(cards).to_have_count(4)
    boxes = [box_of(card) for card in cards.all()]
    assert len({round(box["x"]) for box in boxes}) == 1
    assert all(a["y"] + a["height"] <= b["y"] for a, b in pairwise(boxes))
    assert page.locator(".st-key-home_cards img").count() == 0
    for selector in (".chip", ".weight", ".vector"):
        for node in page.locator(f".st-key-home_cards {selector}").all():
            assert box_of(node)["x"] + box_of(node)["width"] <= 390
    for chip in page.locator(".st-key-home_chips .chip").all()[:8]:
        assert chip.evaluate("node => node.scrollWidth <= node.clientWidth + 1")


def test_no_word_under_the_arcs_is_cut_and_short_ones_lie_flat(goto: Open) -> None:
    long = "My grandmother photographed the astronomers because she admired their observatory."
    for text, width, angles in (
        (TEXT, 1280, {"0"}),
        (long, 1280, {"0", "-40"}),
        (long, 390, {"-40", "-90"}),
    ):
        page = goto(f"/home?text={quote(text)}", width=width, height=844)
        chart = box_of(page.locator(".st-key-home_arcs .main-svg").first)
        words = page.locator(".st-key-home_arcs .xtick text")
        expect(words.first).to_be_visible()
        for word in words.all():
            box = box_of(word)
            assert chart["x"] - 1 <= box["x"]
            assert box["x"] + box["width"] <= chart["x"] + chart["width"] + 1
            assert box["y"] + box["height"] <= chart["y"] + chart["height"] + 1
        turned = words.first.get_attribute("transform") or ""
        assert (re.findall(r"rotate\((-?\d+)", turned) or ["0"])[0] in angles
