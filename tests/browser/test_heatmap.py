"""The heatmap table in the browser: links, hover, keys, pictures, files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from playwright.sync_api import Page, expect

from tests.analysis.traces import causal, plain_tokens
from tests.browser.conftest import TEXT, Open, box_of, follow, middle_of, undo_by_back
from tests.browser.views import table_file, trace_of

if TYPE_CHECKING:
    from playwright.sync_api import Locator


def cell(page: Page, row: int, column: int) -> Locator:
    return page.locator(f'.cell[data-row="{row}"][data-column="{column}"]')


def expect_table(page: Page, where: str) -> None:
    expect(page.get_by_role("grid")).to_have_attribute("aria-label", re.compile(where))


def test_a_cell_is_held_travels_in_the_link_and_stays_with_its_tokens(goto: Open) -> None:
    page = goto(f"/heatmap?text={quote(TEXT)}&layer=4&head=2")
    sentence, marked = page.locator(".sentence"), page.locator(".cell.marked")
    expect_table(page, "^attention of L4 H2, 13 by 13 tokens$")
    expect(cell(page, 11, 6)).to_have_text("")  # below 0.005, and read all the same
    expect(cell(page, 11, 6)).to_have_attribute("aria-label", re.compile(r"^0\.00\d$"))
    # The link of Home is outlined and read before anyone points.
    expect(marked).to_have_attribute("id", "cell-10-4")
    expect(sentence).to_contain_text("it → book  0.932, L4 H2  · the pair shown on Home")
    cell(page, 5, 3).hover()
    expect(sentence).to_have_text("book → ,  0.004, L4 H2")
    page.mouse.move(5, 5)
    expect(sentence).to_contain_text("Point at a cell")

    page.get_by_role("combobox", name="Layer").select_option("1")
    follow(page, "layer=1")
    expect_table(page, "L1 H2")
    expect(marked).to_have_count(0)  # another head: nothing was found here
    undo_by_back(page, cell(page, 11, 5), r"cell=11%2C5")
    page.get_by_role("grid").focus()
    page.keyboard.press("ArrowLeft")
    expect(sentence).to_contain_text("it → this")
    expect(marked).to_have_attribute("id", "cell-10-4")  # still held
    page.keyboard.press("Enter")
    follow(page, "cell=11%2C4")

    page.get_by_role("button", name="More").click()
    page.get_by_text("Hide special tokens").click()
    page.keyboard.press("Escape")
    follow(page, "hide=1")
    expect(page.locator(".cell")).to_have_count(11 * 11)
    expect(marked).to_have_attribute("id", "cell-9-2")  # the same two tokens
    page.get_by_role("grid").focus()
    page.keyboard.press("Escape")
    follow(page, "^(?!.*cell=)")


def test_a_table_of_twenty_tokens_fits_a_small_laptop_without_a_scrollbar(goto: Open) -> None:
    text = "My friend told me about this class and I love it so far! She was right."
    page = goto(f"/heatmap?text={quote(text)}&layer=4&head=2", width=1366, height=768)
    expect(page.locator(".row")).to_have_count(20)
    grid, last = page.get_by_role("grid"), cell(page, 1, 20)
    room = "node => [node.scrollHeight - node.clientHeight, node.scrollWidth - node.clientWidth]"
    assert grid.evaluate(room) == [0, 0]
    assert last.evaluate("cell => cell.scrollWidth <= cell.clientWidth + 1")


def test_what_a_causal_model_cannot_see_is_hatched(open_file: Open) -> None:
    trace = causal(trace_of(plain_tokens("<s>", "it", "was", "what", "it", "was")))
    for values in ("scores", "attention"):
        page = open_file(table_file(trace, values=values, held=(2, 3)))
        expect(page.locator(".cell.masked")).to_have_count(6 * 5 // 2)
    rows = page.get_by_role("row")
    expect(rows).to_have_count(6 + 2)  # tokens, names of columns, sums
    assert rows.nth(2).get_by_role("gridcell").all_inner_texts()[2:6] == ["–"] * 4
    assert rows.nth(2).get_by_role("rowheader").inner_text() == "it"
    names = page.get_by_role("columnheader").all_inner_texts()
    assert names[1:-1] == ["<s>", "it", "was", "what", "it₂", "was₂"]
    assert "gradient" in str(cell(page, 1, 2).evaluate("e => getComputedStyle(e).backgroundImage"))
    expect(page.locator(".sentence")).to_contain_text("it → was  not permitted")


def test_a_held_cell_opens_in_the_middle_of_what_can_be_seen(open_file: Open) -> None:
    page = open_file(table_file(trace_of("the cat sat on a mat " * 12), held=(40, 32)))
    (x, y), grid = middle_of(page.locator(".cell.marked")), page.get_by_role("grid")
    sides, sums = (box_of(grid.locator(part)) for part in (".top > .left", ".bottom > .right"))
    assert abs(x - (sides["x"] + sides["width"] + sums["x"]) / 2) < 20  # less than a cell
    assert abs(y - (sides["y"] + sides["height"] + sums["y"]) / 2) < 14


def test_a_long_text_draws_only_the_cells_in_view(open_file: Open) -> None:
    page = open_file(table_file(trace_of("the book and " * 170, 1, 1)))
    expect_table(page, "512 by 512 tokens$")
    assert page.locator(".cell").count() < 3000
    page.get_by_role("grid").evaluate("grid => grid.scrollTo(1e6, 1e6)")
    expect(cell(page, 512, 512)).to_be_visible()
