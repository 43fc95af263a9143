"""Views that change by themselves: what they show is not sent back, unlike what else changes."""

from __future__ import annotations

from typing import Any

import pytest

from core.components.reported_state import note_report, state_to_send

LINKED = {"layer": 3, "region": ""}


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A visitor's session, in which a view has been sent once and reports."""
    state: dict[str, Any] = {}
    monkeypatch.setattr("streamlit.session_state", state)
    assert state_to_send("maps", LINKED) == (LINKED, 1)
    state["maps"] = {"chosen": None, "region": {"region": "r1c1-r2c2"}}
    return state


@pytest.mark.usefixtures("state")
def test_one_part_that_is_reported_is_not_sent_back() -> None:
    note_report("maps", {"region": "r1c1-r2c2"}, 1)
    assert state_to_send("maps", {"layer": 3, "region": "r1c1-r2c2"}) == (LINKED, 1)
    note_report("maps", {"region": ""}, 1)
    assert state_to_send("maps", LINKED) == (LINKED, 1)


@pytest.mark.usefixtures("state")
def test_a_report_overtaken_by_a_state_from_elsewhere_is_sent_once_more() -> None:
    picked = {"layer": 5, "region": ""}
    assert state_to_send("maps", picked) == (picked, 2)
    note_report("maps", {"region": "r1c1-r2c2"}, 1)  # made before that arrived, which then undid it
    both = {"layer": 5, "region": "r1c1-r2c2"}
    assert state_to_send("maps", both) == (both, 3)


def test_a_view_that_is_drawn_anew_is_sent_what_it_showed(state: dict[str, Any]) -> None:
    note_report("maps", {"region": "r1c1-r2c2"}, 1)
    state["maps"] = {"chosen": None, "region": None}
    shown = {"layer": 3, "region": "r1c1-r2c2"}
    assert state_to_send("maps", shown) == (shown, 2)
