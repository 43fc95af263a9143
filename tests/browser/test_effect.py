"""The effect page in the browser: a click on the map, the verdict, Cancel, a phone."""

from __future__ import annotations

from urllib.parse import quote

from playwright.sync_api import expect

from tests.browser.conftest import TEXT, Open, click_head, follow

BOOK = quote(TEXT)


def test_a_clicked_head_has_its_card_and_an_example_leads_to_another(goto: Open) -> None:
    page = goto(f"/effect?text={BOOK}")
    expect(page.get_by_text("99 random directions")).to_be_visible()
    expect(page.get_by_text("A dot: more than random directions")).to_be_visible()
    click_head(page, "effect_map", 2, 3)
    follow(page, "layer=2&head=3")
    expect(page.locator(".stMarkdown strong").filter(has_text="L2 H3").first).to_be_visible()
    page.get_by_role("button", name="Largest effect").click()
    page.wait_for_url(lambda address: "layer=2&head=3&" not in address)


def test_a_held_pair_is_taken_away_and_a_head_that_moved_is_opened(goto: Open) -> None:
    page = goto(f"/heatmap?text={BOOK}&layer=4&head=2&cell=11,5")
    page.get_by_role("button", name="Take the held pair away").click()
    follow(page, "cut_query=11&cut_key=5")
    expect(page.get_by_text("Without it → book in L4 H2")).to_be_visible()
    click_head(page, "effect_moved", 6, 1)
    follow(page, "shown=L6H1")
    expect(page.get_by_text("L6 H1 before").first).to_be_visible()
