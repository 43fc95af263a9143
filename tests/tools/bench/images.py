"""Patches of images: how soon a picture is there, how soon heat follows the pointer, what is sent.

On grids of 14 x 14 and of 37 x 37 patches (DINOv2 at 518 pixels), 12 layers x 6 heads x 64 dims.
What is painted counts to the end of the frame after it, up to 33 ms. The limit of the server's
memory is for the embedded models: for these it is shown without one.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tests.tools.bench.browser import (
    close,
    link,
    new_page,
    running_browser,
    time_painting,
    wait_until_idle,
)
from tests.tools.bench.extent import few
from tests.tools.bench.report import show
from tests.tools.bench.server import running_app, watching_memory

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, WebSocket

    from tests.tools.bench.server import MemoryWatch

GRIDS = few({14: 16, 37: 14}, {14: 16})  # patches a side, and pixels of each
LAYERS, HEADS, DIM = few(12, 2), 6, 64
IMAGES = ("A crowd of shapes", "A hue wheel", "Three shapes")[: few(None, 1)]
HOVERS, HOLDS = few(12, 1), few(4, 1)
HOVER_LIMIT_MS = 50.0
FIRST_LIMIT_MS = {14: 2_000.0, 37: 8_000.0}  # most of it is the model's own pass
ALL_HEADS_LIMIT_MS = {14: 1_000.0, 37: 3_000.0}
SENT_LIMIT_MB = {14: 2.0, 37: 8.0}
MB = 1e6

_OTHER_IMAGE = """
  const before = find(".frame").dataset.stamp
  return () => find(".frame")?.dataset.stamp !== before && find(".frame").dataset.shown"""
_OTHER_PATCH = """
  const before = find(".frame").dataset.shown
  return () => find(".frame").dataset.shown !== before"""
_HELD = """
  return () => find(".heads .title:nth-of-type(2)").textContent.startsWith("{patch} in all")"""


def run() -> None:
    """Visit the page with a random model of each grid."""
    with (
        tempfile.TemporaryDirectory() as folder,
        running_app() as server,
        running_browser() as browser,
        watching_memory(server) as watch,
    ):
        for side, patch in GRIDS.items():
            model = save_random_dinov2(Path(folder) / str(side), side * patch, patch)
            watch.begin()
            _visit(browser, server.url, str(model), side, watch)


def save_random_dinov2(folder: Path, pixels: int, patch: int) -> Path:
    """A DINOv2 of 12 layers x 6 heads x 64 dims with random weights and a processor."""
    import torch
    from transformers import BitImageProcessor, Dinov2Config, Dinov2Model

    torch.manual_seed(0)
    config = Dinov2Config(
        hidden_size=HEADS * DIM,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        mlp_ratio=1,
        image_size=pixels,
        patch_size=patch,
    )
    Dinov2Model(config).save_pretrained(folder)
    size = {"height": pixels, "width": pixels}
    BitImageProcessor(size=size, crop_size=size, do_center_crop=False).save_pretrained(folder)
    return folder


def _visit(browser: Browser, url: str, model: str, side: int, watch: MemoryWatch) -> None:
    name = f"patches, {side} x {side}"
    page, received = new_page(browser), [0]

    def count(socket: WebSocket) -> None:
        socket.on("framereceived", lambda data: received.__setitem__(0, received[0] + len(data)))

    page.on("websocket", count)
    page.goto(link(url, "images", model=model, image="three-shapes"))
    page.locator(".frame[data-shown]").wait_for()
    wait_until_idle(page)
    first, sent = [], []
    for title in IMAGES:
        before = received[0]
        first.append(_choose(page, title))
        wait_until_idle(page)
        sent.append((received[0] - before) / MB)
    show(f"{name}: image to first picture", first, "ms", FIRST_LIMIT_MS[side])
    show(f"{name}: sent for it", sent, "MB", SENT_LIMIT_MB[side])
    for direction in ("What it attends to", "What attends to it"):
        page.locator(".segment", has_text=direction).click()
        page.wait_for_timeout(3_000 if side > 20 else 500)
        wait_until_idle(page)
        _point(page, side, f"{name}: hover to heat ({direction.lower()})")
    _hold(page, side, name, received)
    show(f"{name}: memory of the server", [watch.peak / MB], "MB")
    close(page)


def _choose(page: Page, title: str) -> float:
    """Milliseconds from the press on an image's name to its picture."""
    page.get_by_role("combobox", name="Image").first.click()
    option = page.get_by_role("option", name=title, exact=True)
    option.wait_for()
    return time_painting(page, "click", option.click, _OTHER_IMAGE)


def _point(page: Page, side: int, name: str) -> None:
    taken = []
    for i in range(HOVERS):
        x, y = _place(page, side, 1 + (5 * i) % side, 1 + (7 * i + 2) % side)

        def move(x: float = x, y: float = y) -> None:
            page.mouse.move(x, y)

        taken.append(time_painting(page, "pointermove", move, _OTHER_PATCH))
    show(name, taken, "ms", HOVER_LIMIT_MS)


def _hold(page: Page, side: int, name: str, received: list[int]) -> None:
    """From the click that holds a patch to it in all heads of all layers; its row, then column."""
    for direction in ("What it attends to", "What attends to it"):
        page.locator(".segment", has_text=direction).click()
        wait_until_idle(page)
        taken, sent = [], []
        for i in range(HOLDS):
            row, column = 2 + i, 3 + 2 * i
            x, y = _place(page, side, row, column)
            page.mouse.move(x, y)
            before = received[0]

            def click(x: float = x, y: float = y) -> None:
                page.mouse.click(x, y)

            done = _HELD.format(patch=f"r{row}c{column}")
            taken.append(time_painting(page, "click", click, done))
            wait_until_idle(page)
            sent.append((received[0] - before) / MB)
        what = direction.lower()
        show(f"{name}: all heads ({what})", taken, "ms", ALL_HEADS_LIMIT_MS[side])
        show(f"{name}: sent for them", sent, "MB", SENT_LIMIT_MB[side])


def _place(page: Page, side: int, row: int, column: int) -> tuple[float, float]:
    """The middle of a patch on the page."""
    box = page.locator(".frame").bounding_box()
    if box is None:
        raise RuntimeError("the image is not on the page")
    cell = box["width"] / side
    return box["x"] + (column - 0.5) * cell, box["y"] + (row - 0.5) * cell
