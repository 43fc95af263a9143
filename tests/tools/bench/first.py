"""How long a person waits: for the first picture of a cold server, and after every click."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from core.ui.words.pages import PAGES
from tests.tools.bench.app import (
    link,
    running_app,
    shared_app,
    visit,
    wait_for_picture,
    wait_until_idle,
)
from tests.tools.bench.measuring import MB, few, sentence_of

if TYPE_CHECKING:
    from playwright.sync_api import Page

STARTS, CHANGES = few(3, 1), few(15, 1)
LAYERS = 6  # of the bundled model
PICTURES = {
    "home": ".st-key-home_arcs .sheet[data-drawn]",
    "heatmap": "[role=grid] [role=gridcell]",
}


def starts() -> list[float]:
    """Seconds from a cold server's first answer until Home's picture is painted."""
    return [_start() for _ in range(STARTS)]


def _start() -> float:
    with running_app() as server, visit() as page:
        answered = time.monotonic()
        page.goto(link(server, "home"), wait_until="commit")
        wait_for_picture(page, PICTURES["home"])
        return time.monotonic() - answered


def screen_changes(tokens: int) -> list[float]:
    """Seconds from the press on a layer until the heatmap's table of that layer is painted."""
    with visit() as page:
        text = sentence_of(tokens)
        page.goto(link(shared_app(), "heatmap", text=text, layer=str(LAYERS), head="mean"))
        wait_for_picture(page, PICTURES["heatmap"])
        return [_change_layer(page, 1 + change % LAYERS) for change in range(CHANGES)]


def _change_layer(page: Page, layer: int) -> float:
    wait_until_idle(page)
    start = time.perf_counter()
    page.get_by_role("combobox", name="Layer").select_option(str(layer))
    wait_for_picture(page, f'[role=grid][aria-label*="layer {layer},"]')
    return time.perf_counter() - start


def memory_of_every_page() -> list[float]:
    """Largest memory of a server, in megabytes, of which one visitor opens page after page."""
    with running_app() as server, visit() as page:
        for tokens in few((13, 512), (13,)):
            for target in PAGES[: few(None, 2)]:
                of_text = "text" in target.modalities
                parameters = {"text": sentence_of(tokens)} if of_text else {}
                page.goto(link(server, target.name, **parameters))
                page.get_by_role("heading", name=target.title).first.wait_for(state="attached")
                wait_until_idle(page)
        return [server.peak / MB]
