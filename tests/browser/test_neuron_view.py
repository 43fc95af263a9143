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

from core.components.neuron_view import read_state
from core.screens.neuron_view import take_state
from core.vocabulary import labels_of
from tests.analysis.traces import causal, plain_tokens, random_trace
from tests.browser.conftest import TEXT, Open, box_of, follow
from tests.browser.views import await_report, first_trace, neuron_view_file, told, trace_of

if TYPE_CHECKING:
    from playwright.sync_api import Locator

IT, BOOK_AT = 10, 4  # positions from 0
CANVAS = ".body canvas:not(.lines)"
TRACE = first_trace()
WEIGHTS = TRACE.attention(3, 1)


def file_of_book(query: int | None = IT) -> str:
    return neuron_view_file(TRACE, 3, 1, query)


def row(page: Page, position: int) -> Locator:
    """The row of a key, position from 0."""
    return page.locator(f'.row[aria-rowindex="{position + 3}"]')


def segment(page: Page, name: str) -> Locator:
    return page.locator(".segment", has_text=name)


def asking(page: Page, position: int) -> Locator:
    """The query token in the row with that number, from 0."""
    return row(page, position).locator(".asking")


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


def true_minus(text: str) -> float:
    return float(text.replace("−", "-"))


def expect_fitting(page: Page) -> None:
    grid = page.get_by_role("grid")
    assert grid.evaluate("grid => grid.scrollWidth <= grid.clientWidth")
    last = box_of(row(page, 1).locator(".weight"))
    assert last["x"] + last["width"] <= box_of(grid)["x"] + box_of(grid)["width"]


def test_clicks_keep_queries_pairs_and_an_order_in_the_link_and_the_last_choice_stays(
    goto: Open,
) -> None:
    page = goto(f"/neuron_view?text={quote(TEXT)}&layer=4&head=2&query=all", width=1280, height=720)
    expect_fitting(page)
    sentence, query = page.locator(".sentence"), page.locator(".asked .q")
    assert drawn(page) == "all"
    asking(page, IT).click()
    follow(page, "query=11&")
    expect(sentence).to_contain_text("it → book (the strongest key): q·k = 35.62")
    expect(sentence).to_contain_text("The 9 largest of 32 products")
    segment(page, "contribution").click()
    follow(page, "sort=contribution")
    products = TRACE.queries[3, 1, IT] * TRACE.keys[3, 1, BOOK_AT]
    page.mouse.move(*cell_at(page, BOOK_AT, 0, "products"))
    expect(page.locator(".tip")).to_contain_text(f"dimension {np.abs(products).argmax() + 1}: ")
    asking(page, 3).hover()  # shown for as long as it is pointed at
    expect(query).to_have_text("this")
    row(page, 4).locator(".weight").hover()
    expect(query).to_have_text("it")
    asking(page, 9).click()
    expect(query).to_have_text("enjoyed")
    follow(page, "query=10&")
    expect(page.get_by_role("combobox", name="Query token")).to_have_value("enjoyed")
    row(page, 3).locator(".dot").click()
    expect(sentence).to_contain_text("enjoyed → this:")
    follow(page, "key_token=4&")
    expect(page.locator(".row.pair")).to_have_attribute("aria-rowindex", "6")
    for position in (0, 1, 2, 3, 5, 6, 8):  # faster than the server answers
        asking(page, position).click()
    follow(page, "query=9&")
    expect(query).to_have_text("ve")
    asking(page, 8).click()  # lets it go
    follow(page, "query=all&")
    page.mouse.move(5, 5)
    assert drawn(page) == "all"
    expect(page.get_by_role("combobox", name="Query token")).to_have_value("all at once")
    page.get_by_role("button", name="Next head").click()  # the server's own changes still arrive
    expect(page.locator(".heads")).to_contain_text("L4 H3")


