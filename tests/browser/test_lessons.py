"""Lessons in the browser: by keyboard alone, on a phone, presented."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from core.ui.lessons.record import read_lesson
from tests.browser.conftest import Open, box_of, follow, settle
from tests.looks.visit import is_streamlits, violations_of

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

LESSON = read_lesson("rows")
LAST = len(LESSON.steps)
FOCUS = """() => {
  let node = document.activeElement
  while (node.shadowRoot?.activeElement) node = node.shadowRoot.activeElement
  return `${node.localName} ${node.className}`
}"""


def strip(page: Page) -> Locator:
    return page.get_by_role("region", name="Lesson")


def test_a_lesson_is_done_by_keys_alone_and_survives_a_reload_and_other_pages(goto: Open) -> None:
    page = goto("/home?lesson=rows&step=2", anew=True)
    expect(strip(page)).to_contain_text(f"step 2 of {LAST}")
    page.keyboard.press("PageUp")
    for number, step in enumerate(LESSON.steps, start=1):
        follow(page, rf"/{step.page}\?.*lesson=rows&step={number}")
        expect(strip(page)).to_contain_text(f"step {number} of {LAST}")
        status = strip(page).get_by_role("status")
        if step.ask is not None:
            page.wait_for_function(f"() => ({FOCUS})() === 'p ask'")
            expect(status).to_have_text("")
            if number == 2:  # another layer is another run, in which the strip stays
                page.keyboard.press("ArrowDown")
                follow(page, "layer=5")
                assert page.evaluate(FOCUS) == "p ask"
            page.keyboard.press("Tab")
            is_typed = step.ask.kind in {"number", "head"}
            if is_typed:
                page.keyboard.type("?")
                page.keyboard.press("Enter")
                expect(strip(page).locator("input:invalid")).to_be_focused()
                page.keyboard.press("Backspace")
                page.keyboard.type("7 %" if step.ask.kind == "number" else "h1 l1")
            page.keyboard.press("Enter")
            expect(status).to_have_text(re.compile("^(Right|Not quite)"))
            assert page.evaluate(FOCUS).split()[0] == ("input" if is_typed else "button")
            if is_typed:
                page.keyboard.press("Tab")  # a field uses the keys itself
        page.keyboard.press("PageDown")
    asked = sum(step.ask is not None for step in LESSON.steps)
    line = strip(page).get_by_label("To hand in")
    expect(line).to_have_value(re.compile(rf"^{LESSON.title}: \d of {asked} right at first try"))
    before = line.input_value()
    page.reload()
    expect(strip(page).get_by_label("To hand in")).to_have_value(before)
    page.get_by_role("link", name="Model view").click()
    follow(page, "/model_view.*lesson=rows")
    strip(page).get_by_role("button", name="Open this step").press("Enter")
    follow(page, rf"/{LESSON.steps[-1].page}\?.*lesson=rows&step={LAST}")
    strip(page).get_by_role("button", name="Leave").press("Enter")
    expect(strip(page)).to_have_count(0)
    follow(page, rf"/{LESSON.steps[-1].page}\?(?!.*lesson)")
    assert page.evaluate("sessionStorage.getItem('headscope-lessons')") == "{}"


def test_on_a_phone_the_veil_hides_the_picture_until_a_guess_and_axe_finds_nothing(
    goto: Open,
) -> None:
    veiled = [step.veiled and step.page == "heatmap" for step in LESSON.steps].index(True) + 1
    page = goto(f"/home?lesson=rows&step={veiled}", width=390, height=844, anew=True)
    follow(page, f"/heatmap.*lesson=rows&step={veiled}")
    words = strip(page).get_by_role("group", name="Words").get_by_role("button")
    picture, captions = (
        page.locator(".st-key-heatmap_table"),
        page.get_by_test_id("stCaptionContainer"),
    )
    expect(words.first).to_be_visible()
    expect(picture).to_have_count(1)
    expect(picture.get_by_role("grid")).to_have_count(0)  # nor does a screen reader tell it
    expect(captions.first).to_be_hidden()
    words.first.click()
    expect(strip(page).locator("path")).not_to_have_count(0)
    expect(picture.get_by_role("grid")).to_be_visible()
    assert box_of(picture)["y"] >= box_of(strip(page))["y"] + box_of(strip(page))["height"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert [each for each in violations_of(page) if not is_streamlits(*each)] == []
    strip(page).get_by_role("button", name="Next").click()
    follow(page, f"lesson=rows&step={veiled + 1}")
    expect(strip(page)).to_contain_text(f"step {veiled + 1} of")
    page.go_back()
    expect(strip(page)).to_contain_text(f"step {veiled} of")
    follow(page, f"lesson=rows&step={veiled}")


def test_presented_the_question_is_as_large_as_the_headline_and_keys_keep_their_parts(
    goto: Open,
) -> None:
    page = goto("/home?lesson=rows&step=1", width=1920, height=1080, anew=True)
    follow(page, "lesson=rows&step=1")
    page.keyboard.press("p")
    expect(page.locator("html")).to_have_attribute("data-present", "")
    title = page.get_by_role("heading", level=1)
    size = title.evaluate("(node) => getComputedStyle(node).fontSize")
    expect(strip(page).locator(".ask")).to_have_css("font-size", size)
    page.keyboard.press("PageDown")
    follow(page, rf"/{LESSON.steps[1].page}\?.*lesson=rows&step=2.*layer=\d")
    expect(page.locator("html")).to_have_attribute("data-present", "")
    page.get_by_test_id("stSidebar").wait_for(state="hidden")
    settle(page)
    layer = re.search(r"layer=(\d+)", page.url)
    assert layer is not None
    page.keyboard.press("ArrowUp")
    follow(page, rf"lesson=rows&step=2.*layer={int(layer[1]) - 1}")
