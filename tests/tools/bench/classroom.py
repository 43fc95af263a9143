"""A class on one server: as people are, then without a pause, then 300 who come and go.

As people are: 40 phones open one link within five seconds, on a server that nobody has asked
before, and change something every five seconds on average. Without a pause, every visitor has a
page and a text of their own, and sends the next change as soon as the last one is answered. Errors
are counted (exceptions and red boxes on a page, scripts that end, connections that are lost, no
answer in time) and so are words of other visitors in anything that is received.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from tempfile import TemporaryFile
from typing import Any
from urllib.parse import quote_plus

import numpy as np

from core.ui.frame.first_row import EXAMPLES
from core.ui.words.pages import TEXT_PAGES
from tests.tools.bench.models import few, sentence_of
from tests.tools.bench.pages import running_app
from tests.tools.visitor import ConnectionLostError, Visitor, run_visit

PHONES = few(40, 2)
ARRIVAL_S, PAUSE_S, LESSON_S = few((5.0, 5.0, 60.0), (0.5, 0.5, 2.0))
LINK = "heatmap"  # of the phones, with the text that every page begins with
# What a phone's link asks for by its page, and the key of the first picture.
BEGINS = {
    LINK: ({}, "heatmap_table"),
    "lessons": ({"lesson": "heads", "step": "1"}, "lesson_strip"),
}
CROWD = few(40, len(TEXT_PAGES))  # the least visits every page, too
VISITS, FIRST_LOOK, TOGETHER = few((300, 50, 5), (4, 2, 2))
_SHOWN, _SHOWN_WIDTH = 5, 4000  # errors of a kind that are printed, and characters of each

# One a visitor: a word that no page, model card or corpus of the project holds, and one token of
# the bundled model, so that it shows whole in every picture of a text.
WORDS = """
    falcon panther dolphin penguin lobster gorilla buffalo cobra leopard turtle squirrel
    beaver eagle raven butterfly shark whale oyster trout bison moose jaguar donkey hound
    trumpet clarinet flute accordion banjo granite basalt nickel cobalt titanium uranium
    helium hydrogen oxygen nitrogen sulfur
