"""The first visitor of a cold server: the first picture, and the first one of a text of their own.

Counted from the server's first answer to a request, in seconds on the clock and in seconds of the
server's processor: only the second can be compared on a machine that others use too.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tests.tools.bench.browser import close, link, new_page, running_browser, wait_for_paint
from tests.tools.bench.extent import few
from tests.tools.bench.report import show
from tests.tools.bench.server import running_app

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.tools.bench.server import Server

STARTS = few(3, 1)
LIMIT_S = 2.0  # of the first picture of Home
PICTURE = ".st-key-home_arcs .sheet[data-drawn]"
OWN = "My neighbour feeds the pigeons because she likes them."
FIRST, OWN_TEXT = "first picture", "own text in the link"
VISITS: dict[str, dict[str, str]] = few({FIRST: {}, OWN_TEXT: {"text": OWN}}, {FIRST: {}})


def run() -> None:
    """A server of its own for every visit, in turns."""
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in VISITS}
    with running_browser() as browser:
        for _ in range(STARTS):
            for name, parameters in VISITS.items():
                taken[name].append(_visit(browser, parameters))
    for name, visits in taken.items():
        limit = LIMIT_S if name == FIRST else None
        show(f"Home after the first answer: {name}", [clock for clock, _ in visits], "s", limit)
        show(f"Home, processor of the server: {name}", [processor for _, processor in visits], "s")


def _visit(browser: Browser, parameters: dict[str, str]) -> tuple[float, float]:
    """Seconds from the first answer to the picture, and those that the processor worked for it."""
    page = new_page(browser)
    with running_app() as server:
        begin, worked = time.monotonic(), _processor(server)
        page.goto(link(server.url, "home", **parameters), wait_until="commit")
        page.locator(PICTURE).first.wait_for(state="attached")
        worked = _processor(server) - worked
        wait_for_paint(page)
        taken = time.monotonic() - begin
        close(page)
    return taken, worked


def _processor(server: Server) -> float:
    times = server.process.cpu_times()
    return float(times.user + times.system)
