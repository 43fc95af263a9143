"""Head patterns in the browser: the map is painted, a click chooses a head, Cancel cancels."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import click_head, settle

if TYPE_CHECKING:
    from collections.abc import Callable

BOOK = quote("Oh, this book? I've enjoyed it.")
HOSTILE = quote("</script><img src=x onerror=alert(1)> $x$ :red[x]")


def test_the_map_shows_letters_and_a_clicked_square_chooses_the_head(
    goto: Callable[..., Page],
) -> None:
    page = goto(f"/patterns?text={BOOK}&layer=1&head=3", scheme="dark")
    squares = page.locator(".st-key-patterns_map .scatterlayer .point")
    expect(squares).to_have_count(72 + 1)  # and the ring
    letters = page.locator(".st-key-patterns_map .textpoint").all_text_contents()
    assert letters.count("P") == 1
    assert letters.count("1") > 20
    expect(page.get_by_text("L1 H3: previous token.")).to_be_visible()
    click_head(page, "patterns_map", 2, 9)
    page.wait_for_url(re.compile("layer=2&head=9"))
    settle(page)
    expect(page.get_by_text("L2 H9: next token.")).to_be_visible()
    page.get_by_role("button", name="▶").click()
    page.wait_for_url(re.compile("layer=2&head=10"))
    settle(page)
    expect(page.get_by_text("L2 H10: first token.")).to_be_visible()


def test_a_link_opens_the_very_picture(goto: Callable[..., Page]) -> None:
    page = goto(f"/patterns?text={BOOK}&part=one&whole=rollout&beside=self&min_first=0.9")
    expect(page.locator(".st-key-patterns_attention .js-plotly-plot")).to_be_visible()
    expect(page.get_by_text("The pattern: itself")).to_be_visible()
    expect(page.get_by_text("Rollout gives 0.10 to the token itself")).to_be_visible()
    expect(page.get_by_role("radio", name="One head")).to_be_checked()


def test_similar_heads_are_drawn_and_a_point_can_be_chosen(goto: Callable[..., Page]) -> None:
    page = goto(f"/patterns?text={BOOK}&part=alike&layer=2&head=1")
    points = page.locator(".st-key-patterns_alike .scatterlayer .point")
    expect(points).to_have_count(72 + 1)
    lonely = page.locator(".st-key-patterns_alike .textpoint", has_text="P").bounding_box()
    assert lonely is not None
    x, y = lonely["x"] + lonely["width"] / 2, lonely["y"] + lonely["height"] / 2
    page.mouse.move(x, y, steps=3)
    page.mouse.click(x, y)
    page.wait_for_url(re.compile("layer=1&head=3"))
    settle(page)
    expect(page.get_by_text("Nearest to L1 H3")).to_be_visible()


@pytest.mark.parametrize("part", ["heads", "one", "alike"])
def test_hostile_tokens_stay_text_on_a_phone(goto: Callable[..., Page], part: str) -> None:
    page = goto(f"/patterns?text={HOSTILE}&part={part}&beside=self", width=390, height=844)
    expect(page.locator(".js-plotly-plot").first).to_be_visible()
    assert page.locator("img[src=x]").count() == 0
    wide = page.evaluate("() => document.documentElement.scrollWidth")
    assert wide <= 390


def test_cancel_leaves_the_sample_corpus_and_it_can_be_resumed(
    goto: Callable[..., Page],
) -> None:
    page = goto(f"/patterns?text={BOOK}")
    page.get_by_role("radio", name="sample corpus").click()
    expect(page.get_by_text(re.compile(r"corpus: [1-9]\d* of \d+ sentences"))).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    page.wait_for_url(re.compile("source=text"))
    settle(page)
    expect(page.get_by_text("You left the sample corpus after")).to_be_visible()
    page.get_by_role("radio", name="sample corpus").click()
    expect(page.get_by_text("On the sample corpus (")).to_be_visible(timeout=120_000)
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)


def test_coreference_covers_pairs_and_the_sample_corpus(goto: Callable[..., Page]) -> None:
    page = goto(f"/patterns?text={BOOK}&layer=4&head=2")
    page.get_by_role("radio", name="Coreference").click()
    conclusion = "Where only meaning decides, no head is demonstrably right more often"
    expect(page.get_by_text(conclusion)).to_be_visible(timeout=120_000)
    expect(page.get_by_text("(best head 0.50, nearest noun 0.50; corrected")).to_be_visible()
    expect(page.locator(".st-key-patterns_pronouns .scatterlayer .point")).not_to_have_count(0)
    expect(page.get_by_text("Both sentences right: 9")).to_be_visible()
    page.get_by_role("radio", name="sample corpus").click()
    page.wait_for_url(re.compile("marked=sample"))
    settle(page)
    expect(page.get_by_text("picks the antecedent for 183 of 245 pronouns")).to_be_visible()


def test_a_short_text_shows_question_marks_in_place_of_patterns(goto: Callable[..., Page]) -> None:
    page = goto("/patterns?text=it%20it%20it")
    box = page.get_by_test_id("stAlertContentInfo")
    expect(box.get_by_text("Too short to say.")).to_be_visible()
    letters = page.locator(".st-key-patterns_map .textpoint")
    expect(letters).to_have_count(72)
    assert set(letters.all_text_contents()) == {"?"}
