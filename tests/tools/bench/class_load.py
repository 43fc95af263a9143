"""A class on one server: as people are, then without a pause, then 300 who come and go.

As people are: 40 phones open one link within five seconds, on a server that nobody has asked
before, and change something every five seconds on average. Without a pause, every visitor has a
page and a text of their own, and sends the next change as soon as the last one is answered: an
answer there waits for that of nearly every other visitor. Errors are counted (exceptions and red
boxes on a page, scripts that end, connections that are lost, no answer in time) and so are words
of other visitors in anything that is received.
"""

from __future__ import annotations

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote_plus

import numpy as np

from core.ui.frame.text_row import EXAMPLES
from core.ui.words.pages import TEXT_PAGES as PAGES  # everybody types a text
from tests.tools.bench.class_changes import CHANGES, WORDS, change, foreign_words, text_of
from tests.tools.bench.extent import few
from tests.tools.bench.report import show
from tests.tools.bench.server import running_app, watching_memory
from tests.tools.visitors import ConnectionLostError, Visitor

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator, Sequence

    from tests.tools.bench.server import Server
    from tests.tools.visitors import Answer

PHONES = few(40, 2)
ARRIVAL_S, PAUSE_S, LESSON_S = few((5.0, 5.0, 60.0), (0.5, 0.5, 2.0))
FIRST_LIMIT_S, LATE_LIMIT_S = 3.0, 5.0  # median and 95th percentile of the first pictures
LINK = "head_view"  # the page of the link, with the text that every page begins with; its picture
CROWDS = few((30, 40), (len(PAGES),))  # the least visits every page, too
PATIENCE_S = 300.0
PEAK_LIMIT_MB = 1200.0
VISITS, FIRST_LOOK = few(300, 4), few(50, 2)
AT_A_TIME = few(5, 2)  # of those who come and go
GROWTH_LIMIT = 1.05  # of memory, from visit 50 to visit 300
Result = TypeVar("Result")
_SHOWN = 5  # messages, and tracebacks, that are printed
_TRACEBACK_SHOWN = 4000  # characters of each


@dataclass
class Tally:
    """What a crowd met."""

    errors: list[str] = field(default_factory=list)  # each with the page and the visitor
    foreign: list[str] = field(default_factory=list)  # words of others, likewise
    # Seconds of every answer, by the page's name.
    openings: dict[str, list[float]] = field(default_factory=dict)
    pictures: list[float] = field(default_factory=list)  # seconds until the link's was here
    changes: dict[str, list[float]] = field(default_factory=dict)


def run() -> None:
    """A server for each crowd, so that none carries another's memory."""
    with _logged_app() as server, watching_memory(server) as watch:
        name = f"{PHONES} phones"
        tally = _in_a_thread(_open_one_link(server))
        _show(name, tally)
        # The answer ends with what waits for the model, such as its facts.
        show(f"{name}: first picture", tally.pictures, "s", FIRST_LIMIT_S)
        late = float(np.percentile(tally.pictures, 95))
        show(f"{name}: first picture, 95th percentile", [late], "s", LATE_LIMIT_S)
        show(f"{name}: peak memory", [watch.peak / 1e6], "MB", PEAK_LIMIT_MB)
    for crowd in CROWDS:
        with _logged_app() as server, watching_memory(server) as watch:
            tally = _in_a_thread(_visit_at_once(server, crowd))
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


def _in_a_thread(visits: Coroutine[None, None, Result]) -> Result:
    """What the visits gave; Playwright has an event loop in the thread of the others."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, visits).result()


@dataclass(frozen=True)
class Plan:
    """What one visitor does.

    Attributes
    ----------
    page : of the link, by its name.
    word : the visitor's own, in every text that is typed.
    pauses : seconds before each change.
    text : of the link; None for one with the visitor's own word.
    arrives : seconds after the others may begin.
    """

    page: str
    word: str
    pauses: Sequence[float]
    text: str | None = None
    arrives: float = 0.0


async def visit(server: Server, plan: Plan, tally: Tally) -> None:
    """One visitor, from the link to the last change; whatever goes wrong is put down."""
    page, word = plan.page, plan.word
    who = f"{word} on {page}"

    def look(data: bytes) -> None:
        if found := foreign_words(data, word):
            tally.foreign.append(f"{who}: {', '.join(sorted(found))}")

    def put_down(answer: Answer, taken: dict[str, list[float]], text: str) -> None:
        taken.setdefault(page, []).append(answer.seconds)
        tally.errors.extend(f"{who}: {error}" for error in visitor.errors())
        if quote_plus(text) not in visitor.query:
            tally.errors.append(f"{who}: the address has not this visitor's text")

    await asyncio.sleep(plan.arrives)
    try:
        async with Visitor(server.url, patience=PATIENCE_S, on_message=look) as visitor:
            text = text_of(word) if plan.text is None else plan.text
            first = await visitor.open(page, text=text)
            put_down(first, tally.openings, text)
            tally.pictures.extend(first.arrived[key] for key in (LINK,) if key in first.arrived)
            for turn, pause in enumerate(plan.pauses):
                await asyncio.sleep(pause)
                key, value = change(visitor, page, word, turn)
                text = value if key == "text" else text
                put_down(await visitor.set(key, value), tally.changes, text)
    except (ConnectionLostError, TimeoutError, KeyError, ValueError, OSError) as error:
        tally.errors.append(f"{who}: {type(error).__name__} {error}")


async def _open_one_link(server: Server) -> Tally:
    """A class of phones, each with its own haste; the same one every time."""
    tally, chance = Tally(), np.random.default_rng(0)
    plans = []
    for index in range(PHONES):
        pauses = chance.exponential(PAUSE_S, size=round(LESSON_S / PAUSE_S)).tolist()
        text, arrives = EXAMPLES[0][0], chance.uniform(0, ARRIVAL_S)
        plans.append(Plan(LINK, WORDS[index], pauses, text, arrives))
    await asyncio.gather(*(visit(server, plan, tally) for plan in plans))
    return tally


def _hasty(index: int, changes: int) -> Plan:
    """A visitor with a page and a text of their own, who never waits."""
    page, word = PAGES[index % len(PAGES)].name, WORDS[index % len(WORDS)]
    return Plan(page, word, [0.0] * changes)


async def _visit_at_once(server: Server, crowd: int) -> Tally:
    tally = Tally()
    await asyncio.gather(
        *(visit(server, _hasty(index, len(CHANGES)), tally) for index in range(crowd))
    )
    return tally


def _show_coming_and_going(server: Server) -> None:
    """Memory after 50 visits of one change each, and after 300."""
    tally, before = Tally(), server.rss()
    for first in range(0, VISITS, AT_A_TIME):
        if first == FIRST_LOOK:
            before = server.rss()
        _in_a_thread(_visit_together(server, range(first, first + AT_A_TIME), tally))
    after = server.rss()
    _show(f"{VISITS} visits", tally)
    show(f"{VISITS} visits: memory after {FIRST_LOOK}", [before / 1e6], "MB")
    show(f"{VISITS} visits: memory after {VISITS}", [after / 1e6], "MB")
    show(f"{VISITS} visits: growth", [after / before], "x", GROWTH_LIMIT)


async def _visit_together(server: Server, indices: range, tally: Tally) -> None:
    await asyncio.gather(*(visit(server, _hasty(index, 1), tally) for index in indices))


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
