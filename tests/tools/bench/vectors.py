"""How long the vector grid takes to be painted: 6 and 24 layers, 13 and 128 tokens."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tests.tools.bench.browser import (
    arrive,
    close,
    running_browser,
    save_random_bert,
    time_painting,
    wait_until_idle,
)
from tests.tools.bench.extent import few
from tests.tools.bench.report import show
from tests.tools.bench.server import running_app
from tests.tools.bench.texts import SPECIAL_TOKENS, sentence_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser

VISITS = few(5, 1)
SHORT, LONG = 13, 128  # tokens
DEEP = 24  # layers
LIMIT_MS = 1500.0  # for 24 layers of 13 tokens

# Every arrow of the grid is in the document.
_ALL_ARROWS = """
  const part = "[data-testid^=stBidiComponent]"
  const hosts = () => [...document.querySelectorAll(`${{part}}, ${{part}} *`)]
  const arrowsIn = (host) => host.shadowRoot?.querySelectorAll("figure .arrow").length ?? 0
  return () => hosts().reduce((sum, host) => sum + arrowsIn(host), 0) === {arrows}"""


def run() -> None:
    """Visit the vector grid from the home page, several times over."""
    with (
        tempfile.TemporaryDirectory() as folder,
        running_app() as server,
        running_browser() as browser,
    ):
        sizes = {"hidden_size": 96, "num_attention_heads": 4, "intermediate_size": 192}
        deep = str(save_random_bert(Path(folder), num_hidden_layers=DEEP, **sizes))
        models = (("bundled/minilm", 6), (deep, DEEP))
        for model, layers in few(models, models[:1]):
            for tokens in few((SHORT, LONG), (SHORT,)):
                taken = [_visit(browser, server.url, model, layers, tokens) for _ in range(VISITS)]
                limit = LIMIT_MS if (layers, tokens) == (DEEP, SHORT) else None
                show(f"vector grid, {layers} layers, {tokens} tokens, painted", taken, "ms", limit)


def _visit(browser: Browser, url: str, model: str, layers: int, tokens: int) -> float:
    """Milliseconds from the press on the menu to the painted grid; the model is loaded before."""
    page = arrive(browser, url, model=model, text=sentence_of(tokens))
    arrows = layers * (tokens - SPECIAL_TOKENS)
    target = page.get_by_test_id("stSidebarNav").get_by_role("link", name="Vector grid")
    taken = time_painting(page, "pointerdown", target.click, _ALL_ARROWS.format(arrows=arrows))
    wait_until_idle(page)
    close(page)
    return taken
