"""The effect page in the browser: clicks on its two maps of heads."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.conftest import Open, click_head, follow

LINK = "/effect?text=leaves%20fall%20in%20autumn&layer=4&head=2"


def test_a_clicked_head_has_its_card_and_one_that_moved_is_opened(goto: Open) -> None:
    page = goto(LINK)
    click_head(page, "effect_map", 2, 3)
    follow(page, "layer=2&head=3")
    expect(page.locator(".stMarkdown strong").filter(has_text="L2 H3").first).to_be_visible()
    page = goto(f"{LINK}&part=away&take=edge&cell=5,2")
    click_head(page, "effect_moved", 6, 1)
    follow(page, "shown=L6H1")
    expect(page.get_by_text("L6 H1 before").first).to_be_visible()
