"""A class on one server: 30 and 40 visitors at once, then 300 who come and go.

Every visitor has a session, a page and a text of their own, and sends the next change as soon as
the last one is answered: no person is that quick, so an answer here waits for that of nearly every
other visitor. Errors are counted (exceptions and red boxes on a page, scripts that end, connections
that are lost, no answer in time) and so are words of other visitors in anything that is received.
"""

from __future__ import annotations

import asyncio
import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

import numpy as np

from core.ui.navigation import TEXT_PAGES as PAGES  # everybody types a text
from tests.bench.class_changes import CHANGES, WORDS, change, foreign_words, text_of
from tests.bench.report import show
from tests.bench.server import running_app, watching_memory
from tests.visitors import ConnectionLostError, Visitor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.bench.server import Server
    from tests.visitors import Answer

CROWDS = (30, 40)
PATIENCE_S = 300.0
PEAK_LIMIT_MB = 1200.0
VISITS, FIRST_LOOK = 300, 50
AT_A_TIME = 5  # of those who come and go
GROWTH_LIMIT = 1.05  # of memory, from visit 50 to visit 300
_SHOWN = 5  # messages, and tracebacks, that are printed
_TRACEBACK_SHOWN = 4000  # characters of each


@dataclass
class Tally:
    """What a crowd met."""

    errors: list[str] = field(default_factory=list)  # each with the page and the visitor
    foreign: list[str] = field(default_factory=list)  # words of others, likewise
    # Seconds of every answer, by the page's name.
    openings: dict[str, list[float]] = field(default_factory=dict)
    changes: dict[str, list[float]] = field(default_factory=dict)


def run() -> None:
    """A server for each crowd, so that none carries another's memory."""
    for crowd in CROWDS:
        with _logged_app() as server, watching_memory(server) as watch:
            tally = asyncio.run(_visit_at_once(server, crowd))
            _show(f"{crowd} visitors", tally)
            show(f"{crowd} visitors: peak memory", [watch.peak / 1e6], "MB", PEAK_LIMIT_MB)
    with _logged_app() as server, watching_memory(server) as watch:
        _show_coming_and_going(server)
        show(f"{VISITS} visits: peak memory", [watch.peak / 1e6], "MB", PEAK_LIMIT_MB)


@contextmanager
def _logged_app() -> Iterator[Server]:
    """A server; what it has logged of exceptions is printed at its end."""
    with TemporaryFile() as log:
        with running_app(log) as server:
            yield server
        log.seek(0)
        text = log.read().decode(errors="replace")
    for start in [match.start() for match in re.finditer("Traceback", text)][:_SHOWN]:
        print(text[start : start + _TRACEBACK_SHOWN])


async def visit(server: Server, index: int, changes: int, tally: Tally) -> None:
    """One visitor, from the link to the last change; whatever goes wrong is put down."""
    page, word = PAGES[index % len(PAGES)].name, WORDS[index % len(WORDS)]
    who = f"{word} on {page}"

    def look(data: bytes) -> None:
        if found := foreign_words(data, word):
            tally.foreign.append(f"{who}: {', '.join(sorted(found))}")

    def put_down(answer: Answer, taken: dict[str, list[float]]) -> None:
        taken.setdefault(page, []).append(answer.seconds)
        tally.errors.extend(f"{who}: {error}" for error in visitor.errors())
        if word not in visitor.query:
            tally.errors.append(f"{who}: the address has not this visitor's text")

    try:
        async with Visitor(server.url, patience=PATIENCE_S, on_message=look) as visitor:
            put_down(await visitor.open(page, text=text_of(word)), tally.openings)
            for turn in range(changes):
                key, value = change(visitor, page, word, turn)
                put_down(await visitor.set(key, value), tally.changes)
    except (ConnectionLostError, TimeoutError, KeyError, ValueError, OSError) as error:
        tally.errors.append(f"{who}: {type(error).__name__} {error}")


async def _visit_at_once(server: Server, crowd: int) -> Tally:
    tally = Tally()
    await asyncio.gather(*(visit(server, index, len(CHANGES), tally) for index in range(crowd)))
    return tally


def _show_coming_and_going(server: Server) -> None:
    """Memory after 50 visits of one change each, and after 300."""
    tally, before = Tally(), server.rss()
    for first in range(0, VISITS, AT_A_TIME):
        if first == FIRST_LOOK:
            before = server.rss()
        asyncio.run(_visit_together(server, range(first, first + AT_A_TIME), tally))
    after = server.rss()
    _show(f"{VISITS} visits", tally)
    show(f"{VISITS} visits: memory after {FIRST_LOOK}", [before / 1e6], "MB")
    show(f"{VISITS} visits: memory after {VISITS}", [after / 1e6], "MB")
    show(f"{VISITS} visits: growth", [after / before], "x", GROWTH_LIMIT)


async def _visit_together(server: Server, indices: range, tally: Tally) -> None:
    await asyncio.gather(*(visit(server, index, 1, tally) for index in indices))


def _show(name: str, tally: Tally) -> None:
    for message in (*tally.errors[:_SHOWN], *tally.foreign[:_SHOWN]):
        print(f"  {message}")
    changes = [seconds for page in tally.changes.values() for seconds in page]
    openings = [seconds for page in tally.openings.values() for seconds in page]
    show(f"{name}: answers", [len(changes) + len(openings)], "count")
    show(f"{name}: errors", [len(tally.errors)], "count", 0)
    show(f"{name}: words of others", [len(tally.foreign)], "count", 0)
    if not changes or not openings:
        return
    show(f"{name}: first answer of a page", openings, "s")
    show(f"{name}: slowest first answer", [max(openings)], "s")
    show(f"{name}: answer to a change", changes, "s")
    show(f"{name}: 95th percentile", [float(np.percentile(changes, 95))], "s")
    show(f"{name}: slowest", [max(changes)], "s")
    for page, seconds in tally.changes.items():
        show(f"  {page}", seconds, "s")
