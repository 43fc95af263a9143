"""The head view in the browser: hover, click, keys, filters, links, long texts, the saved file."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from core.model import load, trace_text
from tests.browser.conftest import HOSTILE, TEXT, Open, box_of, follow, reload, settle
from tests.model.families import FAMILIES, build

if TYPE_CHECKING:
    from pathlib import Path

    from core.model.trace import Trace

BOOK = f"/head_view?text={quote(TEXT)}&layer=4"
PAIR = f"/head_view?text={quote('leaves fall in autumn')}&pair={quote('autumn is colorful')}&two=1"
LATE = "the cat sat on a mat. " * 16 + "Oh, this book? I have enjoyed it. " + "They went home. " * 8
LONG = quote("the cat sat on a mat and looked at the dog " * 30)
IT, BOOK_AT = 10, 4  # positions from 0


@pytest.fixture(scope="module")
def trace() -> Trace:
    return trace_text(load("bundled/minilm"), TEXT)


# Red, green and blue of an element's background.
BACKGROUND = "node => getComputedStyle(node).backgroundColor.match(/[\\d.]+/g).map(Number)"


def drawn(page: Page, layer: int) -> None:
    """Wait until every line of the layer is drawn."""
    expect(page.locator("canvas.sheet")).to_have_attribute("data-drawn", str(layer))


def token(page: Page, side: str, row: int) -> Locator:
    return page.locator(f".column.{side} .token").nth(row)


def show_more(page: Page) -> None:
    """Open the rest of the picture's own controls."""
    page.locator(".more").click()


def ink(page: Page) -> int:
    """How many pixels of the picture are not empty."""
    count: int = page.locator("canvas.sheet").evaluate(
        """(sheet) => sheet.getContext("2d").getImageData(0, 0, sheet.width, sheet.height).data
             .filter((value, i) => i % 4 === 3 && value > 0).length"""
    )
    return count


def test_a_token_shows_its_exact_weights_on_hover_and_stays_when_it_is_clicked(
    goto: Open, trace: Trace
) -> None:
    page = goto(f"{BOOK}&heads=2")
    sentence = page.locator(".sentence")
    drawn(page, 4)
    everything = ink(page)
    token(page, "queries", IT).hover()
    row = trace.attention(3, 1)[IT]
    weights = [f"{trace.tokens[i].display} {row[i]:.3f}" for i in np.argsort(-row)[:3]]
    expect(sentence).to_have_text(f"it attends to {' · '.join(weights)}")
    drawn(page, 4)
    assert 0 < ink(page) < everything
    token(page, "keys", BOOK_AT).hover()
    expect(sentence).to_contain_text("book gets ")
    page.mouse.move(5, 5)
    expect(sentence).to_contain_text("Point at a token")
    drawn(page, 4)
    assert ink(page) == everything

    token(page, "queries", IT).click()
    expect(sentence).to_contain_text("pinned; press again")
    follow(page, f"from={IT + 1}(&|$)")
    token(page, "keys", BOOK_AT).hover()
    expect(page.locator(".tip")).to_contain_text("it → book")
    red, green, *_ = page.locator(".queries .token.active").evaluate(BACKGROUND)
    assert green > red  # the query's colour
    expect(page.locator(".tip")).to_contain_text(f"{row[BOOK_AT]:.5f}")
    page.mouse.move(5, 5)
    reload(page)
    expect(sentence).to_contain_text("it attends to book 0.93")
    expect(token(page, "queries", IT)).to_have_attribute("aria-pressed", "true")
    token(page, "queries", IT).focus()
    page.keyboard.press("Escape")
    expect(sentence).not_to_contain_text("held")
    page.wait_for_url(lambda url: "from=" not in url or "from=&" in url or url.endswith("from="))
    token(page, "keys", BOOK_AT).hover()
    red, green, *_ = page.locator(".keys .token.active").evaluate(BACKGROUND)
    assert red > green  # the key's


