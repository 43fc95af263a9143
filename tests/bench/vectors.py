"""How long the vector grid takes to be painted: 6 and 24 layers, 13 and 128 tokens."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from core.model.catalog import bundled_folder
from core.model.loading import _quiet
from tests.bench.browser import (
    PATIENCE_MS,
    close,
    link,
    new_page,
    running_browser,
    wait_until_idle,
)
from tests.bench.report import show
from tests.bench.server import running_app
from tests.bench.texts import SPECIAL_TOKENS, sentence_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser

VISITS = 5
SHORT, LONG = 13, 128  # tokens
DEEP = 24  # layers
LIMIT_MS = 1500.0  # for 24 layers of 13 tokens

# From the press on the page's link in the menu to the frame that shows every arrow.
_TIME_PAINT = """({arrows, patience}) => {
  const arrowsIn = (host) => host.shadowRoot?.querySelectorAll("figure .arrow").length ?? 0
  const part = "[data-testid^=stBidiComponent]"
  const hosts = () => [...document.querySelectorAll(`${part}, ${part} *`)]
  const count = () => hosts().reduce((sum, host) => sum + arrowsIn(host), 0)
  window.atlasPaint = new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error(`${count()} of ${arrows} arrows`)), patience)
    addEventListener("pointerdown", ({timeStamp}) => {
      const painted = () => resolve(performance.now() - timeStamp)
      const look = () => count() === arrows
        ? requestAnimationFrame(() => requestAnimationFrame(painted))
        : setTimeout(look, 10)
      look()
    }, {capture: true, once: true})
  })
}"""


def run() -> None:
    """Visit the vector grid from the home page, several times over."""
    with (
        tempfile.TemporaryDirectory() as folder,
        running_app() as server,
        running_browser() as browser,
    ):
        deep = str(_deep_model(Path(folder)))
        for model, layers in (("bundled/minilm", 6), (deep, DEEP)):
            for tokens in (SHORT, LONG):
                taken = [_visit(browser, server.url, model, layers, tokens) for _ in range(VISITS)]
                limit = LIMIT_MS if (layers, tokens) == (DEEP, SHORT) else None
                show(f"vector grid, {layers} layers, {tokens} tokens, painted", taken, "ms", limit)


def _deep_model(folder: Path) -> Path:
    """A random BERT of 24 layers with the bundled model's tokenizer."""
    from transformers import BertConfig, BertModel

    config = BertConfig(
        hidden_size=96, num_attention_heads=4, intermediate_size=192, num_hidden_layers=DEEP
    )
    with _quiet():
        BertModel(config).save_pretrained(folder)
    for name in ("tokenizer.json", "tokenizer_config.json", "vocab.txt", "special_tokens_map.json"):
        shutil.copy(bundled_folder() / name, folder)
    return folder


def _visit(browser: Browser, url: str, model: str, layers: int, tokens: int) -> float:
    """Milliseconds from the press on the menu to the painted grid; the model is loaded before."""
    page = new_page(browser)
    page.goto(link(url, "home", model=model, text=sentence_of(tokens)))
    page.locator(".chips li").first.wait_for()
    wait_until_idle(page)
    arrows = layers * (tokens - SPECIAL_TOKENS)
    page.evaluate(_TIME_PAINT, {"arrows": arrows, "patience": PATIENCE_MS})
    page.get_by_test_id("stSidebarNav").get_by_role("link", name="Vector grid").click()
    taken = float(page.evaluate("window.atlasPaint"))
    wait_until_idle(page)
    close(page)
    return taken
