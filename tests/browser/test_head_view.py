"""The head view in the browser: hover, click, keys, filters, links, long texts, the saved file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from core.model import load, trace_text
from tests.browser.conftest import settle
from tests.model.families import FAMILIES, build

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Browser

    from core.model.trace import Trace

TEXT = "Oh, this book? I've enjoyed it."
BOOK = f"/head_view?text={quote(TEXT)}&layer=4"
PAIR = f"/head_view?text={quote('leaves fall in autumn')}&pair={quote('autumn is colorful')}&two=1"
HOSTILE = quote("</script><img src=x onerror=alert(1)> $x$ :red[x] مرحبا")
LONG = quote("the cat sat on a mat and looked at the dog " * 30)
IT, BOOK_AT = 10, 4  # positions from 0


@pytest.fixture(scope="module")
def trace() -> Trace:
    return trace_text(load("bundled/minilm"), TEXT)


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


def test_hovering_shows_a_tokens_weights_as_the_model_has_them(
    goto: Callable[..., Page], trace: Trace
) -> None:
    page = goto(f"{BOOK}&heads=2")
    drawn(page, 4)
    everything = ink(page)
    token(page, "queries", IT).hover()
    row = trace.attention(3, 1)[IT]
    best = np.argsort(-row)[:3]
    labels = [trace.tokens[position].display for position in best]
    expect(page.locator(".sentence")).to_have_text(
        "it attends to "
        + " · ".join(f"{label} {row[at]:.3f}" for label, at in zip(labels, best, strict=True))
    )
    drawn(page, 4)
    assert 0 < ink(page) < everything
    token(page, "keys", BOOK_AT).hover()
    expect(page.locator(".sentence")).to_contain_text("book gets ")
    page.mouse.move(5, 5)
    expect(page.locator(".sentence")).to_contain_text("Point at a token")
    drawn(page, 4)
    assert ink(page) == everything


def test_the_note_beside_the_mouse_has_the_exact_weight(
    goto: Callable[..., Page], trace: Trace
) -> None:
    page = goto(f"{BOOK}&heads=2&from={IT + 1}")
    drawn(page, 4)
    token(page, "keys", BOOK_AT).hover()
    tip = page.locator(".tip")
    expect(tip).to_contain_text("it → book")
    expect(tip).to_contain_text(f"{trace.attention(3, 1)[IT, BOOK_AT]:.5f}")


def test_a_click_pins_a_token_and_escape_releases_it(goto: Callable[..., Page]) -> None:
    page = goto(f"{BOOK}&heads=2")
    token(page, "queries", IT).click()
    expect(page.locator(".sentence")).to_contain_text("pinned, Escape releases")
    page.wait_for_url(re.compile(f"from={IT + 1}(&|$)"))
    page.mouse.move(5, 5)
    expect(page.locator(".sentence")).to_contain_text("it attends to book 0.93")
    page.reload()
    settle(page)
    expect(page.locator(".sentence")).to_contain_text("it attends to book 0.93")
    expect(token(page, "queries", IT)).to_have_attribute("aria-pressed", "true")
    token(page, "queries", IT).focus()
    page.keyboard.press("Escape")
    expect(page.locator(".sentence")).not_to_contain_text("pinned")
    page.wait_for_url(lambda url: "from=" not in url or "from=&" in url or url.endswith("from="))


def test_the_keyboard_walks_the_tokens_and_says_their_weights(goto: Callable[..., Page]) -> None:
    page = goto(f"{BOOK}&heads=2")
    drawn(page, 4)
    page.get_by_role("button", name="What does this head do?").focus()
    for _ in range(4):  # the threshold, then the one token in the tab order
        page.keyboard.press("Tab")
        if page.evaluate(
            "() => Boolean([...document.querySelectorAll('*')]"
            ".some((host) => host.shadowRoot?.activeElement?.matches('.token')))"
        ):
            break
    page.keyboard.press("End")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    focused = token(page, "queries", IT)
    expect(focused).to_be_focused()
    expect(focused).to_have_attribute("aria-label", "it, position 11, attends")
    expect(page.locator(".sentence[aria-live=polite]")).to_contain_text("it attends to book 0.93")
    page.keyboard.press("ArrowRight")
    expect(token(page, "keys", IT)).to_be_focused()
    expect(page.locator(".sentence")).to_contain_text("it gets ")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(f"to={IT + 1}(&|$)"))


def test_heads_are_toggled_isolated_and_inverted(goto: Callable[..., Page]) -> None:
    page = goto(BOOK)
    drawn(page, 4)
    swatches = page.locator(".swatch")
    expect(swatches).to_have_count(12)
    swatches.nth(1).dblclick()
    page.wait_for_url(re.compile("heads=2(&|$)"))
    expect(page.locator('.swatch[aria-pressed="true"]')).to_have_text(["2"])
    swatches.nth(4).click()
    page.wait_for_url(re.compile("heads=2(,|%2C)5(&|$)"))
    page.get_by_role("button", name="Invert").click()
    expect(page.locator('.swatch[aria-pressed="true"]')).to_have_count(10)
    page.get_by_role("button", name="None").click()
    expect(page.locator(".sentence")).to_contain_text("No head is on")
    expect(page.locator(".count")).to_contain_text("0 of 0 lines")
    page.get_by_role("button", name="All", exact=True).click()
    expect(page.locator('.swatch[aria-pressed="true"]')).to_have_count(12)


def test_the_layer_follows_the_arrow_keys_without_an_empty_picture(
    goto: Callable[..., Page],
) -> None:
    page = goto(BOOK)
    drawn(page, 4)
    page.evaluate(
        """() => {
          const sheet = [...document.querySelectorAll("*")]
            .map((host) => host.shadowRoot?.querySelector("canvas.sheet")).find(Boolean)
          window.sameSheet = () => sheet.isConnected
        }"""
    )
    slider = page.get_by_role("slider", name="Layer")
    slider.focus()
    slider.press("ArrowRight")
    drawn(page, 5)
    slider.press("ArrowLeft")
    slider.press("ArrowLeft")
    drawn(page, 3)
    page.wait_for_url(re.compile("layer=3(&|$)"))
    settle(page)
    drawn(page, 3)
    assert page.evaluate("window.sameSheet()")


def test_layers_of_a_long_text_come_when_they_are_wanted(goto: Callable[..., Page]) -> None:
    page = goto(f"/head_view?text={LONG}&layer=4")
    slider = page.get_by_role("slider", name="Layer")
    drawn(page, 4)
    slider.focus()
    for layer in (5, 6):
        slider.press("ArrowRight")
        drawn(page, layer)
    slider.press("Home")
    drawn(page, 1)
    page.wait_for_url(re.compile("layer=1(&|$)"))


def test_long_texts_scroll_both_columns_together_beside_a_map(goto: Callable[..., Page]) -> None:
    page = goto(f"/head_view?text={LONG}&layer=2&heads=3")
    drawn(page, 2)
    map_ = page.locator("canvas.map")
    box = map_.bounding_box()
    assert box is not None
    before = [token(page, side, 100).bounding_box() for side in ("queries", "keys")]
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] * 0.9)
    drawn(page, 2)
    after = [token(page, side, 100).bounding_box() for side in ("queries", "keys")]
    moved = [b["y"] - a["y"] for b, a in zip(before, after, strict=True) if a and b]
    assert moved[0] == moved[1] > 500
    assert page.locator(".scroller").evaluate("node => node.scrollTop") > 500


def test_two_sentences_have_filters_in_sight_and_a_boundary(goto: Callable[..., Page]) -> None:
    page = goto(PAIR)
    filters = page.get_by_role("radiogroup", name="Sentences")
    expect(filters).to_be_visible()
    expect(page.locator(".bound").first).to_be_visible()
    rows = page.locator(".column.queries .token").count()
    filters.get_by_text("A→B").click()
    page.wait_for_url(re.compile("pairs=ab"))
    expect(page.locator(".column.queries .token")).to_have_text(
        ["[CLS]", "leaves", "fall", "in", "autumn", "[SEP]"]
    )
    expect(page.locator(".column.keys .token").first).to_have_text("autumn")
    settle(page)
    page.reload()
    settle(page)
    expect(page.locator(".column.queries .token")).to_have_count(6)
    filters.get_by_text("All").click()
    expect(page.locator(".column.queries .token")).to_have_count(rows)


def test_tokens_are_hidden_clicked_away_and_brought_back(goto: Callable[..., Page]) -> None:
    page = goto(f"{BOOK}&heads=2")
    page.get_by_role("switch", name="Hide special tokens").check(force=True)
    expect(page.locator(".column.keys .token")).to_have_count(11)
    token(page, "keys", BOOK_AT - 1).hover()
    page.locator(".cross").click()
    expect(page.locator(".column.keys .token")).to_have_count(10)
    page.wait_for_url(re.compile(f"without={BOOK_AT + 1}(&|$)"))
    token(page, "queries", IT - 2).hover()
    expect(page.locator(".sentence")).not_to_contain_text("book")
    page.get_by_role("button", name="book ×").click()
    expect(page.locator(".column.keys .token")).to_have_count(11)


def test_renormalised_rows_add_up_to_one(goto: Callable[..., Page], trace: Trace) -> None:
    page = goto(f"{BOOK}&heads=2&hide=1&renorm=1")
    token(page, "queries", IT - 1).hover()
    row = trace.attention(3, 1)[IT, 1:-1]
    share = row[BOOK_AT - 1] / row.sum()
    expect(page.locator(".sentence")).to_contain_text(f"it attends to book {share:.3f}")


def test_weights_can_be_counted_with_the_values(goto: Callable[..., Page], trace: Trace) -> None:
    page = goto(f"{BOOK}&heads=2")
    page.get_by_role("radiogroup", name="Weights").get_by_text("× |value|").click()
    page.wait_for_url(re.compile("weigh=value"))
    settle(page)
    token(page, "queries", IT).hover()
    weighted = trace.attention(3, 1)[IT] * np.linalg.norm(trace.values[3, 1], axis=-1)
    expect(page.locator(".sentence")).to_contain_text(f"book {weighted[BOOK_AT]:.3f}")


def test_what_a_head_does_is_said_in_one_line(goto: Callable[..., Page]) -> None:
    page = goto(f"/head_view?text={quote(TEXT)}&layer=1&heads=3")
    page.get_by_role("button", name="What does this head do?").click()
    about = page.locator(".about")
    expect(about).to_contain_text("L1 H3")
    expect(about).to_contain_text("previous 1.00")
    page.wait_for_url(re.compile("what=1"))


def test_a_causal_model_shows_no_lines_to_later_tokens(
    goto: Callable[..., Page], tmp_path: Path
) -> None:
    folder = quote(str(build(FAMILIES["gpt2"], tmp_path)))
    page = goto(f"/head_view?model={folder}&text={quote(TEXT)}&layer=1&from=1&least=0")
    token(page, "keys", 3).hover()
    expect(page.locator(".tip")).to_contain_text("no attention to later tokens")
    n = page.locator(".column.keys .token").count()
    heads = page.locator(".swatch").count()
    expect(page.locator(".count")).to_contain_text(f"of {n * (n + 1) // 2 * heads:,} lines")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_shows_both_columns(goto: Callable[..., Page], scheme: str) -> None:
    page = goto(f"{BOOK}&heads=2", width=390, height=844, scheme=scheme)
    drawn(page, 4)
    for side in ("queries", "keys"):
        box = token(page, side, BOOK_AT).bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
    token(page, "queries", IT).click()
    expect(page.locator(".sentence")).to_contain_text("it attends to book 0.93")


def test_the_picture_is_sharp_on_dense_screens(browser: Browser, app: str) -> None:
    context = browser.new_context(device_scale_factor=2)
    page = context.new_page()
    page.goto(app + BOOK)
    drawn(page, 4)
    sheet = page.locator("canvas.sheet")
    box = sheet.bounding_box()
    assert box is not None
    assert sheet.evaluate("sheet => sheet.width") == pytest.approx(2 * box["width"], abs=1)
    context.close()


def test_hostile_tokens_stay_text(goto: Callable[..., Page]) -> None:
    page = goto(f"/head_view?text={HOSTILE}&layer=1&heads=3&from=4")
    expect(page.locator(".sentence")).to_contain_text("script attends to")
    token(page, "keys", 2).hover()
    expect(page.locator(".tip")).to_contain_text("script →")
    assert page.locator("img[src=x]").count() == 0


def test_the_file_opens_from_disk_without_a_network_and_still_hovers(
    goto: Callable[..., Page], open_saved: Callable[..., Page]
) -> None:
    page = goto(f"/head_view?text={HOSTILE}&layer=1&heads=3")
    saved = open_saved(page)
    drawn(saved, 1)
    token(saved, "queries", 3).hover()
    expect(saved.locator(".sentence")).to_contain_text("script attends to")
    slider = saved.get_by_role("slider", name="Layer")
    slider.focus()
    slider.press("ArrowRight")
    drawn(saved, 2)
    saved.locator(".swatch").nth(0).dblclick()
    expect(saved.locator('.swatch[aria-pressed="true"]')).to_have_text(["1"])
