"""The first row in the browser: typing, leaving by a link, Back, fast presses, Share."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, quote, urlsplit

import pytest
import zxingcpp
from PIL import Image
from playwright.sync_api import ViewportSize, expect

from tests.browser.conftest import PATIENCE_MS, Open, arrive, box_of, follow, settle

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Browser, Locator, Page

# How many messages the page sends to its server from now on.
COUNT_MESSAGES = """() => {
  const { send } = WebSocket.prototype
  window.sent = 0
  WebSocket.prototype.send = function (data) { sent++; return send.call(this, data) }
}"""
TYPED = "The brown capybara is sleeping now."


def test_a_text_grows_with_its_lines_and_enter_applies_it_once(goto: Open) -> None:
    page = goto(f"/heatmap?text={quote('in autumn ' * 30)}", width=1280)
    text = page.get_by_label("Text", exact=True)
    field = page.get_by_test_id("stTextAreaRootElement")
    assert box_of(field)["height"] == pytest.approx(40, abs=0.1)
    page.evaluate(COUNT_MESSAGES)
    text.fill("leaves fall")
    for line, lines in enumerate((2, 3, 4, 5, 5, 5), start=1):
        text.press("Shift+Enter")
        page.keyboard.insert_text(f"in autumn {line}")
        assert box_of(field)["height"] == pytest.approx(40 + (lines - 1) * 19.6, abs=0.5), line
    assert text.evaluate("each => each.scrollTop") > 0
    assert page.evaluate("sent") == 0
    text.press("Control+Enter")
    follow(page, "text=leaves.fall%0Ain.autumn.1%0A.*%0Ain.autumn.6&")
    assert page.evaluate("sent") == 1
    expect(text).not_to_be_focused()
    assert text.evaluate("each => [each.scrollTop, each.scrollLeft]") == [0, 0]
    text.press("Enter")
    settle(page)
    assert page.evaluate("sent") == 1, "nothing new was typed"


def leave_by(page: Page, link: Locator, press: Callable[[float, float], None]) -> None:
    """Type, then press a link without holding it, as a fast hand does."""
    page.get_by_label("Text", exact=True).fill(TYPED)
    link.scroll_into_view_if_needed()
    box = box_of(link)
    press(box["x"] + 15, box["y"] + box["height"] / 2)
    page.wait_for_url(re.compile(r"/vectors\?.*text=The.brown.capybara"))
    settle(page)
    expect(page.get_by_role("heading", name="Vector grid", level=1)).to_be_visible()


def card_of(page: Page) -> Locator:
    return page.get_by_test_id("stMain").locator("a[href*=vectors] >> visible=true").first


def test_a_link_that_ends_typing_opens_its_page_with_the_text(goto: Open) -> None:
    page = goto("/home", width=1280, height=720)
    leave_by(page, card_of(page), page.mouse.click)
    page.get_by_label("Text", exact=True).fill("")
    menu = page.get_by_test_id("stSidebarNav")
    menu.get_by_text("Home").click()
    page.wait_for_url(re.compile("/home"))
    settle(page)
    leave_by(page, menu.locator("a[href*=vectors]"), page.mouse.click)


def test_under_a_finger_links_end_typing_and_a_tap_shuts_words(browser: Browser, app: str) -> None:
    phone = ViewportSize(width=390, height=844)
    page = browser.new_page(viewport=phone, has_touch=True, is_mobile=True)
    page.set_default_timeout(PATIENCE_MS)
    page.goto(f"{app}/home")
    arrive(page)
    leave_by(page, card_of(page), page.touchscreen.tap)
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
    opened = goto(f"{copied.path}?{copied.query}", anew=True)
    assert parse_qs(urlsplit(opened.url).query) == parse_qs(here.query)
