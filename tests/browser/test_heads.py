"""The pages of heads in the browser: first screens, maps and points that choose a head, paths."""

from __future__ import annotations

from urllib.parse import quote

from playwright.sync_api import expect

from tests.browser.conftest import TEXT, Open, box_of, click_chart, click_head, follow, middle_of
from tests.looks.visit import words_in_view

BOOK = quote(TEXT)
EFFECT = "/effect?model=bundled/gpt2-novels&text=the%20king%20met%20a%20dog&layer=4&head=2"
PATHS = ".st-key-effect_paths"


def test_a_clicked_head_is_shown_and_a_table_is_without_formulas(goto: Open) -> None:
    """Streamlit writes cells as they are; the page's own button marks those that would run."""
    page = goto(f"/anomalies?text={BOOK}", width=1280, height=720)
    lines = page.locator(".st-key-anomalies_lines_1_8")
    expect(lines.locator("canvas.sheet")).to_have_attribute("data-drawn", "1")
    box = box_of(lines)
    assert box["y"] + box["height"] < 720
    assert words_in_view(page) <= 60
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
    plot = page.locator(".st-key-anomalies_raw")
    expect(plot.locator(".xtick")).to_have_count(13)
    page.get_by_text("Hide the first token", exact=True).click()
    follow(page, "latent=1")
    expect(plot.locator(".xtick")).to_have_count(12)
    expect(plot).not_to_contain_text("[CLS]")


def test_a_click_on_the_map_or_on_similar_heads_chooses_one(goto: Open) -> None:
    page = goto(f"/patterns?text={BOOK}&layer=1&head=3", scheme="dark")
    chart = page.locator(".st-key-patterns_map")
    expect(chart.locator(".barlayer .point")).to_have_count(72)
    expect(chart.locator(".barlayer .bartext", has_text="F")).to_have_count(42)
    expect(chart.locator(".legendtext").nth(2)).to_have_text("F first token (42)")
    click_head(page, "patterns_map", 2, 9)
    follow(page, "layer=2&head=9")
    expect(page.get_by_text("L2 H9: next token.")).to_be_visible()
    page = goto(f"/patterns?text={BOOK}&part=alike&layer=2&head=1")
    points = page.locator(".st-key-patterns_alike .scatterlayer .point")
    expect(points).to_have_count(72 + 1)  # and the ring
    click_chart(page, "patterns_alike", *middle_of(points.first))  # that of the previous token
    follow(page, "layer=1&head=3")
    expect(page.get_by_text("Nearest to L1 H3")).to_be_visible()


def test_pointing_lights_the_paths_and_a_click_follows_another_token(goto: Open) -> None:
    page = goto(f"/effect?part=paths&text={BOOK}", width=1280, height=720)
    sources, targets = page.locator(f"{PATHS} .source"), page.locator(f"{PATHS} .target")
    tip, dim = page.locator(f"{PATHS} .tip"), page.locator(f"{PATHS} .source.dim")
    expect(targets.nth(10)).to_have_attribute("aria-pressed", "true")
    sources.nth(4).hover()
    expect(tip).to_have_text("27\xa0% of “it” comes from “book”")
    expect(dim).to_have_count(12)
    expect(dim.filter(has_text="book")).to_have_count(0)
    canvas = box_of(page.locator(f"{PATHS} canvas.sheet"))
    step = (canvas["width"] - 28) / 6
    page.mouse.move(canvas["x"] + 14 + 4 * step, canvas["y"] + 4.5 * 28)
    expect(tip).to_contain_text("“book” after layer 4:")
    expect(tip).to_contain_text("of “it” passes here")
    targets.nth(9).click()
    follow(page, "token=10")
    expect(targets.nth(9)).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_text("comes from").first).to_be_visible()


def test_a_clicked_head_has_its_card_and_one_that_moved_is_opened(goto: Open) -> None:
    page = goto(f"{EFFECT}&part=heads")
    click_head(page, "effect_map", 2, 3, (4, 4))
    follow(page, "layer=2&head=3")
    expect(page.locator(".stMarkdown strong").filter(has_text="L2 H3").first).to_be_visible()
    page = goto(f"{EFFECT}&part=away&take=edge&cell=5,2")
    click_head(page, "effect_moved", 4, 1, (4, 4))
    follow(page, "shown=L4H1")
    expect(page.get_by_text("L4 H1 before").first).to_be_visible()