def test_rows_show_the_models_numbers_and_hovering_the_exact_ones(open_file: Open) -> None:
    page = open_file(file_of_book())
    expect(page.locator(".row")).to_have_count(13)
    expect(segment(page, "A→B")).to_have_count(0)
    scores = TRACE.scores(3, 1)[IT]
    for position, token in enumerate(TRACE.tokens):
        assert row(page, position).get_by_role("rowheader").inner_text() == token.display
        dot, score, weight = map(true_minus, numbers(page, position))
        assert dot == pytest.approx(scores[position] * np.sqrt(32), abs=0.0051)
        assert score == pytest.approx(scores[position], abs=0.0051)
        assert weight == pytest.approx(WEIGHTS[IT, position], abs=0.00051)
    queries, keys = TRACE.queries[3, 1], TRACE.keys[3, 1]
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


def test_pointing_at_a_query_takes_it_apart_without_asking_the_server(open_file: Open) -> None:
    page = open_file(file_of_book(None))
    assert drawn(page) == "all"
    assert numbers(page, 4) == ["", "", ""]
    before = box_of(page.locator(".body"))
    for query in (3, 10):
        asking(page, query).hover()
        expect(page.locator(".asked .q")).to_have_text(TRACE.tokens[query].display)
        assert drawn(page) == str(query + 1)
        weights = [float(numbers(page, key)[-1]) for key in range(13)]
        assert_allclose(weights, WEIGHTS[query], atol=6e-4)
    row(page, 4).locator(".weight").hover()  # it stays while its cells are read
    expect(page.locator(".tip")).to_contain_text("attention 0.93")
    expect(page.locator(".asked .q")).to_have_text("it")
    assert box_of(page.locator(".body")) == before  # nothing moves under the mouse
    page.mouse.move(5, 5)
    expect(page.locator(".asked")).to_have_text("all queries")
    assert drawn(page) == "all"
    assert told(page) == []


def test_later_tokens_are_dashes_in_a_causal_model(open_file: Open) -> None:
    trace = causal(trace_of(plain_tokens(*"abcdef"), 1, 4))
    trace = replace(trace, kv_keys=trace.kv_keys[:, :2], kv_values=trace.kv_values[:, :2])
    page = open_file(neuron_view_file(trace, 0, 2, 3))
    expect(page.locator(".heads")).to_contain_text("key head 2, serves query heads 3–4")
    assert numbers(page, 3)[-1] != "–"
    assert numbers(page, 4) == ["–"] * 3
    row(page, 4).locator(".dot").click()
    expect(page.locator(".sentence")).to_contain_text("not permitted, so this pair has no score")


def test_the_keyboard_reads_and_chooses(open_file: Open) -> None:
    page = open_file(file_of_book())
    grid, query = page.get_by_role("grid"), page.locator(".asked .q")
    grid.focus()
    grid.press("ArrowDown")  # from nowhere to the pair's token
    reading = page.locator(".reading")
    expect(reading).to_have_text("book, position 5 of 13")
    grid.press("ArrowRight")
    expect(reading).to_contain_text("k of book · dimension 1: ")
    assert np.float32(true_minus(reading.inner_text().split(": ")[1])) == TRACE.keys[3, 1, 4, 0]
    grid.press("End")
    expect(reading).to_contain_text("it → book · attention 0.932")
    active = page.locator(f"#{grid.get_attribute('aria-activedescendant')}")
    expect(active).to_have_attribute("aria-label", re.compile("it → book, attention 0.932"))
    grid.press("ArrowUp")
    grid.press("Enter")
    expect(page.locator(".sentence")).to_contain_text("it → this:")
    grid.press("Home")
    grid.press("Enter")
    expect(query).to_have_text("this")
    await_report(page, query=3, pairKey=3)
    grid.press("Escape")
    await_report(page, query=3, pairKey=None)
    grid.press("Escape")
    await_report(page, query=None)
    for _ in range(4):  # from the left column's first row
        grid.press("ArrowDown")
    expect(query).to_have_text("this")
    grid.press("Enter")
    await_report(page, query=3)


