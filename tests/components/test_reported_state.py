"""Views that change by themselves: what they show is not sent back, unlike what else changes."""

from __future__ import annotations

from typing import Any

import pytest

from core.components.reported_state import changes, state_to_send

LINKED = {"layer": 3, "region": ""}
MARKED = {"layer": 3, "region": "r1c1-r2c2"}


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A visitor's session, in which a view has been sent once."""
    state: dict[str, Any] = {}
    monkeypatch.setattr("streamlit.session_state", state)
    assert state_to_send("maps", LINKED) == (LINKED, 1)
    state["maps"] = {}
    return state


def report(state: dict[str, Any], view: dict[str, Any], serial: object = 1) -> dict[str, Any]:
    """What is new in a report, as its callback hears it."""
    state["maps"] = {"view": {**view, "serial": serial}}
    return changes("maps", view)


def test_what_is_reported_is_not_sent_back_and_is_new_after_a_link(state: dict[str, Any]) -> None:
    assert report(state, MARKED) == {"region": "r1c1-r2c2"}
    assert state_to_send("maps", MARKED) == (LINKED, 1)
    assert state_to_send("maps", LINKED) == (LINKED, 2)
    assert report(state, MARKED, 2) == {"region": "r1c1-r2c2"}


def test_late_reports_undo_no_state_from_elsewhere_and_are_sent_back(state: dict[str, Any]) -> None:
    picked = {"layer": 5, "region": ""}
    assert state_to_send("maps", picked) == (picked, 2)
    assert report(state, MARKED) == {"region": "r1c1-r2c2"}  # made before that arrived
    both = {"layer": 5, "region": "r1c1-r2c2"}
    assert state_to_send("maps", both) == (both, 3)
    report(state, both, 2)
    assert report(state, picked, 2) == {"region": ""}


def test_a_view_that_is_drawn_anew_shows_what_it_is_sent(state: dict[str, Any]) -> None:
    report(state, MARKED)
    del state["maps"]
    assert state_to_send("maps", LINKED) == (LINKED, 1)  # again: another page has changed it
    assert report(state, MARKED) == {"region": "r1c1-r2c2"}
    del state["maps"]
    assert state_to_send("maps", MARKED) == (MARKED, 2)


def test_a_report_on_no_state_that_was_sent_is_all_new(state: dict[str, Any]) -> None:
    serials: list[object] = [None, 0, 7, "1", [], True]
    for serial in serials:
        assert report(state, MARKED, serial) == MARKED
        assert state_to_send("maps", LINKED) == (LINKED, 1)
