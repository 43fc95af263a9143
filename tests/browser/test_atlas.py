"""The atlas page in Chromium: bring a corpus, cancel, search, open heads, save and open again."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest
from playwright.sync_api import expect

from core.corpus.sample import sample_sentences
from tests.browser.conftest import Open, address_of, box_of, follow, settle
from tests.browser.test_pictures import save_as_shown

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Locator, Page

SMALL = "/atlas?corpus=sample&budget=1000&part="


def matrix(page: Page) -> Locator:
    return page.locator(".st-key-atlas_matrix .root")


def cloud(page: Page) -> Locator:
    return page.locator(".st-key-atlas_cloud .root")


def find_point(page: Page, canvas: Locator) -> tuple[float, float]:
    """Move the pointer from the middle to the left until it meets a point; its place."""
    canvas.scroll_into_view_if_needed()
    box = box_of(canvas)
    for share in np.linspace(0.5, 0.1, 200):
        x, y = box["x"] + box["width"] * share, box["y"] + box["height"] * (0.625 - share / 4)
        page.mouse.move(x, y)
        if page.locator(".tip:visible").count():
            return x, y
    raise AssertionError("no point in the middle of the picture")


def give(page: Page, *lines: str) -> None:
    name = f"{len(lines)}-lines.txt"
    page.locator('input[type="file"]').set_input_files(
        {"name": name, "mimeType": "text/plain", "buffer": "\n".join(lines).encode()}
    )
    page.get_by_text(name).first.wait_for()
    settle(page)


def test_a_search_is_in_all_heads_at_once_and_a_dot_is_named_its_head_opened_and_saved(
    goto: Open, open_saved: Open, tmp_path: Path
) -> None:
    page = goto(f"{SMALL}heads", scheme="dark")
    picture = save_as_shown(page, page.locator(".st-key-atlas_matrix canvas"), tmp_path)
    assert re.fullmatch(r"atlas-minilm-all-heads-\d+-tokens", picture.name)
    assert picture.facts["corpus"]["tokens"] > 900
    matrix(page).get_by_role("button", name="Larger").click()
    expect(matrix(page)).not_to_have_attribute("data-zoom", "1.00")
    zoom = matrix(page).get_attribute("data-zoom") or ""
    find = page.get_by_role("textbox", name="Find")
    find.fill("she")
    find.press("Enter")
    message = page.get_by_text(re.compile("she: [0-9]+ match"))
    expect(message).to_be_visible()
    expect(matrix(page)).to_have_attribute("data-zoom", zoom)
    matches = str(2 * int(re.findall(r"(\d+) match", message.inner_text())[0]))
    expect(matrix(page)).to_have_attribute("data-matches", matches)
    settle(page)
    expect(open_saved(page).locator(".root")).to_have_attribute("data-matches", matches)
    x, y = find_point(page, matrix(page).locator("canvas"))
    tip = page.locator(".tip:visible")
    expect(tip).to_contain_text(re.compile(r"(query|key) of “.+”"))
    [name] = re.findall(r"L\d H\d+", tip.inner_text())
    page.mouse.click(x, y)
    expect(cloud(page).locator("figcaption")).to_have_text(name)
    layer, head = re.findall(r"\d+", name)
    follow(page, f"part=one.*layer={layer}&head={head}&")
    expect(cloud(page)).to_have_attribute("data-matches", re.compile(r"[1-9]"))


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


def test_a_click_shows_the_token_in_its_sentence_and_in_the_heads_below(goto: Open) -> None:
    page = goto(f"{SMALL}one&layer=4&head=2")
    x, y = find_point(page, cloud(page).locator("canvas"))
    token = re.findall("“(.+)”", page.locator(".tip:visible").inner_text())[0]
    page.mouse.click(x, y)
    message = page.get_by_text(re.compile(r"^Token \d+, .+, of sentence"))
    expect(message).to_contain_text(token)
    expect(page.locator(".st-key-atlas_sentence")).to_contain_text(token)
    follow(page, r"token=[1-9]")
    text, place = message.inner_text(), cloud(page).locator("figure").get_attribute("data-at")
    page = goto(address_of(page), anew=True)
    expect(page.get_by_text(text)).to_be_visible()
    figure = cloud(page).locator("figure:not([data-lines='0'])")
    expect(figure).to_have_attribute("data-at", place or "nowhere")
    reading = cloud(page).locator(".reading").inner_text()
    page.get_by_role("button", name="Next layer").press("Enter")
    expect(cloud(page).locator("figcaption")).to_have_text("L5 H2")
    follow(page, "layer=5&head=2")
    expect(cloud(page).locator(".reading")).not_to_have_text(reading)
    page.get_by_role("button", name="Contexts of L5 H2").click()
    follow(page, "part=one.*layer=5&head=2.*dossier=1")
    contexts = page.locator(".st-key-atlas_contexts .root")
    expect(contexts.locator("section")).to_have_count(10)
    expect(contexts.locator(".token.query")).to_have_count(20)


def test_a_cancel_ends_it_and_another_can_be_built(goto: Open) -> None:
    page = goto("/atlas?corpus=file&budget=20000&model=bundled/gpt2-novels", anew=True)
    give(page, *(f"{text} {i}" for i, text in enumerate(sample_sentences() * 2)))
    page.get_by_role("button", name="Build the atlas").click()
    page.get_by_text(re.compile(r"of [\d,]+ tokens · [\d,]+ tokens per second")).wait_for()
    page.get_by_role("button", name="Cancel").click()
    settle(page)
    give(page, "Her lamp is red.", "It rains.")
    page.get_by_role("button", name="Build the atlas").click()
    expect(page.get_by_text("tokens of 2 texts")).to_be_visible()
    expect(matrix(page)).to_have_attribute("data-painted", re.compile(r"\d"))
