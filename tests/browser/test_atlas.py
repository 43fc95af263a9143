"""The atlas page in Chromium: bring a corpus, cancel, search, open heads, save and open again."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from core.corpus.sample import sample_sentences
from tests.browser.conftest import Open, box_of, choose, follow, reload, settle
from tests.browser.test_pictures import save_as_shown

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Locator, Page

HOSTILE = ["</script><img src=x onerror=alert(1)>", "$x$ :red[x] **b**", "😀 مرحبا שלום"]
PARTS = {"heads": "All heads", "one": "One head"}
SMALL = "/atlas?corpus=sample&budget=1000&part="


def matrix(page: Page) -> Locator:
    return page.locator(".st-key-atlas_matrix .root")


def cloud(page: Page) -> Locator:
    return page.locator(".st-key-atlas_cloud .root")


def find_point(page: Page, canvas: Locator) -> tuple[float, float]:
    """Move the pointer from the middle to the left until it meets a point; its place."""
    canvas.scroll_into_view_if_needed()
    box = box_of(canvas)
    for step in range(200):
        x = box["x"] + box["width"] * (0.5 - 0.002 * step)
        y = box["y"] + box["height"] * (0.5 + 0.0005 * step)
        page.mouse.move(x, y)
        if page.locator(".tip:visible").count():
            return x, y
    raise AssertionError("no point in the middle of the picture")


def give(page: Page, *lines: str) -> None:
    data = "\n".join(lines).encode()
    page.locator('input[type="file"]').set_input_files(
        {"name": "lines.txt", "mimeType": "text/plain", "buffer": data}
    )


def test_a_search_is_in_all_heads_at_once_and_a_dot_is_named_its_head_opened_and_saved(
    goto: Open, open_saved: Open, tmp_path: Path
) -> None:
    page = goto(f"{SMALL}heads", scheme="dark")
    picture = save_as_shown(page, page.locator(".st-key-atlas_matrix canvas"), tmp_path)
    assert re.fullmatch(r"atlas-minilm-all-heads-\d+-tokens", picture.name)
    assert picture.facts["corpus"]["tokens"] > 900
    assert "text" not in picture.facts
    matrix(page).get_by_role("button", name="Larger").click()
    expect(matrix(page)).not_to_have_attribute("data-zoom", "1.00")
    zoom = matrix(page).get_attribute("data-zoom") or ""
    find = page.get_by_role("textbox", name="Find")
    find.fill("[CLS]")  # the first token too
    find.press("Enter")
    message = page.get_by_text(re.compile(r"\[CLS\]: [0-9]+ match"))
    expect(message).to_contain_text(re.compile(r"(\d+) matches in \1 of \1 sentences"))
    follow(page, r"find=%5BCLS%5D")
    expect(matrix(page)).to_have_attribute("data-zoom", zoom)
    find.fill("she")
    find.press("Enter")
    message = page.get_by_text(re.compile("she: [0-9]+ match"))
    expect(message).to_be_visible()
    matches = str(2 * int(re.findall(r"(\d+) match", message.inner_text())[0]))
    expect(matrix(page)).to_have_attribute("data-matches", matches)
    expect(matrix(page).locator(".legend")).to_contain_text("found")
    settle(page)
    saved = open_saved(page)
    expect(saved.locator(".root")).to_have_attribute("data-matches", matches)
    expect(saved.get_by_text("bundled/minilm: ")).to_be_visible()
    x, y = find_point(page, matrix(page).locator("canvas"))
    tip = page.locator(".tip:visible")
    expect(tip).to_contain_text(re.compile(r"(query|key) of “.+”"))
    [name] = re.findall(r"L\d H\d+", tip.inner_text())
    page.mouse.click(x, y)
    expect(cloud(page).locator("figcaption")).to_have_text(name)
    layer, head = re.findall(r"\d+", name)
    follow(page, f"part=one.*layer={layer}&head={head}&")
    expect(cloud(page)).to_have_attribute("data-matches", re.compile(r"[1-9]"))
    settle(page)
    saved = open_saved(page)
    expect(saved.locator("figcaption")).to_have_text(name)
    expect(saved.locator(".root")).to_have_attribute("data-painted", re.compile(r"\d"))


def test_on_a_phone_the_rows_fill_the_screen_and_the_page_still_scrolls(goto: Open) -> None:
    page = goto(f"{SMALL}heads&layer=4&head=6", width=390, height=844, anew=True)
    canvas = matrix(page).locator("canvas")
    box = box_of(canvas)
    assert box["height"] > 500
    assert box["y"] + box["height"] < 844
    expect(canvas).to_have_css("touch-action", "pan-y")
    zoom = float(matrix(page).get_attribute("data-zoom") or "")
    side = zoom * (box["width"] - 35) / 12
    assert 6 * side == pytest.approx(box["height"] - 21, abs=2)


def test_a_click_shows_the_token_in_its_sentence_in_the_link_and_in_the_heads_below(
    goto: Open,
) -> None:
    page = goto(f"{SMALL}one&layer=4&head=2")
    x, y = find_point(page, cloud(page).locator("canvas"))
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
    expect(cloud(page).locator("figcaption")).to_have_text("L6 H2")
    follow(page, "layer=6&head=2")
    page.get_by_role("button", name="Previous layer").press("Enter")
    expect(cloud(page).locator("figcaption")).to_have_text("L5 H2")
    follow(page, "layer=5&head=2")
    expect(cloud(page).locator(".reading")).not_to_have_text(reading)
    expect(cloud(page)).to_have_attribute("data-lines", re.compile(r"[1-9]"))
    page.get_by_role("button", name="Contexts of L5 H2").click()
    follow(page, "part=one.*layer=5&head=2.*dossier=1")
    contexts = page.locator(".st-key-atlas_contexts .root")
    expect(contexts.locator("section")).to_have_count(10)
    expect(contexts.locator("h3").first).to_contain_text("Decile 10, the strongest tenth")
    for kind in ("query", "key"):
        expect(contexts.locator(f".token.{kind}")).to_have_count(20)


def test_a_cancel_ends_it_and_another_can_be_built(goto: Open) -> None:
    page = goto("/atlas?corpus=file&budget=6000&model=bundled/gpt2-novels", anew=True)
    give(page, *(f"{text} {i}" for i, text in enumerate(sample_sentences()[:200])))
    page.get_by_role("button", name="Build the atlas").click()
    expect(
        page.get_by_text(re.compile(r"of [\d,]+ tokens · [\d,]+ tokens per second"))
    ).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    settle(page)
    give(page, "Her lamp is red.", "It rains.")
    page.get_by_role("button", name="Build the atlas").click()
    expect(page.get_by_text("tokens of 2 texts")).to_be_visible()
    expect(matrix(page)).to_have_attribute("data-painted", re.compile(r"\d"))


# But for rows of chips and parts, which are themselves no wider and scroll sideways.
TOO_WIDE = """() => { const scrolls = (node) => node !== null && node.dataset.testid !== "stMain" &&
  ((/auto|scroll|hidden/.test(getComputedStyle(node).overflowX) &&
    node.getBoundingClientRect().right <= 391) || scrolls(node.parentElement))
return [document.documentElement, ...document.querySelectorAll(
  '[data-testid="stMain"] :is(canvas, p, button, .js-plotly-plot, [data-testid="stDataFrame"])'
)].filter((node) => node.getBoundingClientRect().right > 391 && node.checkVisibility())
  .filter((node) => !scrolls(node.parentElement))
  .map((node) => `${node.localName}.${node.className}: ${node.textContent.slice(0, 60)}`) }"""


@pytest.mark.nightly
def test_hostile_lines_stay_text_and_nothing_is_wider_than_a_phone(goto: Open) -> None:
    page = goto(
        "/atlas?corpus=lines&part=heads&find=<&kind=substring", width=390, height=844, scheme="dark"
    )
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


@pytest.mark.nightly
def test_umap_comes_head_by_head_and_the_page_stays_usable(goto: Open, held: Path) -> None:
    page = goto(f"{SMALL}heads&layer=1&head=1")
    page.get_by_role("button", name="More").click()
    choose(page, "Projection", "UMAP")
    page.keyboard.press("Escape")
    expect(page.get_by_text(re.compile(r"UMAP: [1-9]\d* of 72 heads"))).to_be_visible()
    expect(matrix(page)).to_have_attribute("data-painted", re.compile(r"\d"))
    canvas = matrix(page).locator("canvas")
    canvas.focus()
    canvas.press("ArrowRight")
    canvas.press("Enter")
    page.wait_for_url(re.compile("part=one&.*layer=1&head=1&"))  # before all heads are there
    held.unlink()
    expect(page.get_by_text(re.compile(r"this atlas, UMAP|UMAP of L1 H1"))).to_be_visible()
