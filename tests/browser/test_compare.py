"""The comparison in the browser: a cell on both sides, keys, the map, words paired by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import quote

from playwright.sync_api import Page, expect

from tests.browser.conftest import Open, box_of, follow
from tests.browser.views import await_report, file_of, told
from tests.components.test_compare_view import VIEW

if TYPE_CHECKING:
    from playwright.sync_api import Locator

STUDENT = "The quick student finished the difficult work."
NEVER = "The quick student never finished the difficult work."
LINES = quote("The fast student finished the difficult work.")
LINK = f"/compare?text={quote(STUDENT)}&text_b={quote(NEVER)}&lines={LINES}"


def point(page: Page, row: int, column: int, panel: int = 0) -> None:
    """Point at a cell, by what its ring says of the size of cells."""
    page.get_by_role("application").focus()
    page.keyboard.press("Home")
    rings = page.locator(".ring")
    first, canvas = box_of(rings.nth(panel)), box_of(page.locator(".panels canvas").nth(panel))
    label, side = first["x"] - canvas["x"] + 1, first["width"] - 1
    x, y = (label + (place + 0.5) * side for place in (column, row))
    page.mouse.move(canvas["x"] + x, canvas["y"] + y)


def words(page: Page, side: int) -> Locator:
    return page.locator(".line").nth(side).get_by_role("button")


def test_a_cell_is_read_on_both_sides_and_ringed_in_all_three_pictures(open_file: Open) -> None:
    page = open_file(file_of("compare", VIEW.packed()))
    sentence = page.locator(".sentence")
    expect(sentence).to_contain_text("Point at a cell")
    expect(page.locator("figcaption")).to_have_text(
        ["A · L1 H2", "B · L1 H2", "B − A", "Distance of each head"]
    )
    point(page, 0, 0, panel=2)
    expect(sentence).to_have_text("it → it  A 0.750 · B 0.250 · change −0.500")
    boxes = [box_of(ring) for ring in page.locator(".ring").all()]
    canvases = [box_of(canvas) for canvas in page.locator(".panels canvas").all()]
    places = {
        (round(ring["x"] - canvas["x"]), round(ring["y"] - canvas["y"]))
        for ring, canvas in zip(boxes, canvases, strict=True)
    }
    assert len(places) == 1
    point(page, 0, 2)
    expect(sentence).to_contain_text("it → words without a partner  A 0.000 · B 0.500")
    page.mouse.down()
    page.mouse.up()
    assert told(page) == []  # the rest is no word
    point(page, 1, 0)
    page.mouse.down()
    page.mouse.up()
    await_report(page, row=1, column=0)
    page.get_by_role("application").focus()
    page.keyboard.press("Escape")
    page.wait_for_function("window.told.length === 2")
    assert told(page)[-1] == {}


def test_keys_move_pin_and_open_a_head_and_two_words_become_partners(open_file: Open) -> None:
    page = open_file(file_of("compare", replace(VIEW, corrected=True).packed()), width=390)
    page.get_by_role("application").focus()
    for key in ("Home", "ArrowDown", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    await_report(page, row=1, column=1)
    heads = page.get_by_role("gridcell")
    expect(heads.nth(1)).to_have_accessible_name("L1 H2: 0.75")
    assert heads.nth(0).evaluate("e => e.style.background") == ""  # under the floor
    heads.nth(1).focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    await_report(page, layer=1, head=1)
    expect(words(page, 1).nth(1)).to_have_class("alone")
    words(page, 1).nth(1).click()
    words(page, 0).nth(0).click()
    await_report(page, a=0, b=1)
    page.get_by_role("button", name="Undo my pairs").click()
    page.wait_for_function("window.told.length === 4")
    assert told(page)[-1] == {}


def test_a_head_a_cell_and_a_pair_of_words_go_into_the_link_and_back(goto: Open) -> None:
    page = goto(LINK)
    expect(page.locator("figcaption").first).to_have_text("A · L6 H10")
    page.get_by_role("gridcell", name="L4 H2:").click()
    follow(page, "layer=4&head=2")
    expect(page.locator("figcaption").first).to_have_text("A · L4 H2")
    point(page, 3, 2)
    page.mouse.down()
    page.mouse.up()
    follow(page, r"cell=4%2C3")
    words(page, 0).nth(3).click()
    words(page, 1).nth(4).press("Enter")
    follow(page, "match=4-5")
    expect(page.locator(".alone")).to_have_text("student")
    expect(words(page, 1).nth(4)).to_be_focused()
    page.get_by_role("button", name="Undo my pairs").press("Enter")
    follow(page, "match=&")
    expect(page.locator(".alone")).to_have_text("never")
    expect(words(page, 0).first).to_be_focused()
