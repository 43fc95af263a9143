"""Streamlit's own tables: what their toolbar offers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

if TYPE_CHECKING:
    from tests.browser.conftest import Open


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
    expect(page.get_by_role("button", name="Table (CSV)")).to_be_visible()
