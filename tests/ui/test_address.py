"""Links: texts packed into them; messages from before the answer to a pick do not undo it."""

from __future__ import annotations

import base64
import json
import re
import zlib
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.ui.address import pack_texts, pending_updates, unpack_texts

DEFAULTS = {"query": "11", "marked": []}


class Visit:
    """A session, and what the browser's widgets and address say in its next message."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.state: dict[str, Any] = {}
        self.address: dict[str, str] = {}
        monkeypatch.setattr(pending_updates, "st", SimpleNamespace(session_state=self.state))
        monkeypatch.setattr(pending_updates, "shown", lambda: self.address)

    def pick(self, **values: object) -> None:
        pending_updates.note(values, DEFAULTS)
        self.state.update(values)

    def message(self, address: dict[str, str], **widgets: object) -> dict[str, Any]:
        """What the page reads of these widgets."""
        self.address = address
        self.state.update(widgets)
        pending_updates.restore()
        return {key: self.state[key] for key in widgets}


# Picks, and messages: the address, what the widget says, what the page reads.
VISITS: dict[str, list[str | tuple[str, str, str]]] = {
    "values from before a pick do not undo it until it is answered": [
        *("4", ("all", "all", "4"), ("all", "all", "4"), ("4", "4", "4")),
        ("4", "all", "all"),  # a visitor's own choice
    ],
    "what a visitor sets meanwhile is kept": ["4", ("all", "7", "7"), ("all", "all", "all")],
    "of several picks the last one stays": [
        *("4", ("all", "all", "4"), "5", ("all", "all", "5")),
        *(("4", "4", "5"), ("5", "5", "5")),  # the first has the first answer only
    ],
    # The answer to a pick draws the widget first and writes the address last.
    "a widget that is ahead of its address was not touched": [
        *("4", "5", "6", ("all", "5", "6"), ("4", "5", "6")),
        ("5", "4", "4"),  # it was at 5: a touch
    ],
    "a pick taken back stays taken back": [
        *("4", "all", ("all", "all", "all"), ("4", "4", "all"), ("all", "4", "4")),
    ],
}


@pytest.mark.parametrize("name", VISITS)
def test_a_pick_stays_until_it_is_answered_or_the_visitor_sets_another(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    visit = Visit(monkeypatch)
    visit.address = {"query": "all"}
    for step in VISITS[name]:
        if isinstance(step, str):
            visit.pick(query=step)
        else:
            address, widget, expected = step
            assert visit.message({"query": address}, query=widget) == {"query": expected}


def test_an_address_that_omits_a_control_means_its_default_and_not_what_it_never_shows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    visit = Visit(monkeypatch)
    visit.pick(query="4", marked=[2, 3])
    assert visit.message({}, query="11", marked=[]) == {"query": "4", "marked": [2, 3]}
    shown = {"query": "4", "marked": "2,3"}
    assert visit.message(shown, query="4", marked=[]) == {"query": "4", "marked": []}
    pending_updates.forget()  # back and forward end all waiting
    assert visit.message({}, query="11", marked=[]) == {"query": "11", "marked": []}
    visit.pick(query="4", marked=[2])
    pending_updates.answered({"marked": "2"})
    assert visit.message({}, query="11", marked=[]) == {"query": "11", "marked": [2]}


ROOM = 10**6
WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)


@given(text=WORDS, pair=WORDS)
def test_what_is_packed_is_unpacked(text: str, pair: str) -> None:
    texts = {"text": text, "pair": pair}
    packed = pack_texts(texts)
    assert re.fullmatch(r"[A-Za-z0-9_-]*", packed)
    assert unpack_texts(packed, ROOM) == texts
    raw = zlib.decompress(base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4)), -15)
    assert json.loads(raw) == texts  # raw deflate of JSON in base64url: links stay


def deflated(raw: bytes) -> str:
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    return base64.urlsafe_b64encode(deflate.compress(raw) + deflate.flush()).decode()


def test_anything_else_is_refused() -> None:
    damaged = ("", "!", "本", "AAAA", "A", pack_texts({"text": "I saw it"})[:-4])
    others = (b"[1]", b"{", b'{"text": 5}', b"[" * 100_000, b"\xff\xfe")
    for packed in (*damaged, *map(deflated, others)):
        assert unpack_texts(packed, ROOM) is None, packed[:20]


def test_a_bomb_is_refused_before_it_is_unpacked_and_half_a_character_is_replaced() -> None:
    bomb = deflated(b'{"text": "' + b"x" * 50_000_000 + b'"}')
    assert len(bomb) < 70_000
    assert unpack_texts(bomb, ROOM) is None
    assert unpack_texts(deflated(b'{"text": "a\\ud800b"}'), ROOM) == {"text": "a?b"}