def test_at_first_only_the_head_of_home_is_on_and_its_link_is_read(
    goto: Open, trace: Trace
) -> None:
    page = goto(f"/head_view?text={quote(TEXT)}")
    drawn(page, 4)
    on, weights = page.locator('.swatch[aria-pressed="true"]'), trace.attention(3, 1)
    expect(on).to_have_text(["2"])
    expect(page.locator(".sentence")).to_contain_text(
        f"it → book {weights[IT, BOOK_AT]:.3f} in H2: the pair shown on Home"
    )
    expect(page.locator(".token.found")).to_have_text(["it", "book"])
    expect(page.locator(".count")).to_contain_text(" of 169 lines")
    token(page, "queries", IT).click()
    spoken = page.get_by_role("table", name="What it attends to").get_by_role("row")
    expect(spoken).to_have_count(1 + 13)
    best = np.argsort(-weights[IT])
    expect(spoken.nth(1)).to_have_text(f"{trace.tokens[best[0]].display}{weights[IT].max():.3f}")
    page.get_by_role("button", name="All", exact=True).click()
    expect(on).to_have_count(12)
    follow(page, rf"^(?!.*heads=).*from={IT + 1}(&|$)")
    reload(page)
    expect(on).to_have_count(12)  # a link that names no head means all of them, as ever


def test_the_keyboard_walks_the_tokens_and_says_their_weights(goto: Open) -> None:
    page = goto(f"{BOOK}&heads=2")
    drawn(page, 4)
    page.get_by_role("button", name="More", exact=True).last.focus()
    for _ in range(4):  # until it is the one token in the tab order
        page.keyboard.press("Tab")
        if page.evaluate(
            "() => Boolean([...document.querySelectorAll('*')]"
            ".some((host) => host.shadowRoot?.activeElement?.matches('.token')))"
        ):
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
    follow(page, f"to={IT + 1}(&|$)")


def test_heads_are_switched_and_layers_follow_the_arrow_keys_without_an_empty_picture(
    goto: Open,
) -> None:
    page = goto(BOOK)
    drawn(page, 4)
    swatches, on = page.locator(".swatch"), page.locator('.swatch[aria-pressed="true"]')
    expect(swatches).to_have_count(12)
    swatches.nth(1).dblclick()
    follow(page, "heads=2(&|$)")
    expect(on).to_have_text(["2"])
    swatches.nth(4).click()
    follow(page, "heads=2(,|%2C)5(&|$)")
    show_more(page)
    page.get_by_role("button", name="Invert").click()
    expect(on).to_have_count(10)
    page.get_by_role("button", name="None").click()
    expect(page.locator(".sentence")).to_contain_text("No head is on")
    expect(page.locator(".count")).to_contain_text("0 of 0 lines")
    page.get_by_role("button", name="All", exact=True).click()
    expect(on).to_have_count(12)

    page.evaluate(
        """() => {
          const sheet = [...document.querySelectorAll("*")]
            .map((host) => host.shadowRoot?.querySelector("canvas.sheet")).find(Boolean)
          window.sameSheet = () => sheet.isConnected
        }"""
    )
    steps = (("Down", 5), ("Up", 4), ("Up", 3), ("Up", 2), ("Up", 1))
    for key, layer in steps:
        page.keyboard.press(f"Arrow{key}")
        drawn(page, layer)
    follow(page, "layer=1(&|$)")
    drawn(page, 1)
    assert page.evaluate("window.sameSheet()")


def test_a_long_text_scrolls_both_columns_beside_a_map_and_gets_layers_as_it_needs_them(
    goto: Open,
) -> None:
    page = goto(f"/head_view?text={LONG}&layer=2&heads=3")
    drawn(page, 2)
    box = box_of(page.locator("canvas.map"))
    before = [token(page, side, 100).bounding_box() for side in ("queries", "keys")]
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] * 0.9)
    drawn(page, 2)
    after = [token(page, side, 100).bounding_box() for side in ("queries", "keys")]
    moved = [b["y"] - a["y"] for b, a in zip(before, after, strict=True) if a and b]
    assert moved[0] == moved[1] > 500
    for layer in (3, 4):
        page.get_by_role("button", name="Next layer").click()
        drawn(page, layer)
    page.get_by_role("combobox", name="Layer").select_option("1")
    drawn(page, 1)
    follow(page, "layer=1(&|$)")


def test_a_long_text_opens_with_the_named_pair_or_the_held_token_in_view(goto: Open) -> None:
    page = goto(f"/head_view?text={quote(LATE)}")
    scroller = box_of(page.locator(".scroller"))
    for name in ("they", "went"):
        box = box_of(page.locator(".token.found", has_text=name))
        assert scroller["y"] <= box["y"] < scroller["y"] + scroller["height"] - box["height"]
    page = goto(f"/head_view?text={quote(LATE)}&from=3")
    expect(token(page, "queries", 2)).to_be_in_viewport()


