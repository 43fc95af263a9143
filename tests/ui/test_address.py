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

from core.ui.address import pack, pending_updates, unpack

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


@pytest.fixture
def visit(monkeypatch: pytest.MonkeyPatch) -> Visit:
    return Visit(monkeypatch)


def test_values_from_before_a_pick_do_not_undo_it_until_it_is_answered(visit: Visit) -> None:
    visit.address = {"query": "all"}
    visit.pick(query="4")
    for _ in range(2):
        assert visit.message({"query": "all"}, query="all") == {"query": "4"}
    assert visit.message({"query": "4"}, query="4") == {"query": "4"}
    assert visit.message({"query": "4"}, query="all") == {"query": "all"}  # a visitor's own choice


def test_what_a_visitor_sets_meanwhile_is_kept(visit: Visit) -> None:
    visit.address = {"query": "all"}
    visit.pick(query="4")
    assert visit.message({"query": "all"}, query="7") == {"query": "7"}
    assert visit.message({"query": "all"}, query="all") == {"query": "all"}


def test_of_several_picks_the_last_one_stays(visit: Visit) -> None:
    visit.address = {"query": "all"}
    visit.pick(query="4")
    visit.message({"query": "all"}, query="all")
    visit.pick(query="5")
    assert visit.message({"query": "all"}, query="all") == {"query": "5"}
    assert visit.message({"query": "4"}, query="4") == {"query": "5"}  # has the first answer only
    assert visit.message({"query": "5"}, query="5") == {"query": "5"}


def test_a_widget_that_is_ahead_of_its_address_was_not_touched(visit: Visit) -> None:
    """The answer to a pick draws the widget first and writes the address last."""
    visit.address = {"query": "all"}
    for query in ("4", "5", "6"):
        visit.pick(query=query)
    assert visit.message({"query": "all"}, query="5") == {"query": "6"}
    assert visit.message({"query": "4"}, query="5") == {"query": "6"}
    assert visit.message({"query": "5"}, query="4") == {"query": "4"}  # it was at 5: a touch


def test_a_pick_taken_back_stays_taken_back(visit: Visit) -> None:
    visit.address = {"query": "all"}
    visit.pick(query="4")
    visit.pick(query="all")
    assert visit.message({"query": "all"}, query="all") == {"query": "all"}
    assert visit.message({"query": "4"}, query="4") == {"query": "all"}
    assert visit.message({"query": "all"}, query="4") == {"query": "4"}


def test_an_address_that_omits_a_control_means_its_default(visit: Visit) -> None:
    visit.pick(query="4", marked=[2, 3])
    assert visit.message({}, query="11", marked=[]) == {"query": "4", "marked": [2, 3]}
    shown = {"query": "4", "marked": "2,3"}
    assert visit.message(shown, query="4", marked=[]) == {"query": "4", "marked": []}


def test_what_no_address_will_show_is_not_waited_for(visit: Visit) -> None:
    visit.pick(query="4", marked=[2])
    pending_updates.answered({"marked": "2"})
    assert visit.message({}, query="11", marked=[]) == {"query": "11", "marked": [2]}


def test_back_and_forward_end_all_waiting(visit: Visit) -> None:
    visit.address = {"query": "all"}
    visit.pick(query="4")
    pending_updates.forget()
    assert visit.message({"query": "all"}, query="all") == {"query": "all"}


ROOM = 10**6
WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)


@given(text=WORDS, pair=WORDS)
def test_what_is_packed_is_unpacked(text: str, pair: str) -> None:
    texts = {"text": text, "pair": pair}
    packed = pack(texts)
    assert re.fullmatch(r"[A-Za-z0-9_-]*", packed)
    assert unpack(packed, ROOM) == texts


def test_the_form_is_raw_deflate_of_json_in_base64url() -> None:
    packed = pack({"text": "本 " * 50})
    raw = zlib.decompress(base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4)), -15)
    assert json.loads(raw) == {"text": "本 " * 50}


def deflated(raw: bytes) -> str:
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    return base64.urlsafe_b64encode(deflate.compress(raw) + deflate.flush()).decode()


@pytest.mark.parametrize(
    "packed",
    [
        *("", "!", "本", "AAAA", "A", pack({"text": "I saw it"})[:-4]),
        *(deflated(b"[1]"), deflated(b"{"), deflated(b'{"text": 5}')),
        *(deflated(b"[" * 100_000), deflated(b"\xff\xfe")),
    ],
)
def test_anything_else_is_refused(packed: str) -> None:
    assert unpack(packed, ROOM) is None


def test_a_bomb_is_refused_before_it_is_unpacked() -> None:
    bomb = deflated(b'{"text": "' + b"x" * 50_000_000 + b'"}')
    assert len(bomb) < 70_000
    assert unpack(bomb, ROOM) is None


def test_half_a_character_in_an_escape_is_replaced() -> None:
    assert unpack(deflated(b'{"text": "a\\ud800b"}'), ROOM) == {"text": "a?b"}
