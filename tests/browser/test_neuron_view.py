"""The neuron view in the browser: its numbers, hover, keyboard, links, sizes, the file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from core.model.bundled import first
from tests.browser.conftest import HOSTILE, TEXT, Open, box_of, follow
from tests.model.families import FAMILIES, build

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Locator

    from core.model.trace import Trace

BOOK = f"/neuron_view?text={quote(TEXT)}&layer=4&head=2"
IT, BOOK_AT = 10, 4  # positions from 0
CANVAS = ".body canvas:not(.lines)"


@pytest.fixture(scope="module")
def trace() -> Trace:
    """What the page draws of this text, to the last bit: it came with the app.

    On another processor the model itself rounds otherwise; how far is in test_first.
    """
    return first.first_of(first.TEXT).trace


def row(page: Page, position: int) -> Locator:
    """The row of a key, position from 0."""
    return page.locator(f'.row[aria-rowindex="{position + 3}"]')


def asking(page: Page, position: int) -> Locator:
    """The query token in the row with that number, from 0."""
    return row(page, position).locator(".asking")


def numbers(page: Page, position: int) -> list[str]:
    """Dot product, score and attention of a key."""
    return row(page, position).locator(".number, .weight").all_inner_texts()


def cell_at(page: Page, position: int, dimension: int, block: str) -> tuple[float, float]:
    """Where a cell of the 32 dimensions must lie: two blocks of equal cells, 12 pixels apart."""
    expect(page.locator(CANVAS)).to_be_visible()
    canvas, line = box_of(page.locator(CANVAS)), box_of(row(page, position))
    cell = (canvas["width"] - 12) / 64
    start = canvas["x"] + (32 * cell + 12 if block == "products" else 0)
    return start + (dimension + 0.5) * cell, line["y"] + line["height"] / 2


def true_minus(text: str) -> float:
    return float(text.replace("−", "-"))


def test_rows_show_the_models_numbers_and_hovering_the_exact_ones(goto: Open, trace: Trace) -> None:
    page = goto(f"{BOOK}&query=11")
    expect(page.locator(".row")).to_have_count(13)
    expect(page.get_by_role("button", name="A→B")).to_be_hidden()
    scores, weights = trace.scores(3, 1)[IT], trace.attention(3, 1)[IT]
    for position, token in enumerate(trace.tokens):
        assert row(page, position).get_by_role("rowheader").inner_text() == token.display
        dot, score, weight = map(true_minus, numbers(page, position))
        assert dot == pytest.approx(scores[position] * np.sqrt(32), abs=0.0051)
        assert score == pytest.approx(scores[position], abs=0.0051)
        assert weight == pytest.approx(weights[position], abs=0.00051)
    queries, keys = trace.queries[3, 1], trace.keys[3, 1]
    tip = page.locator(".tip")
    for dimension in (0, 12, 31):
        page.mouse.move(*cell_at(page, BOOK_AT, dimension, "keys"))
        expect(tip).to_contain_text(f"k of bookdimension {dimension + 1}: ")
        value = true_minus(tip.inner_text().split(": ")[1])
        assert np.float32(value) == keys[BOOK_AT, dimension]
        page.mouse.move(*cell_at(page, BOOK_AT, dimension, "products"))
        expect(tip).to_contain_text(f"it → bookdimension {dimension + 1}: ")
        q, k, product = map(true_minus, re.split(" [×=] ", tip.inner_text().split(": ")[1]))
        assert np.float32(q) == queries[IT, dimension]
        assert np.float32(k) == keys[BOOK_AT, dimension]
        assert product == pytest.approx(q * k, rel=1e-5)


def test_later_tokens_are_dashes_in_a_causal_model(goto: Open, tmp_path: Path) -> None:
    folder = quote(str(build(FAMILIES["llama"], tmp_path)))
    page = goto(f"/neuron_view?model={folder}&text={quote(TEXT)}&layer=1&head=3&query=4")
    expect(page.locator(".heads")).to_contain_text("key head 2, serves query heads 3–4")
    assert numbers(page, 3)[-1] != "–"
    assert numbers(page, 4) == ["–"] * 3
    row(page, 4).locator(".dot").click()
    expect(page.locator(".sentence")).to_contain_text("not permitted, so this pair has no score")


def test_a_clicked_token_becomes_the_query_a_clicked_row_the_pair_and_the_last_choice_stays(
    goto: Open,
) -> None:
    page = goto(f"{BOOK}&query=11")
    sentence = page.locator(".sentence")
    expect(sentence).to_contain_text("it → book (the strongest key): q·k = 35.62")
    expect(sentence).to_contain_text("The 9 largest of 32 products")
    asking(page, 9).click()
    expect(page.locator(".asked .q")).to_have_text("enjoyed")
    follow(page, "query=10&")
    expect(page.get_by_role("combobox", name="Query token")).to_have_value("enjoyed")
    row(page, 3).locator(".dot").click()
    expect(sentence).to_contain_text("enjoyed → this:")
    follow(page, "key_token=4&")
    expect(page.locator(".row.pair")).to_have_attribute("aria-rowindex", "6")
    for position in (0, 1, 2, 3, 5, 6, 8):  # faster than the server answers
        asking(page, position).click()
    follow(page, "query=9&")
    expect(page.locator(".asked .q")).to_have_text("ve")
    page.get_by_role("button", name="Next head").click()  # the server's own changes still arrive
    expect(page.locator(".heads")).to_contain_text("L4 H3")


def test_dimensions_are_sorted_from_the_view_and_kept_in_the_link(goto: Open, trace: Trace) -> None:
    page = goto(f"{BOOK}&query=11")
    page.get_by_role("button", name="contribution").click()
    follow(page, "sort=contribution")
    products = trace.queries[3, 1, IT] * trace.keys[3, 1, BOOK_AT]
    largest = int(np.abs(products).argmax())
    page.mouse.move(*cell_at(page, BOOK_AT, 0, "products"))
    expect(page.locator(".tip")).to_contain_text(f"dimension {largest + 1}: ")


def test_the_keyboard_reads_and_chooses(goto: Open, trace: Trace) -> None:
    page = goto(f"{BOOK}&query=11")
    grid = page.get_by_role("grid")
    grid.focus()
    grid.press("ArrowDown")  # from nowhere to the pair's token
    reading = page.locator(".reading")
    expect(reading).to_have_text("book, position 5 of 13")
    grid.press("ArrowRight")
    expect(reading).to_contain_text("k of book · dimension 1: ")
    assert np.float32(true_minus(reading.inner_text().split(": ")[1])) == trace.keys[3, 1, 4, 0]
    grid.press("End")
    expect(reading).to_contain_text("it → book · attention 0.932")
    active = page.locator(f"#{grid.get_attribute('aria-activedescendant')}")
    expect(active).to_have_attribute("aria-label", re.compile("it → book, attention 0.932"))
    grid.press("ArrowUp")
    grid.press("Enter")
    expect(page.locator(".sentence")).to_contain_text("it → this:")
    grid.press("Home")
    grid.press("Enter")
    expect(page.locator(".asked .q")).to_have_text("this")
    follow(page, "query=4&key_token=4")
    grid.press("Escape")
    follow(page, "key_token=strongest")


def test_a_link_to_a_far_pair_shows_it_and_only_the_rows_in_view_are_drawn(goto: Open) -> None:
    text = quote("the cat sat on a mat and " * 30)
    page = goto(f"/neuron_view?text={text}&query=120&key_token=150")
    expect(page.locator(".row.pair")).to_be_in_viewport()
    grid = page.get_by_role("grid")
    expect(grid).to_have_attribute("aria-rowcount", "214")
    assert page.locator(".row").count() < 50
    grid.focus()
    for _ in range(20):
        grid.press("PageDown")
    expect(page.locator('.row[aria-rowindex="214"]')).to_be_visible()
    assert page.locator(".row").count() < 50


def test_a_phone_shows_the_numbers_and_scrolls_to_the_vectors(goto: Open, trace: Trace) -> None:
    page = goto(f"{BOOK}&query=11", width=390, height=844, scheme="dark")
    grid = page.get_by_role("grid")
    grid.scroll_into_view_if_needed()
    box = box_of(grid)
    assert 0 <= box["x"] < box["x"] + box["width"] <= 390
    for number in row(page, BOOK_AT).locator(".number, .weight").all():
        place = box_of(number)
        assert box["x"] < place["x"] < place["x"] + place["width"] <= box["x"] + box["width"]
    assert numbers(page, BOOK_AT)[-1] == f"{trace.attention(3, 1)[IT, BOOK_AT]:.3f}"
    grid.focus()
    for key in ("ArrowDown", "End", "ArrowLeft"):  # score, attention; before them the products
        grid.press(key)
    grid.press("ArrowLeft")
    grid.press("ArrowLeft")
    expect(page.locator(".reading")).to_contain_text("dimension 32: ")
    assert grid.evaluate("grid => grid.scrollLeft") > 100
    token = box_of(row(page, BOOK_AT).get_by_role("rowheader"))
    assert token["x"] == pytest.approx(box["x"] + 1, abs=1)


@pytest.mark.parametrize("text", [TEXT, "Extraordinarily uncharacteristic misunderstandings"])
def test_all_columns_fit_a_projector(goto: Open, text: str) -> None:
    page = goto(f"/neuron_view?text={quote(text)}&layer=4&head=2", width=1280, height=720)
    grid = page.get_by_role("grid")
    assert grid.evaluate("grid => grid.scrollWidth <= grid.clientWidth")
    last = box_of(row(page, 1).locator(".weight"))
    assert last["x"] + last["width"] <= box_of(grid)["x"] + box_of(grid)["width"]


def test_a_text_of_one_token_is_drawn(goto: Open, tmp_path: Path) -> None:
    folder = quote(str(build(FAMILIES["gpt2"], tmp_path)))
    page = goto(f"/neuron_view?model={folder}&text=a")
    expect(page.locator(".row")).to_have_count(1)
    expect(page.locator(".sentence")).to_contain_text("attention 1.000")


def test_hostile_tokens_stay_text_on_the_page_and_in_the_file_that_works_without_a_network(
    goto: Open, open_saved: Open
) -> None:
    page = goto(f"/neuron_view?text={HOSTILE}&layer=1&head=3&query=4&key_token=4")
    expect(page.locator(".asked .q")).to_have_text("script")
    page.mouse.move(*cell_at(page, 3, 2, "products"))
    expect(page.locator(".tip")).to_contain_text("dimension 3")
    assert page.locator("img[src=x]").count() == 0
    saved = open_saved(page)
    expect(saved.locator(".asked .q")).to_have_text("script")
    saved.mouse.move(*cell_at(saved, 3, 4, "keys"))
    expect(saved.locator(".tip")).to_contain_text("dimension 5: ")
    asking(saved, 2).click()
    expect(saved.locator(".asked .q")).to_have_text("/")
