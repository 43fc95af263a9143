"""An image of one's own, brought with the real uploader; the switch; patches beside their names."""

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
    page.wait_for_url(lambda url: "image=" not in url)
    text = b"The cat sat on the mat."
    chooser.set_input_files({"name": "no.png", "mimeType": "image/png", "buffer": text})
    expect(page.get_by_test_id("stAlert")).to_have_count(1)
    expect(page.get_by_text(re.compile("^60 × 60 → 96 × 96"))).to_be_visible()


def test_the_switch_shows_an_image_and_the_sentence_again_with_patches_beside_names(
    goto: Open,
) -> None:
    page = goto("/head_view")
    expect(page.locator(".token .patch")).to_have_count(0)
    sidebar = page.get_by_test_id("stSidebar")
    sidebar.get_by_text("Image", exact=True).click()
    follow(page, "input=image")
    expect(page.locator(".token .patch")).to_have_count(2 * 144)
    first = page.locator(".keys .token .patch").first
    assert first.evaluate("each => each.getBoundingClientRect().width") == 18
    sidebar.get_by_text("Text", exact=True).click()
    expect(page.locator(".token .patch")).to_have_count(0)
    expect(page.get_by_test_id("stMain").get_by_text("Which tokens does each")).to_be_visible()


def test_odd_patches_fit_a_phone(goto: Open) -> None:
    page = goto("/anomalies?input=image&anomaly=odd", width=390, height=844)
    expect(page.get_by_text("Odd patches framed")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
