"""The neuron view in the browser: its numbers, hover, queries, keyboard, links, sizes."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import quote

import numpy as np
import pytest
from numpy.testing import assert_allclose
from playwright.sync_api import Page, expect

from core.vocabulary import labels_of
from tests.analysis.traces import causal, plain_tokens
from tests.browser import views
from tests.browser.conftest import TEXT, Open, box_of, follow
from tests.browser.views import BOOK, BOOK_AT, IT, WEIGHTS

if TYPE_CHECKING:
    from playwright.sync_api import Locator

CANVAS = ".body canvas:not(.lines)"


def file_of_book(query: int | None = IT) -> str:
    return views.neuron_view_file(BOOK, 3, 1, query)


def row(page: Page, position: int) -> Locator:
    """The row of a key, position from 0."""
    return page.locator(f'.row[aria-rowindex="{position + 3}"]')


def segment(page: Page, name: str) -> Locator:
    return page.locator(".segment", has_text=name)


def number(text: str) -> float:
    """Of a text with a true minus sign."""
    return float(text.replace("−", "-"))


def numbers(page: Page, position: int) -> list[str]:
    """Dot product, score and attention of a key."""
    return row(page, position).locator(".number, .weight").all_inner_texts()


def drawn(page: Page) -> str:
    """Which queries have their lines drawn, once they are."""
    lines = page.locator("canvas.lines")
    expect(lines).not_to_have_attribute("data-drawn", "no")
    return str(lines.get_attribute("data-drawn"))


def cell_at(page: Page, position: int, dimension: int, block: str) -> tuple[float, float]:
    """Where a cell of the 32 dimensions must lie: two blocks of equal cells, 12 pixels apart."""
    expect(page.locator(CANVAS)).to_be_visible()
    canvas, line = box_of(page.locator(CANVAS)), box_of(row(page, position))
    cell = (canvas["width"] - 12) / 64
    start = canvas["x"] + (32 * cell + 12 if block == "products" else 0)
    return start + (dimension + 0.5) * cell, line["y"] + line["height"] / 2


def expect_fitting(page: Page) -> None:
    grid = page.get_by_role("grid")
    assert grid.evaluate("grid => grid.scrollWidth <= grid.clientWidth")
    last = box_of(row(page, 1).locator(".weight"))
    assert last["x"] + last["width"] <= box_of(grid)["x"] + box_of(grid)["width"]


def test_clicks_are_in_the_link_and_the_last_choice_stays(goto: Open) -> None:
    page = goto(f"/neuron_view?text={quote(TEXT)}&layer=4&head=2&query=all", width=1280, height=720)
    expect_fitting(page)
    sentence, query = page.locator(".sentence"), page.locator(".asked .q")
    assert drawn(page) == "all"
    row(page, IT).locator(".asking").click()
    follow(page, "query=11&")
    expect(sentence).to_contain_text("it → book (the strongest key): q·k = 35.62")
    segment(page, "contribution").click()
    follow(page, "sort=contribution")
    products = BOOK.queries[3, 1, IT] * BOOK.keys[3, 1, BOOK_AT]
    page.mouse.move(*cell_at(page, BOOK_AT, 0, "products"))
    expect(page.locator(".tip")).to_contain_text(f"dimension {np.abs(products).argmax() + 1}: ")
    row(page, 3).locator(".dot").click()
    follow(page, "key_token=4&")
    expect(page.locator(".row.pair")).to_have_attribute("aria-rowindex", "6")
    for position in (0, 1, 2, 3, 5, 6, 8):  # faster than the server answers
        row(page, position).locator(".asking").click()
    follow(page, "query=9&")
    expect(query).to_have_text("ve")
    expect(page.get_by_role("combobox", name="Query token")).to_have_value("ve")
    row(page, 8).locator(".asking").click()  # lets it go
    follow(page, "query=all&")
    page.mouse.move(5, 5)
    assert drawn(page) == "all"
    page.get_by_role("button", name="Next head").click()  # the server's own changes still arrive
    expect(page.locator(".heads")).to_contain_text("L4 H3")


def test_rows_show_the_models_numbers_and_hovering_the_exact_ones(open_file: Open) -> None:
    page = open_file(file_of_book())
    score = BOOK.scores(3, 1)[IT, BOOK_AT]
    shown = [*map(number, numbers(page, BOOK_AT))]
    assert shown == pytest.approx([score * np.sqrt(32), score, WEIGHTS[IT, BOOK_AT]], abs=0.0051)
    tip = page.locator(".tip")
    for dimension in (0, 12, 31):
        q, k = BOOK.queries[3, 1, IT, dimension], BOOK.keys[3, 1, BOOK_AT, dimension]
        page.mouse.move(*cell_at(page, BOOK_AT, dimension, "keys"))
        expect(tip).to_contain_text(f"k of bookdimension {dimension + 1}: ")
        assert np.float32(number(tip.inner_text().split(": ")[1])) == k
        page.mouse.move(*cell_at(page, BOOK_AT, dimension, "products"))
        expect(tip).to_contain_text(f"it → bookdimension {dimension + 1}: ")
        factors = map(number, re.split(" [×=] ", tip.inner_text().split(": ")[1]))
        assert [*factors] == pytest.approx([q, k, q * k], rel=1e-5)


def test_pointing_at_a_query_takes_it_apart_without_asking_the_server(open_file: Open) -> None:
    page = open_file(file_of_book(None))
    assert drawn(page) == "all"
    assert numbers(page, 4) == ["", "", ""]
    before = box_of(page.locator(".body"))
    row(page, 3).locator(".asking").hover()
    expect(page.locator(".asked .q")).to_have_text("this")
    assert drawn(page) == "4"
    weights = [float(numbers(page, key)[-1]) for key in range(13)]
    assert_allclose(weights, WEIGHTS[3], atol=6e-4)
    row(page, IT).locator(".asking").hover()
    row(page, 4).locator(".weight").hover()  # it stays while its cells are read
    expect(page.locator(".tip")).to_contain_text("attention 0.93")
    expect(page.locator(".asked .q")).to_have_text("it")
    assert box_of(page.locator(".body")) == before  # nothing moves under the mouse
    page.mouse.move(5, 5)
    expect(page.locator(".asked")).to_have_text("all queries")
    assert views.told(page) == []


def test_later_tokens_are_dashes_in_a_causal_model(open_file: Open) -> None:
    trace = causal(views.trace_of(plain_tokens(*"abcdef"), 1, 4))
    trace = replace(trace, kv_keys=trace.kv_keys[:, :2], kv_values=trace.kv_values[:, :2])
    page = open_file(views.neuron_view_file(trace, 0, 2, 3))
    expect(page.locator(".heads")).to_contain_text("key head 2, serves query heads 3–4")
    assert numbers(page, 3)[-1] != "–"
    assert numbers(page, 4) == ["–"] * 3
    row(page, 4).locator(".dot").click()
    expect(page.locator(".sentence")).to_contain_text("not permitted, so this pair has no score")


def test_a_far_pair_is_shown_and_only_rows_in_view_are_drawn(open_file: Open) -> None:
    trace = views.trace_of("the cat sat on a mat and " * 30)
    page = open_file(views.neuron_view_file(trace, 0, 0, 119, key=149))
    expect(page.locator(".row.pair")).to_be_in_viewport()
    grid = page.get_by_role("grid")
    expect(grid).to_have_attribute("aria-rowcount", "214")
    grid.focus()
    for _ in range(20):
        grid.press("PageDown")
    expect(page.locator('.row[aria-rowindex="214"]')).to_be_visible()
    assert page.locator(".row").count() < 50


def test_long_words_leave_room_for_all_columns_on_a_projector(open_file: Open) -> None:
    trace = views.trace_of("Extraordinarily uncharacteristic misunderstandings", dim=32)
    expect_fitting(open_file(views.neuron_view_file(trace, 0, 0, 1), width=1044, height=720))


def test_a_phone_shows_the_numbers_and_scrolls_to_the_vectors(open_file: Open) -> None:
    page = open_file(file_of_book(), width=390, height=844, scheme="dark")
    grid = page.get_by_role("grid")
    for shown in row(page, BOOK_AT).locator(".number, .weight").all():
        expect(shown).to_be_in_viewport(ratio=0.99)
    grid.focus()
    for key in ("ArrowDown", "End", "ArrowLeft", "ArrowLeft", "ArrowLeft"):
        grid.press(key)  # score, attention; before them the products
    expect(page.locator(".reading")).to_contain_text("dimension 32: ")
    assert grid.evaluate("grid => grid.scrollLeft") > 100
    token = box_of(row(page, BOOK_AT).get_by_role("rowheader"))
    assert token["x"] == pytest.approx(box_of(grid)["x"] + 1, abs=1)


def test_pairs_leave_the_tokens_of_one_sentence_on_each_side(open_file: Open) -> None:
    trace = views.trace_of("leaves fall in autumn [SEP] autumn is marked by colorful foliage")
    of_all = trace.attention(1, 0)[1]
    page = open_file(views.neuron_view_file(trace, 1, 0, 1))
    segment(page, "A→B").click()
    views.await_report(page, pairs="ab", query=1)
    sides = [[t.position for t in trace.tokens if t.segment == side] for side in (0, 1)]
    labels = page.locator(".row .label").all_inner_texts()
    queries = [text for text in page.locator(".row .asking").all_inner_texts() if text]
    assert [len(queries), len(labels)] == [len(side) for side in sides]
    strongest, name = labels[int(of_all[sides[1]].argmax())], labels_of(trace.tokens)
    expect(page.locator(".sentence")).to_contain_text(
        f"leaves → {strongest} (the strongest of those shown; {name[of_all.argmax()]} has "
    )
    segment(page, "B→B").click()  # leaves is left out: the query is let go
    views.await_report(page, pairs="bb", query=None)
    assert drawn(page) == "all"
