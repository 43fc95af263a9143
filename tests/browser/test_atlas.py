"""The atlas page in Chromium: bring a corpus, cancel, search, open heads, save and open again."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from core.analysis.corpus.sample import sample_sentences
from tests.browser.conftest import Open, box_of, choose, follow, reload, settle
from tests.looks.visit import texts_of, unreadable, violations_of, watch_canvases

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import FloatRect, Locator, Page

HOSTILE = ["</script><img src=x onerror=alert(1)>", "$x$ :red[x] **b**", "😀 مرحبا שלום"]
PARTS = {
    "heads": "All heads",
    "one": "One head",
}
SMALL = "/atlas?budget=1000"


def matrix(page: Page) -> Locator:
    return page.locator(".st-key-atlas_matrix .root")


def cloud(page: Page) -> Locator:
    return page.locator(".st-key-atlas_cloud .root")


def seen_box(canvas: Locator) -> FloatRect:
    canvas.scroll_into_view_if_needed()
    return box_of(canvas)


def find_point(page: Page, canvas: Locator) -> tuple[float, float]:
    """Move the pointer from the middle to the left until it meets a point; its place."""
    box = seen_box(canvas)
    for step in range(200):
        x = box["x"] + box["width"] * (0.5 - 0.002 * step)
        y = box["y"] + box["height"] * (0.5 + 0.0005 * step)
        page.mouse.move(x, y)
        if page.locator(".tip:visible").count():
            return x, y
    raise AssertionError("no point in the middle of the picture")


def enlarge(page: Page) -> str:
    """Press the matrix' button for that; how large it is then."""
    matrix(page).get_by_role("button", name="Larger").click()
    expect(matrix(page)).not_to_have_attribute("data-zoom", "1.00")
    return matrix(page).get_attribute("data-zoom") or ""


def give(page: Page, name: str, data: bytes) -> None:
    page.locator('input[type="file"]').set_input_files(
        {"name": name, "mimeType": "text/plain", "buffer": data}
    )


def test_a_cancel_ends_it_and_it_can_be_built_again(goto: Open) -> None:
    page = goto("/atlas?corpus=file&budget=6000")
    lines = "\n".join(f"{text} {i}" for i, text in enumerate(sample_sentences()[:200]))
    give(page, "lines.txt", lines.encode())
    page.get_by_role("button", name="Build the atlas").click()
    expect(
        page.get_by_text(re.compile(r"of [\d,]+ tokens · [\d,]+ tokens per second"))
    ).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Build the atlas").click()
    expect(page.get_by_text(re.compile(r"tokens of 200 texts"))).to_be_visible()
    expect(matrix(page)).to_have_attribute("data-painted", re.compile(r"\d"))
    settle(page)


def test_a_search_is_in_all_heads_at_once_and_finds_the_first_token_too(goto: Open) -> None:
    page = goto(SMALL)
    zoom = enlarge(page)
    find = page.get_by_role("textbox", name="Find")
    find.fill("she")
    find.press("Enter")
    message = page.get_by_text(re.compile("she: [0-9]+ match"))
    expect(message).to_be_visible()
    count = int(re.findall(r"(\d+) match", message.inner_text())[0])
    expect(matrix(page)).to_have_attribute("data-matches", str(2 * count))
    expect(matrix(page).locator(".legend")).to_contain_text("found")
    find.fill("[CLS]")
    find.press("Enter")
    message = page.get_by_text(re.compile(r"\[CLS\]: [0-9]+ match"))
    expect(message).to_contain_text(re.compile(r"(\d+) matches in \1 of \1 sentences"))
    follow(page, r"find=%5BCLS%5D")
    expect(matrix(page)).to_have_attribute("data-zoom", zoom)


def test_contexts_of_a_head_are_one_click_away_on_other_pages(goto: Open) -> None:
    page = goto("/heatmap?layer=4&head=3")
    page.get_by_role("button", name="Contexts of L4 H3").click()
    follow(page, r"/atlas\?.*part=one.*layer=4&head=3.*dossier=1")
    expect(page.get_by_role("heading", name="Contexts of L4 H3")).to_be_visible()


def test_on_a_phone_the_rows_fill_the_screen_and_the_page_still_scrolls(goto: Open) -> None:
    page = goto(f"{SMALL}&layer=4&head=6", width=390, height=844)
    canvas = matrix(page).locator("canvas.over")
    box = box_of(canvas)
    assert box["height"] > 500
    assert box["y"] + box["height"] < 844
    expect(canvas).to_have_css("touch-action", "pan-y")
    zoom = float(matrix(page).get_attribute("data-zoom") or "")
    side = zoom * (box["width"] - 35) / 12
    assert 6 * side == pytest.approx(box["height"] - 21, abs=2)


def test_a_dot_is_named_its_head_opened_and_saved(goto: Open, open_saved: Open) -> None:
    page = goto(f"{SMALL}&find=she")
    matches = matrix(page).get_attribute("data-matches") or ""
    saved = open_saved(page)
    expect(saved.locator(".root")).to_have_attribute("data-matches", matches)
    expect(saved.get_by_text("bundled/minilm: ")).to_be_visible()
    x, y = find_point(page, matrix(page).locator("canvas.over"))
    tip = page.locator(".tip:visible")
    expect(tip).to_contain_text(re.compile(r"(query|key) of “.+”"))
    [name] = re.findall(r"L\d H\d+", tip.inner_text())
    page.mouse.click(x, y)
    expect(cloud(page).locator(".title")).to_have_text(name)
    layer, head = re.findall(r"\d+", name)
    follow(page, f"part=one.*layer={layer}&head={head}&")
    expect(cloud(page)).to_have_attribute("data-matches", re.compile(r"[1-9]"))
    settle(page)
    saved = open_saved(page)
    expect(saved.locator(".title")).to_have_text(name)
    expect(saved.locator(".root")).to_have_attribute("data-painted", re.compile(r"\d"))


