"""The first row in the browser: typing, leaving by a link, Back, fast presses, Share."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, quote, urlsplit

import pytest
import zxingcpp
from PIL import Image
from playwright.sync_api import expect

from tests.browser.conftest import (
    Open,
    arrive,
    box_of,
    count_messages,
    follow,
    settle,
    step_to,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, BrowserContext, Locator, Page, ViewportSize

    OpenHome = Callable[[bool], Page]

TYPED = "The brown capybara is sleeping now."


@pytest.mark.parametrize(("width", "key"), [(1280, "Control+Enter"), (390, "Enter")])
def test_a_text_grows_with_its_lines_and_enter_applies_it_once(
    goto: Open, width: int, key: str
) -> None:
    page = goto(f"/heatmap?text={quote('in autumn ' * 30)}", width=width)
    text = page.get_by_label("Text", exact=True)
    field = page.get_by_test_id("stTextAreaRootElement")
    assert box_of(field)["height"] == pytest.approx(40, abs=0.1)
    asked = count_messages(page)
    text.fill("leaves fall")
    for line, lines in enumerate((2, 3, 4, 5, 5, 5), start=1):
        text.press("Shift+Enter")
        page.keyboard.type(f"in autumn {line}")
        grown = box_of(field)["height"]
        assert grown == pytest.approx(40 + (lines - 1) * 19.6, abs=0.5), line
    assert text.evaluate("each => each.scrollTop") > 0
    assert asked() == 0
    text.press(key)
    follow(page, "text=leaves.fall%0Ain.autumn.1%0A.*%0Ain.autumn.6&")
    assert asked() == 1
    expect(text).not_to_be_focused()
    assert text.evaluate("each => [each.scrollTop, each.scrollLeft]") == [0, 0]
    asked_before = asked()
    text.press("Enter")
    settle(page)
    assert asked() == asked_before, "nothing new was typed"


def leave_by(page: Page, link: Locator, *, touch: bool) -> None:
    """Type, then press a link without holding it, as a fast hand does."""
    page.get_by_label("Text", exact=True).fill(TYPED)
    link.scroll_into_view_if_needed()
    box = box_of(link)
    place = box["x"] + 15, box["y"] + box["height"] / 2
    if touch:
        page.touchscreen.tap(*place)
    else:
        page.mouse.click(*place)
    page.wait_for_url(re.compile(r"/vectors\?.*text=The.brown.capybara"))
    settle(page)
    expect(page.get_by_role("heading", name="Vector grid", level=1)).to_be_visible()


@pytest.mark.parametrize("touch", [False, True], ids=["mouse", "touch"])
def test_a_link_that_ends_typing_opens_its_page_with_the_text(
    browser_at: OpenHome, touch: bool
) -> None:
    page = browser_at(touch)
    card = page.get_by_test_id("stMain").locator("a[href*=vectors] >> visible=true").first
    leave_by(page, card, touch=touch)
    if touch:
        return  # on a phone the menu lies over the field
    page.get_by_label("Text", exact=True).fill("")
    menu = page.get_by_test_id("stSidebarNav")
    menu.get_by_text("Home").click()
    page.wait_for_url(re.compile("/home"))
    settle(page)
    leave_by(page, menu.locator("a[href*=vectors]"), touch=False)


def test_words_and_question_marks_open_under_a_finger_and_the_next_tap_shuts_them(
    browser_at: OpenHome, app: str
) -> None:
    touch = True
    page = browser_at(touch)
    page.goto(f"{app}/heatmap")
    arrive(page)
    hint = page.get_by_role("tooltip")
    page.get_by_role("button", name="Controls").tap()
    switch = page.locator(".st-key-two")
    switch.get_by_test_id("stTooltipHoverTarget").tap()
    expect(hint).to_contain_text("Both sentences go through the model together")
    expect(hint).to_have_count(1)
    expect(switch.get_by_role("switch")).not_to_be_checked()
    glossary = page.locator(".st-key-page_end").get_by_role("button", name="Glossary")
    glossary.tap()
    expect(hint).to_have_count(0)
    expect(page.get_by_test_id("stPopoverBody")).to_contain_text("The attention of one query token")
    glossary.tap()
    expect(page.get_by_test_id("stPopoverBody")).to_have_count(0)
    header = page.get_by_test_id("stHeader")
    assert page.get_by_test_id("stMain").evaluate("each => each.scrollTop") > 0
    assert header.evaluate("each => getComputedStyle(each).backgroundColor") == "rgb(255, 255, 255)"


@pytest.fixture
def browser_at(browser: Browser, app: str) -> Iterator[OpenHome]:
    """A page on Home: of a computer with a mouse, or of a phone with a touch screen."""
    contexts: list[BrowserContext] = []

    def open_home(touch: bool) -> Page:
        size: ViewportSize = (
            {"width": 390, "height": 844} if touch else {"width": 1280, "height": 720}
        )
        context = browser.new_context(viewport=size, has_touch=touch, is_mobile=touch)
        context.set_default_timeout(90_000)
        contexts.append(context)
        page = context.new_page()
        page.goto(f"{app}/home")
        arrive(page)
        expect(page.get_by_test_id("stMain").locator("a[href*=vectors]").first).to_be_attached()
        settle(page)
        return page

    yield open_home
    for context in contexts:
        context.close()


def test_one_press_of_back_leaves_a_page_however_much_was_changed_there(goto: Open) -> None:
    page = goto("/heatmap")
    follow(page, "layer=4&head=2")
    step_to(page, "Layer", "1")
    follow(page, "layer=1")
    step_to(page, "Head", "3")
    follow(page, "layer=1&head=3")
    page.get_by_test_id("stSidebarNav").get_by_text("Vector grid").click()
    follow(page, "/vectors.*draw=attention")
    page.go_back()
    follow(page, "/heatmap.*layer=1&head=3")
    expect(page.get_by_role("grid")).to_have_attribute("aria-label", re.compile("L1 H3"))
    page.go_back()
    assert page.url == "about:blank"
    page.close()


def test_share_gives_a_link_that_a_phone_reads_from_the_code(goto: Open, app: str) -> None:
    page = goto("/heatmap?layer=2&head=3&hide=1")
    page.get_by_role("button", name="Share").click()
    settle(page)
    box = page.locator(".st-key-share_box")
    (link := box.get_by_test_id("stCode").first).hover()  # its button shows itself
    link.locator("button").click()
    copied = urlsplit(page.evaluate("navigator.clipboard.readText()"))
    here = urlsplit(page.url)
    assert (copied.path, copied.port) == ("/heatmap", urlsplit(app).port)
    assert parse_qs(copied.query).items() < parse_qs(here.query).items()  # no defaults
    assert len(copied.geturl()) < 150
    code = box.get_by_test_id("stImage")
    (read,) = zxingcpp.read_barcodes(Image.open(io.BytesIO(code.screenshot())))
    assert read.text == copied.geturl()
    expect(box.get_by_text("trace.attention(layer, head)")).to_be_visible()
    opened = goto(f"{copied.path}?{copied.query}")
    assert parse_qs(urlsplit(opened.url).query) == parse_qs(here.query)
