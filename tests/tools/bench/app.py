"""How long a person waits: for the first picture of a cold server, and after every click."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from streamlit.logger import get_logger
from streamlit.testing.v1 import AppTest

from core.ui.words.pages import find
from tests.server import ROOT
from tests.tools.bench.browser import (
    close,
    link,
    new_page,
    running_browser,
    time_painting,
    wait_for_paint,
    wait_until_idle,
)
from tests.tools.bench.extent import few
from tests.tools.bench.report import show
from tests.tools.bench.server import running_app
from tests.tools.bench.texts import sentence_of
from tests.tools.bench.timing import milliseconds

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

COLD_STARTS = few(3, 1)
CHANGES = few(15, 1)
LAYERS = 6  # of the bundled model
SHORT, LONG = 16, 512  # tokens
SERVER_LIMIT_MS = 150.0
SCREEN_LIMIT_MS = {SHORT: 600.0, LONG: 2000.0}
# What has to be in the document before the picture of a page counts as drawn.
PICTURES = {
    "home": ".st-key-home_arcs .sheet[data-drawn]",
    "heatmap": "[role=grid] [role=gridcell]",
}
ADDRESSES = few({"home": "", "heatmap": "heatmap"}, {"home": ""})  # as people open them
SEEN = few(((SHORT, "table"), (LONG, "table"), (LONG, "picture")), ((SHORT, "table"),))
_OTHER_ROWS = 2  # of the table: names above, sums below
HEATMAP_IMAGE = ".js-plotly-plot .hm image"
# Warns whenever caches are used outside a server, which AppTest does on purpose.
_OUTSIDE_A_SERVER = "streamlit.runtime.scriptrunner_utils.script_run_context"


def run() -> None:
    """Redraws in the server alone, cold starts, then redraws on the screen."""
    get_logger(_OUTSIDE_A_SERVER).disabled = True  # its level is set anew by each run
    for tokens in few((SHORT, LONG), (SHORT,)):
        limit = SERVER_LIMIT_MS if tokens == SHORT else None
        show(f"server, layer change, {tokens} tokens", _server_changes(tokens), "ms", limit)
    with running_browser() as browser:
        for name in ADDRESSES:
            _show_cold_starts(browser, name)
        with running_app() as server:
            for tokens, view in SEEN:
                changes = _screen_changes(browser, server.url, tokens, view)
                limit = SCREEN_LIMIT_MS[tokens]
                show(f"screen, layer change, {tokens} tokens, {view}", changes, "ms", limit)


def _server_changes(tokens: int) -> list[float]:
    """Milliseconds of each run of the script, without a browser or a network."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    app.query_params.update(text=sentence_of(tokens))
    app.run()
    app.switch_page("pages/heatmap.py").run()
    taken = []
    for change in range(CHANGES):
        app.session_state["layer"] = str(1 + change % LAYERS)
        taken.append(milliseconds(app.run))
        if app.exception:
            raise RuntimeError(app.exception[0].message)
    return taken


def _show_cold_starts(browser: Browser, name: str) -> None:
    starts = [_cold_start(browser, name) for _ in range(COLD_STARTS)]
    for what, index in (("server answers", 0), ("first text", 1), ("first picture", 2)):
        show(f"cold start, {name}: {what}", [start[index] for start in starts], "s")


def _cold_start(browser: Browser, name: str) -> tuple[float, float, float]:
    """Seconds from starting the server until it answers, shows a title, shows a picture."""
    page = new_page(browser)
    with running_app() as server:
        answered = time.time() - server.started
        page.goto(link(server.url, ADDRESSES[name]), wait_until="commit")
        page.get_by_role("heading", name=find(name).title, exact=True).wait_for()
        wait_for_paint(page)
        text = time.time() - server.started
        page.locator(PICTURES[name]).first.wait_for(state="attached")
        wait_for_paint(page)
        picture = time.time() - server.started
        wait_until_idle(page)
        close(page)
    return answered, text, picture


def _screen_changes(browser: Browser, url: str, tokens: int, view: str) -> list[float]:
    """Milliseconds from the press on a layer until the heatmap of that layer is painted."""
    page = new_page(browser)
    text = sentence_of(tokens)
    page.goto(link(url, "heatmap", text=text, layer=str(LAYERS), head="mean", view=view))
    page.locator(PICTURES["heatmap"] if view == "table" else HEATMAP_IMAGE).first.wait_for()
    if view == "table":
        rows = page.get_by_role("grid").get_attribute("aria-rowcount")
        if rows != str(tokens + _OTHER_ROWS):
            raise ValueError(f"the table has {rows} rows for {tokens} tokens")
    taken = [_change_layer(page, 1 + change % LAYERS, view) for change in range(CHANGES)]
    close(page)
    return taken


def _change_layer(page: Page, layer: int, view: str) -> float:
    wait_until_idle(page)
    menu = page.get_by_role("combobox", name="Layer")
    done = (
        f'return () => find("[role=grid]")?.getAttribute("aria-label")?.includes("layer {layer},")'
        if view == "table"
        else f"""const address = () => find("{HEATMAP_IMAGE}")?.href.baseVal
          const before = address(); return () => ![before, "", undefined].includes(address())"""
    )
    return time_painting(page, "input", lambda: menu.select_option(str(layer)), done)
