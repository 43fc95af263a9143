"""An image of one's own, brought with the real uploader and lost by a reload; its other pages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.browser.conftest import follow
from tests.pages.vision import png

if TYPE_CHECKING:
    from tests.browser.conftest import Open


def test_a_file_is_shown_at_once_and_one_that_is_none_leaves_it(goto: Open) -> None:
    page = goto("/heatmap?input=image&image=coffee")
    expect(page.get_by_text(re.compile("^256 × 256 → 96 × 96"))).to_be_visible()
    page.get_by_role("button", name="Your image").click()
    chooser = page.locator("input[type=file]")
    chooser.set_input_files({"name": "mine.png", "mimeType": "image/png", "buffer": png(side=60)})
    expect(page.get_by_text(re.compile("^60 × 60 → 96 × 96"))).to_be_visible()
    follow(page, "image=own")
    text = b"The cat sat on the mat."
    chooser.set_input_files({"name": "no.png", "mimeType": "image/png", "buffer": text})
    expect(page.get_by_test_id("stAlert")).to_have_count(1)
    expect(page.get_by_text(re.compile("^60 × 60 → 96 × 96"))).to_be_visible()


def test_patches_leads_to_the_head_view_with_the_image(goto: Open) -> None:
    page = goto("/images")
    page.get_by_role("button", name="Same view of this image").click()
    page.get_by_role("menuitem", name="Head view").click()
    follow(page, r"/head_view\?.*input=image")
    expect(page.locator(".token .patch")).to_have_count(2 * 144)
    first = page.locator(".keys .token .patch").first
    assert first.evaluate("each => each.getBoundingClientRect().width") == 18


def test_odd_patches_fit_a_phone(goto: Open) -> None:
    page = goto("/anomalies?input=image&anomaly=odd", width=390, height=844)
    expect(page.get_by_text("High-norm patches framed")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
