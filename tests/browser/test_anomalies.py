"""The anomaly page in the browser: its first screen, clicks on charts, files."""

from __future__ import annotations

from urllib.parse import quote

from playwright.sync_api import expect

from tests.browser.conftest import TEXT, Open, box_of, click_head, follow
from tests.looks.visit import wait_until_drawn, words_in_view


def test_a_short_first_screen_a_clicked_head_and_a_table_without_formulas(goto: Open) -> None:
    """Streamlit writes cells as they are; the page's own button marks those that would run."""
    page = goto(f"/anomalies?text={quote(TEXT)}", width=1280, height=720)
    wait_until_drawn(page)
    assert words_in_view(page) <= 60
    lines = page.locator(".st-key-anomalies_lines_1_8")
    expect(lines.locator("canvas.sheet")).to_have_attribute("data-drawn", "1")
    box = box_of(lines)
    assert box["y"] + box["height"] < 720
    page.get_by_text("Every measure of every head").click()
    table = page.get_by_test_id("stDataFrame").first
    table.scroll_into_view_if_needed()
    table.hover()
    toolbar = page.get_by_test_id("stElementToolbar").filter(has=page.get_by_label("Search"))
    expect(toolbar.first).to_be_visible()
    expect(page.get_by_label("Download as CSV")).to_have_count(0)
    expect(page.get_by_role("button", name="Download CSV")).to_be_visible()
    click_head(page, "anomalies_map", 3, 8)
    follow(page, "anomaly=moved&layer=3&head=8")
    expect(page.get_by_text("This head puts 0.85 on the first token")).to_be_visible()
    expect(page.locator(".js-plotly-plot")).to_have_count(2)
    plot = page.locator(".st-key-anomalies_raw")
    expect(plot.locator(".xtick")).to_have_count(13)
    page.get_by_text("Hide the first token", exact=True).click()
    follow(page, "latent=1")
    expect(plot.locator(".xtick")).to_have_count(12)
    expect(plot).not_to_contain_text("[CLS]")
