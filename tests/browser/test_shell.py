"""The shell in the browser: themes, phones, hostile text, odd links, failures."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Open, choose, follow, settle

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

# Pages, the key of their part, and further parts by name.
PAGES_OF_TEXTS: dict[str, tuple[str, dict[str, str]]] = {
    "/": ("", {}),
    "/heatmap?layer=1&head=1": ("", {}),
    "/vectors": ("", {}),
    "/projection": ("", {}),
    "/anomalies": ("anomaly", {"moved": "What one head moves", "states": "Massive activations"}),
    "/patterns": ("part", {"one": "One head", "alike": "Similar heads"}),
}
AT_NIGHT = ("/heatmap?layer=1&head=1", "/vectors", "/projection", "/patterns")
LABELLED = {"/", "/heatmap?layer=1&head=1"}  # every token has its label there
HOSTILE = (
    "<b>x</b> $x$ :red[x] 😀 مرحبا `code` <script>alert(1)</script> ![](http://a.b/c.png) it it"
)


def test_home_shows_tokens_and_the_colours_of_either_theme(goto: Open) -> None:
    page = goto("/")
    expect(page.locator(".st-key-home_chips .chip").first).to_contain_text("[CLS]")
    expect(page.locator(".st-key-home_chips .chip")).to_have_count(13)
    app = page.get_by_test_id("stApp")
    word = page.locator(".st-key-home_arcs .word", has_text="enjoyed")
    expect(app).to_have_css("background-color", "rgb(255, 255, 255)")
    expect(word).to_have_css("color", "rgb(14, 18, 28)")
    page.get_by_test_id("stMainMenu").click()
    page.get_by_test_id("stMainMenuPopover").get_by_text("Dark").click()
    expect(app).to_have_css("background-color", "rgb(16, 19, 28)")
    expect(word).to_have_css("color", "rgb(230, 233, 242)")
    page.get_by_role("button", name="Share").click()
    code = page.locator(".st-key-share_box").get_by_test_id("stCode").locator(".keyword").first
    expect(code).to_have_css("color", "rgb(188, 197, 249)")  # outside of the app's own element


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(each, marks=[pytest.mark.nightly] if each in AT_NIGHT else [])
        for each in PAGES_OF_TEXTS
    ],
)
def test_hostile_text_stays_text_on_a_phone_that_scrolls_only_down(goto: Open, path: str) -> None:
    link = f"{path}{'&' if '?' in path else '?'}text={quote(HOSTILE)}"
    page = goto(link, width=390, height=844, scheme="dark")
    expect(page.get_by_label("Text", exact=True)).to_have_value(HOSTILE)
    expect(page.get_by_test_id("stApp")).to_have_css("background-color", "rgb(16, 19, 28)")
    drawn = page.locator(".js-plotly-plot, .chips, .world, .grid").last
    for token in ("<", "script", "$", "😀", "[", "`") if path in LABELLED else ():
        expect(drawn.get_by_text(token, exact=True).first).to_be_attached()
    assert_harmless(page)
    key, parts = PAGES_OF_TEXTS[path]
    if parts:
        page.get_by_role("button", name="Controls").click()
    for part, name in parts.items():
        choose(page, "Part", name)
        follow(page, f"{key}={part}")
        expect(page.locator(".js-plotly-plot").last).to_be_visible()
        assert_harmless(page)
    if parts:
        page.get_by_role("button", name="Show the picture").click()


def assert_harmless(page: Page) -> None:
    """No element or mathematics of what was typed, and nothing wider than the phone."""
    drawn = page.locator(".js-plotly-plot, .chips, .world, .grid").last
    assert drawn.locator("img, script, a, .katex").count() == 0
    assert page.locator('[data-testid="stMarkdown"] :is(img, script)').count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    main = page.get_by_test_id("stMain")
    assert main.evaluate("node => node.scrollWidth - node.clientWidth") <= 0


def test_an_impossible_link_is_reported_and_an_example_fills_both_fields(goto: Open) -> None:
    link = {"head": "<script>alert(1)</script>", "model": "<img src=x onerror=alert(1)>"}
    page = goto(f"/heatmap?{urlencode(link)}")
    for message in (
        "This link asks for head <script>alert(1)</script>.",
        "public model called <img src=x onerror",
    ):
        expect(page.get_by_test_id("stAlert").filter(has_text=message)).to_be_visible()
    expect(page.get_by_role("grid")).to_be_visible()
    assert page.locator("main img, main script").count() == 0
    page.get_by_role("button", name="Examples").click()
    page.get_by_text("leaves fall in autumn / autumn is marked").click()
    settle(page)
    expect(page.get_by_placeholder("e.g. It was a gift from my friend.")).to_have_value(
        "autumn is marked by colorful foliage"
    )
    follow(page, "pair=autumn")
    expect(page.locator(".boundary")).to_have_count(2)


def test_the_server_says_nothing(log: Path, app: str) -> None:
    lines = log.read_text().splitlines()
    odd = [
        line for line in lines if re.search(r"warn|error|Traceback|exception", line, re.IGNORECASE)
    ]
    assert odd == []
