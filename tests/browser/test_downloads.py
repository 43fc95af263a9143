"""A model is downloaded while somebody looks on, in a real browser."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from core.model.opening.catalog import CATALOG, bundled_folder
from tests.browser.conftest import follow, open_model_chip

if TYPE_CHECKING:
    from pathlib import Path

    from tests.browser.conftest import Open
    from tests.stand_in_hub import StandInHub

NOVELS = bundled_folder(CATALOG[1])
_PATIENCE = 20  # seconds, on a busy machine


@pytest.fixture(scope="module", autouse=True)
def _published(stand_in: StandInHub) -> None:
    stand_in.publish("distilbert/distilgpt2", NOVELS)
    sizes = {"tokenizer.json": 2, "model.safetensors": 300_000_000}
    stand_in.offer("slow/model", *sizes.items())
    stand_in.files |= {f"slow/model/{file}": size for file, size in sizes.items()}


def test_a_model_of_the_catalogue_is_downloaded_and_shown_and_stays(goto: Open) -> None:
    page = goto("/heatmap")
    open_model_chip(page)
    page.get_by_label("Model", exact=True).click()
    page.get_by_role("option", name="→ distilgpt2 · 353 MB").click()
    expect(page.get_by_test_id("stAlert")).to_contain_text("3 MB must be downloaded")
    page.get_by_role("button", name="Download", exact=True).click()
    expect(open_model_chip(page)).to_contain_text("4 layers × 4 heads")
    page.keyboard.press("Escape")
    expect(page.get_by_text("must be downloaded")).to_have_count(0)
    follow(page, "model=distilgpt2")
    page.get_by_role("combobox", name="Layer").select_option("2")  # its box still has its label
    follow(page, "model=distilgpt2&.*layer=2")
    page.close()


def test_a_download_ends_when_its_visitors_cancel_or_leave(
    goto: Open, stand_in: StandInHub, downloaded: Path
) -> None:
    stand_in.pause = 0.01  # a second to the first chunk on the disk, half a minute to the end
    for way in ("cancel", "close"):
        page = goto("/heatmap?model=slow/model")
        page.get_by_role("button", name="Download", exact=True).click()
        expect(page.get_by_test_id("stProgress")).to_contain_text(
            re.compile(r"Downloading: [1-9][\d.]* of 300 MB")
        )
        assert list(downloaded.rglob("*.incomplete"))
        if way == "cancel":
            page.get_by_role("button", name="Cancel", exact=True).click()
            expect(page.get_by_role("grid")).to_be_visible()  # the model before is shown again
        else:
            page.close()
        deadline = time.monotonic() + _PATIENCE
        while list(downloaded.rglob("*.incomplete")):
            assert time.monotonic() < deadline
            time.sleep(0.2)
        assert not list(downloaded.rglob("models--slow--model/refs/main"))
