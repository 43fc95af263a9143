"""The pictures that views save: how large, what they show, what they say about themselves."""

from __future__ import annotations

import io
import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

from core import VERSION
from tests.browser.conftest import TEXT, Open

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Locator, Page

MODEL = "bundled/minilm"
SCALE, MARGIN, HEAD = 4, 16, 64  # pixels of the file for one of the page; around the view, above it
BLUR = 8  # pixels of the page


class Saved(NamedTuple):
    """A picture: its name without the ending, what it says of itself, its pixels."""

    name: str
    facts: dict[str, Any]
    image: Image.Image

    def part(self, node: Locator) -> Image.Image:
        """What it shows where this node of the view is on the page."""
        left, top, width, height = node.evaluate("""(node) => {
            const root = node.closest(".root").getBoundingClientRect()
            const { left, top, width, height } = node.getBoundingClientRect()
            return [left - root.left, top - root.top, width, height]
        }""")
        left, top = left + MARGIN, top + HEAD
        box = (left, top, left + width, top + height)
        return self.image.convert("RGB").crop(tuple(round(SCALE * each) for each in box))


def save_picture(page: Page, folder: Path) -> Saved:
    with page.expect_download() as download:
        page.get_by_role("button", name="Save picture").click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    expect(page.get_by_role("status").filter(has_text="Saved")).to_have_text(f"Saved {path.name}")
    image = Image.open(path)
    image.load()  # checks every chunk's sum
    facts = json.loads(str(image.info["headscope"]))
    size = facts.pop("picture")
    assert size["scale"] == SCALE
    assert image.size == (SCALE * size["width"], SCALE * size["height"])
    return Saved(path.stem, facts, image)


def save_as_shown(page: Page, node: Locator, folder: Path) -> Saved:
    """The saved picture, which shows what the page does, and where it comes from."""
    on_page = Image.open(io.BytesIO(node.screenshot())).convert("RGB")
    saved = save_picture(page, folder)
    assert (saved.facts["headscope"], saved.facts["model"]) == (VERSION, MODEL)
    size = on_page.width // BLUR, on_page.height // BLUR  # colours, not the edges of letters
    shown, drawn = (
        np.asarray(each.resize(size, Image.Resampling.BOX), float)
        for each in (on_page, saved.part(node))
    )
    assert np.corrcoef(shown.ravel(), drawn.ravel())[0, 1] > 0.9
    return saved


@pytest.mark.nightly
def test_a_scrolled_table_is_saved_where_it_stands(goto: Open, tmp_path: Path) -> None:
    text = "</script><img src=x onerror=alert(1)> $x$ مرحبا it " + "the cat sat on a mat " * 9
    page = goto(f"/heatmap?layer=4&head=2&text={quote(text)}")
    grid = page.get_by_role("grid")
    grid.evaluate("(node) => { node.scrollTop = 330 }")
    cell = page.locator("[data-row='30'][data-column='1']")
    expect(cell).to_be_visible()
    saved = save_as_shown(page, page.locator(".scroller"), tmp_path)
    assert (saved.name, saved.facts["text"]) == ("heatmap-minilm-L4H2", text)
    assert grid.evaluate("(node) => node.scrollTop") == 330
    colour = cell.evaluate("(node) => getComputedStyle(node).backgroundColor")
    corner = saved.part(cell).getpixel((20, 14))
    assert corner == pytest.approx([int(each) for each in re.findall(r"\d+", colour)], abs=3)


def test_a_view_is_saved_from_its_page_and_from_its_file_as_it_stands_there(
    goto: Open, open_saved: Open, tmp_path: Path
) -> None:
    page = goto(f"/head_view?layer=4&heads=2&text={quote(TEXT)}", scheme="dark")
    saved = save_as_shown(page, page.locator("canvas.sheet"), tmp_path)
    assert (saved.name, saved.facts["text"]) == ("head-view-minilm-L4H2", TEXT)
    file = open_saved(page)
    facts = json.loads(file.locator('meta[name="headscope"]').get_attribute("content") or "")
    expect(file.locator(".made")).to_contain_text(f"Headscope {VERSION} · {MODEL}")
    assert (facts["text"], facts["layer"]) == (TEXT, "4")
    file.get_by_role("button", name="Next layer").click()
    saved = save_picture(file, tmp_path)
    assert (saved.name, saved.facts["layer"]) == ("head-view-minilm-L5H2", "5")