""".split()  # noqa: SIM905 - forty lines otherwise
_ANY_WORD = re.compile(rb"\b(" + "|".join(WORDS).encode() + rb")\b")
TOKENS = 16  # of a text, its own word and the special ones included
_USUAL = ("layer", "head", "switch", "layer", "head", "text", "layer", "head", "switch", "text")
CHANGES = few(_USUAL, ("layer", "switch", "text"))
# Beside layer and head: what asks for another model, for a corpus of one's own or for a minute of
# the processor is another benchmark's.
_LEFT_ALONE = {"model", "model_b", "corpus", "source", "projection", "example"}
_PICKERS = {"selectbox", "button_group"}
_LAYERS = 6  # of the bundled model


@dataclass
class Tally:
    """What a crowd met."""

    errors: list[str] = field(default_factory=list)  # each with the page and the visitor
    foreign: list[str] = field(default_factory=list)  # words of others, likewise
    pictures: list[float] = field(default_factory=list)  # seconds until the link's was here
    changes: list[float] = field(default_factory=list)  # seconds of every later answer
    peak_mb: float = 0.0
    growth: float = 0.0  # of memory, from an early visit to the last


@dataclass(frozen=True)
class Plan:
    """What one visitor does: `text` is the link's, None for one with the visitor's own `word`."""

    page: str  # of the link, by its name
    word: str  # in every text that is typed
    pauses: Sequence[float]  # seconds before each change
    text: str | None = None
    arrives: float = 0.0  # seconds after the others may begin


@cache
def lesson(page: str = LINK) -> Tally:
    """A class of phones that open one link, each with its own haste; the same one every time."""
    chance, changes, text = np.random.default_rng(0), round(LESSON_S / PAUSE_S), EXAMPLES[0][0]
    pauses = chance.exponential(PAUSE_S, size=(PHONES, changes)).tolist()
    arrivals = chance.uniform(0, ARRIVAL_S, PHONES)
    people = zip(WORDS, pauses, arrivals, strict=False)
    return _meet([[Plan(page, word, own, text, arrives) for word, own, arrives in people]])


@cache
def crowd() -> Tally:
    """Visitors who never wait, all at once."""
    return _meet([[_hasty(index, len(CHANGES)) for index in range(CROWD)]])


@cache
def coming_and_going() -> Tally:
    """Visits of one change each, a few at a time."""
    plans = [_hasty(index, 1) for index in range(VISITS)]
    return _meet([plans[first : first + TOGETHER] for first in range(0, VISITS, TOGETHER)])


def _hasty(index: int, changes: int) -> Plan:
    """A visitor with a page and a text of their own, who never waits."""
    page, word = TEXT_PAGES[index % len(TEXT_PAGES)].name, WORDS[index % len(WORDS)]
    return Plan(page, word, [0.0] * changes)


def _meet(groups: list[list[Plan]]) -> Tally:
    """The groups one after the other on a server of their own; prints its log's exceptions."""
    tally, sizes = Tally(), []
    with TemporaryFile() as log:
        with running_app(log) as server:

            async def meet(group: list[Plan]) -> None:
                await asyncio.gather(*(visit(server.url, plan, tally) for plan in group))

            for group in groups:
                run_visit(meet(group))
                sizes.append(server.memory_mb("VmRSS"))
            tally.peak_mb = server.memory_mb()
        log.seek(0)
        _, *tracebacks = log.read().decode(errors="replace").split("Traceback")
    for text in (*tracebacks[:_SHOWN], *tally.errors[:_SHOWN], *tally.foreign[:_SHOWN]):
        print(f"  {text[:_SHOWN_WIDTH]}")
    tally.growth = sizes[-1] / sizes[min(FIRST_LOOK // TOGETHER, len(sizes)) - 1]
    return tally


async def visit(url: str, plan: Plan, tally: Tally) -> None:
    """One visitor, from the link to the last change; whatever goes wrong is put down."""
    page, word = plan.page, plan.word
    who = f"{word} on {page}"

    def look(data: bytes) -> None:
        if found := foreign_words(data, word):
            tally.foreign.append(f"{who}: {', '.join(sorted(found))}")

    def put_down(text: str) -> None:
        tally.errors.extend(f"{who}: {error}" for error in visitor.errors())
        if quote_plus(text) not in visitor.query:
            tally.errors.append(f"{who}: the address has not this visitor's text")

    await asyncio.sleep(plan.arrives)
    try:
        async with Visitor(url, on_message=look) as visitor:
            text = text_of(word) if plan.text is None else plan.text
            link, picture = BEGINS.get(page, ({}, ""))
            first = await visitor.open(page, text=text, **link)
            put_down(text)
            tally.pictures += [at for key, at in first.arrived.items() if key == picture]
            for turn, pause in enumerate(plan.pauses):
                await asyncio.sleep(pause)
                key, value = _change(visitor, page, word, turn)
                text = value if key == "text" else text
                tally.changes.append((await visitor.set(key, value)).seconds)
                put_down(text)
    except (ConnectionLostError, TimeoutError, KeyError, ValueError, OSError) as error:
        tally.errors.append(f"{who}: {type(error).__name__} {error}")


def text_of(word: str, turn: int = 0) -> str:
    """A text that has the visitor's own word in it; another one for each turn."""
    return f"{word} {sentence_of(TOKENS - 1, start=WORDS.index(word) + turn)}"


def foreign_words(data: bytes, own: str) -> set[str]:
    """The words of other visitors in what the server has sent."""
    return {found.decode() for found in _ANY_WORD.findall(data)} - {own}


def _change(visitor: Visitor, page: str, word: str, turn: int) -> tuple[str, Any]:
    """The key and the value of a visitor's next change, for `visitor.set`.

    A page without that control gets another of its own: one without any a text, one without a text
    a picker.
    """
    kind = CHANGES[turn % len(CHANGES)]
    if page == LINK and kind in {"layer", "head"}:  # by its stepper
        return "place", {"view": {kind: str(1 + turn % _LAYERS)}}
    usable = {
        each.key: each
        for each in visitor.screen
        if each.key and each.key not in _LEFT_ALONE and not getattr(each.body, "disabled", False)
    }
    switches = [key for key, each in usable.items() if each.kind == "checkbox" and key != "two"]
    if kind == "switch" and switches:
        return switches[turn % len(switches)], turn % 4 < 2
    pickers = [key for key, each in usable.items() if each.kind in _PICKERS and each.options]
    if pickers and (kind in {"layer", "head"} or "text" not in usable):
        key = kind if kind in pickers else pickers[turn % len(pickers)]
        options = usable[key].options
        return key, options[turn % len(options)]
    return "text", text_of(word, 1 + turn)