def test_a_click_shows_the_token_in_its_sentence_in_the_link_and_in_the_heads_below(
    goto: Open,
) -> None:
    page = goto(f"{SMALL}&part=one&layer=4&head=2")
    x, y = find_point(page, cloud(page).locator("canvas.over"))
    token = re.findall("“(.+)”", page.locator(".tip:visible").inner_text())[0]
    page.mouse.click(x, y)
    message = page.get_by_text(re.compile(r"^Token \d+, .+, of sentence"))
    expect(message).to_contain_text(token)
    expect(page.locator(".st-key-atlas_sentence")).to_contain_text(token)
    follow(page, r"token=[1-9]")
    text = message.inner_text()
    place = cloud(page).get_attribute("data-at")
    reload(page)
    expect(message).to_have_text(text)
    expect(cloud(page)).to_have_attribute("data-at", place or "")
    expect(cloud(page)).to_have_attribute("data-lines", re.compile(r"[1-9]"))
    reading = cloud(page).locator(".reading").inner_text()
    for _ in range(3):  # one more than there are: the last layer is the end
        page.get_by_role("button", name="Next layer").press("Enter")
    expect(cloud(page).locator(".title")).to_have_text("L6 H2")
    follow(page, "layer=6&head=2")
    page.get_by_role("button", name="Previous layer").press("Enter")
    expect(cloud(page).locator(".title")).to_have_text("L5 H2")
    follow(page, "layer=5&head=2")
    expect(cloud(page).locator(".reading")).not_to_have_text(reading)
    expect(cloud(page)).to_have_attribute("data-lines", re.compile(r"[1-9]"))


# But for rows of chips and parts, which are themselves no wider and scroll sideways.
TOO_WIDE = """() => { const scrolls = (node) => node !== null && node.dataset.testid !== "stMain" &&
  ((/auto|scroll|hidden/.test(getComputedStyle(node).overflowX) &&
    node.getBoundingClientRect().right <= 391) || scrolls(node.parentElement))
return [document.documentElement, ...document.querySelectorAll(
  '[data-testid="stMain"] :is(canvas, p, button, .js-plotly-plot, [data-testid="stDataFrame"])'
)].filter((node) => node.getBoundingClientRect().right > 391 && node.checkVisibility())
  .filter((node) => !scrolls(node.parentElement))
  .map((node) => `${node.localName}.${node.className}: ${node.textContent.slice(0, 60)}`) }"""


def test_hostile_lines_stay_text_and_nothing_is_wider_than_a_phone(goto: Open) -> None:
    page = goto("/atlas?corpus=lines&find=<&kind=substring", width=390, height=844, scheme="dark")
    lines = page.get_by_role("textbox", name="One sentence per line")
    lines.fill("\n".join([*HOSTILE, "a very long word " + "x" * 300]))
    lines.press("Control+Enter")
    page.get_by_role("button", name="Build the atlas").click()
    expect(matrix(page)).to_have_attribute("data-matches", re.compile(r"[1-9]"))
    page.get_by_role("button", name="Controls").click()
    for part, name in PARTS.items():
        choose(page, "Part", name)
        follow(page, f"part={part}")
        assert page.locator("img[src=x]").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert page.evaluate(TOO_WIDE) == []


def test_umap_comes_head_by_head_and_the_page_stays_usable(goto: Open, held: Path) -> None:
    page = goto(f"{SMALL}&layer=1&head=1")
    page.get_by_role("button", name="More").click()
    choose(page, "Projection", "UMAP")
    page.keyboard.press("Escape")
    expect(page.get_by_text(re.compile(r"UMAP: [1-9]\d* of 72 heads"))).to_be_visible()
    expect(matrix(page)).to_have_attribute("data-painted", re.compile(r"\d"))
    canvas = matrix(page).locator("canvas.over")
    canvas.focus()
    canvas.press("ArrowRight")
    canvas.press("Enter")
    page.wait_for_url(re.compile("part=one&.*layer=1&head=1&"))  # before all heads are there
    held.unlink()
    expect(page.get_by_text(re.compile(r"UMAP of (L1 H1|all)"))).to_be_visible()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1400), ("dark", 390)])
def test_contexts_are_readable(app: str, open_page: Open, scheme: str, width: int) -> None:
    page = open_page(scheme, width, 900)
    watch_canvases(page)
    page.goto(f"{app}{SMALL}&part=one&layer=4&head=2&dossier=1")
    contexts = page.locator(".st-key-atlas_contexts .root")
    expect(contexts.locator("section")).to_have_count(10)
    settle(page)
    expect(contexts.locator("h3").first).to_contain_text("Decile 10, the strongest tenth")
    assert contexts.locator(".token.query").count() == 20
    assert contexts.locator(".token.key").count() == 20
    problems = [*unreadable(texts_of(page)), *violations_of(page)]
    assert not problems, "\n".join(map(str, problems))
    assert page.evaluate("document.scrollingElement.scrollWidth") <= width