def test_two_sentences_have_filters_in_sight_and_a_boundary(goto: Open) -> None:
    page = goto(PAIR)
    filters = page.get_by_role("radiogroup", name="Sentences")
    expect(filters).to_be_visible()
    expect(page.locator(".bound").first).to_be_visible()
    queries = page.locator(".column.queries .token")
    rows = queries.count()
    filters.get_by_text("A→B").click()
    follow(page, "pairs=ab")
    expect(queries).to_have_text(["[CLS]", "leaves", "fall", "in", "autumn", "[SEP]"])
    expect(page.locator(".column.keys .token").first).to_have_text("autumn₂")
    settle(page)
    reload(page)
    expect(queries).to_have_count(6)
    filters.get_by_text("All").click()
    expect(queries).to_have_count(rows)


def test_special_tokens_are_hidden_and_weights_counted_with_the_values(
    goto: Open, trace: Trace
) -> None:
    page = goto(f"{BOOK}&heads=2")
    keys, sentence = page.locator(".column.keys .token"), page.locator(".sentence")
    show_more(page)
    page.get_by_role("switch", name="Hide special tokens").check(force=True)
    expect(keys).to_have_count(11)
    page.get_by_role("radiogroup", name="Weights").get_by_text("× |value|").click()
    follow(page, "weigh=value")
    token(page, "queries", IT - 1).hover()
    weighted = trace.attention(3, 1)[IT] * np.linalg.norm(trace.values[3, 1], axis=-1)
    expect(sentence).to_contain_text(f"book {weighted[BOOK_AT]:.3f}")


def test_a_causal_model_shows_no_lines_to_later_tokens(goto: Open, tmp_path: Path) -> None:
    folder = quote(str(build(FAMILIES["gpt2"], tmp_path)))
    page = goto(f"/head_view?model={folder}&text={quote(TEXT)}&layer=1&from=1")
    token(page, "keys", 3).hover()
    expect(page.locator(".tip")).to_contain_text("no attention to later tokens")
    n, heads = page.locator(".column.keys .token").count(), page.locator(".swatch").count()
    expect(page.locator(".count")).to_contain_text(f"of {n * (n + 1) // 2 * heads:,} lines")


def test_a_phone_shows_both_columns(goto: Open) -> None:
    page = goto(f"{BOOK}&heads=2", width=390, height=844, scheme="dark")
    drawn(page, 4)
    for side in ("queries", "keys"):
        box = box_of(token(page, side, BOOK_AT))
        assert 0 <= box["x"] < box["x"] + box["width"] <= 390
    it = token(page, "queries", IT)
    it.scroll_into_view_if_needed()
    before = box_of(it)
    it.hover()
    expect(page.locator(".sentence")).to_contain_text("it attends to book 0.93")
    assert box_of(it) == before  # it does not move under the finger that points at it
    it.click()
    expect(page.locator(".sentence")).to_contain_text("pinned")
    assert box_of(it) == before


def test_lines_stand_between_the_words_after_the_window_has_become_narrower(goto: Open) -> None:
    page = goto(f"{BOOK}&heads=2", width=1600)
    drawn(page, 4)
    wide = box_of(page.locator("canvas.sheet"))["width"]
    page.set_viewport_size({"width": 900, "height": 900})
    expect(page.locator("canvas.sheet")).not_to_have_css("width", f"{wide}px")
    drawn(page, 4)
    first: float = page.locator("canvas.sheet").evaluate(
        """(sheet) => {
          const pen = sheet.getContext("2d")
          const { data, width } = pen.getImageData(0, 0, sheet.width, sheet.height)
          let first = width
          for (let i = 3; i < data.length; i += 4)
            if (data[i] > 0) first = Math.min(first, ((i - 3) / 4) % width)
          return first * sheet.clientWidth / width + sheet.getBoundingClientRect().left
        }"""
    )
    words = box_of(page.locator(".heading .query"))
    assert -1 <= first - words["x"] - words["width"] < 12


def test_hostile_tokens_stay_text_on_the_page_and_in_the_file_that_works_without_a_network(
    goto: Open, open_saved: Open
) -> None:
    page = goto(f"/head_view?text={HOSTILE}&layer=1&heads=3&from=4")
    expect(page.locator(".sentence")).to_contain_text("script attends to")
    token(page, "keys", 2).hover()
    expect(page.locator(".tip")).to_contain_text("script →")
    assert page.locator("img[src=x]").count() == 0
    saved = open_saved(page)
    drawn(saved, 1)
    token(saved, "queries", 3).hover()
    expect(saved.locator(".sentence")).to_contain_text("script attends to")
    saved.get_by_role("button", name="Next layer").click()
    drawn(saved, 2)
    saved.locator(".swatch").nth(0).dblclick()
    expect(saved.locator('.swatch[aria-pressed="true"]')).to_have_text(["1"])
