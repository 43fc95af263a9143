"""Head patterns in the browser: the map is painted, a click chooses a head."""

from __future__ import annotations

from urllib.parse import quote

from playwright.sync_api import expect

from tests.browser.conftest import TEXT, Open, box_of, click_chart, click_head, follow


def test_the_map_shows_letters_and_a_click_on_it_or_on_similar_heads_chooses_one(
    goto: Open,
) -> None:
    page = goto(f"/patterns?text={quote(TEXT)}&layer=1&head=3", scheme="dark")
    chart = page.locator(".st-key-patterns_map")
    expect(chart.locator(".barlayer .point")).to_have_count(72)
    expect(chart.locator(".barlayer .bartext", has_text="F")).to_have_count(42)
    assert chart.locator(".legendtext").all_text_contents() == [
        "P previous token (1)",
        "N next token (1)",
        "F first token (42)",
        "B broad (11)",
        "no pattern (17)",
    ]
    click_head(page, "patterns_map", 2, 9)
    follow(page, "layer=2&head=9")
    expect(page.get_by_text("L2 H9: next token.")).to_be_visible()
    page = goto(f"/patterns?text={quote(TEXT)}&part=alike&layer=2&head=1")
    points = page.locator(".st-key-patterns_alike .scatterlayer .point")
    expect(points).to_have_count(72 + 1)  # and the ring
    box = box_of(points.first)  # that of the previous token
    click_chart(page, "patterns_alike", box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    follow(page, "layer=1&head=3")
    expect(page.get_by_text("Nearest to L1 H3")).to_be_visible()
