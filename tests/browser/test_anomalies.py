"""The anomaly page in the browser: clicks on charts, links to other pages, files."""

from __future__ import annotations

from urllib.parse import quote

from playwright.sync_api import expect

from tests.browser.conftest import (
    TEXT,
    Open,
    box_of,
    click_head,
    follow,
    settle,
)
from tests.looks.visit import wait_until_drawn, words_in_view

BOOK = quote(TEXT)


def test_a_clicked_head_shows_what_it_moves_and_hiding_the_first_token_takes_its_column_away(
    goto: Open,
) -> None:
    page = goto(f"/anomalies?text={BOOK}")
    click_head(page, "anomalies_map", 3, 8)
    follow(page, "anomaly=moved&layer=3&head=8")
    sentence = page.get_by_text("This head puts")
    expect(sentence).to_contain_text("This head puts 0.85 on the first token")
    expect(page.locator(".js-plotly-plot")).to_have_count(2)
    plot = page.locator(".st-key-anomalies_raw")
    expect(plot.locator(".xtick")).to_have_count(13)
    page.get_by_text("Hide the first token", exact=True).click()
    follow(page, "latent=1")
    expect(plot.locator(".xtick")).to_have_count(12)
    expect(plot).not_to_contain_text("[CLS]")


def test_a_table_offers_no_file_in_which_tokens_are_formulas(goto: Open) -> None:
    """Streamlit writes cells as they are; the page's own button marks those that would run."""
    page = goto("/anomalies?text=%3D1%2B1")
    measures = page.get_by_text("Every measure of every head")
    expect(measures).to_be_visible(timeout=180_000)
    measures.click()
    table = page.get_by_test_id("stDataFrame").first
    table.scroll_into_view_if_needed()
    table.hover()
    toolbar = page.get_by_test_id("stElementToolbar").filter(has=page.get_by_label("Search"))
    expect(toolbar.first).to_be_visible()
    expect(page.get_by_label("Download as CSV")).to_have_count(0)
    expect(page.get_by_role("button", name="Download CSV")).to_be_visible()


def test_the_first_screen_is_short_and_shows_the_lines_of_an_unusual_head(
    open_page: Open, app: str
) -> None:
    page = open_page("light", 1280, 720)
    page.goto(f"{app}/anomalies?text={BOOK}")
    settle(page)
    wait_until_drawn(page)
    assert words_in_view(page) <= 60
    lines = page.locator(".st-key-anomalies_lines_1_8")
    expect(lines.locator("canvas.sheet")).to_have_attribute("data-drawn", "1")
    box = box_of(lines)
    assert box["y"] + box["height"] < 720