def test_a_link_to_a_far_pair_shows_it_and_only_the_rows_in_view_are_drawn(
    open_file: Open,
) -> None:
    trace = trace_of("the cat sat on a mat and " * 30)
    page = open_file(neuron_view_file(trace, 0, 0, 119, key=149))
    expect(page.locator(".row.pair")).to_be_in_viewport()
    grid = page.get_by_role("grid")
    expect(grid).to_have_attribute("aria-rowcount", "214")
    assert page.locator(".row").count() < 50
    grid.focus()
    for _ in range(20):
        grid.press("PageDown")
    expect(page.locator('.row[aria-rowindex="214"]')).to_be_visible()
    assert page.locator(".row").count() < 50


def test_long_words_leave_room_for_all_columns_on_a_projector(open_file: Open) -> None:
    trace = trace_of("Extraordinarily uncharacteristic misunderstandings", dim=32)
    expect_fitting(open_file(neuron_view_file(trace, 0, 0, 1), width=1044, height=720))


def test_a_phone_shows_the_numbers_and_scrolls_to_the_vectors(open_file: Open) -> None:
    page = open_file(file_of_book(), width=390, height=844, scheme="dark")
    grid = page.get_by_role("grid")
    box = box_of(grid)
    assert 0 <= box["x"] < box["x"] + box["width"] <= 390
    for number in row(page, BOOK_AT).locator(".number, .weight").all():
        place = box_of(number)
        assert box["x"] < place["x"] < place["x"] + place["width"] <= box["x"] + box["width"]
    assert numbers(page, BOOK_AT)[-1] == f"{WEIGHTS[IT, BOOK_AT]:.3f}"
    grid.focus()
    for key in ("ArrowDown", "End", "ArrowLeft"):  # score, attention; before them the products
        grid.press(key)
    grid.press("ArrowLeft")
    grid.press("ArrowLeft")
    expect(page.locator(".reading")).to_contain_text("dimension 32: ")
    assert grid.evaluate("grid => grid.scrollLeft") > 100
    token = box_of(row(page, BOOK_AT).get_by_role("rowheader"))
    assert token["x"] == pytest.approx(box["x"] + 1, abs=1)


def test_a_text_of_one_token_is_drawn(open_file: Open) -> None:
    page = open_file(neuron_view_file(random_trace(1, size=1), 0, 0, 0))
    expect(page.locator(".row")).to_have_count(1)
    expect(page.locator(".sentence")).to_contain_text("attention 1.000")


def test_pairs_leave_the_tokens_of_one_sentence_on_each_side(
    open_file: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = trace_of("leaves fall in autumn [SEP] autumn is marked by colorful foliage")
    of_all = trace.attention(1, 0)[1]
    page = open_file(neuron_view_file(trace, 1, 0, 1))
    expect(page.locator(".row .label")).to_have_count(len(trace.tokens))
    segment(page, "A→B").click()
    await_report(page, pairs="ab", query=1)
    sides = [[t.position for t in trace.tokens if t.segment == side] for side in (0, 1)]
    labels = page.locator(".row .label").all_inner_texts()
    queries = [text for text in page.locator(".row .asking").all_inner_texts() if text]
    assert [len(queries), len(labels)] == [len(side) for side in sides]
    assert (queries[1], labels[5]) == ("leaves", "foliage")
    weights = [float(numbers(page, key)[-1]) for key in range(len(sides[1]))]
    assert_allclose(weights, of_all[sides[1]], atol=6e-4)
    strongest = labels[int(of_all[sides[1]].argmax())]
    assert int(of_all.argmax()) not in sides[1]  # it is left out
    name = labels_of(trace.tokens)[int(of_all.argmax())]
    expect(page.locator(".sentence")).to_contain_text(
        f"leaves → {strongest} (the strongest of those shown; {name} has {of_all.max():.3f})"
    )
    segment(page, "B→B").click()  # leaves is left out: the query is let go
    await_report(page, pairs="bb", query=None)
    assert drawn(page) == "all"
    monkeypatch.setattr("streamlit.session_state", picked := dict[str, object]())
    state = read_state(told(page)[-1], len(trace.tokens), len(trace.tokens))
    assert state is not None
    take_state(state, {"query", "pairs"})
    assert (picked["query"], picked["filter"]) == ("all", "bb")
