"""Links as they were written before controls were declared once: each opens what it did then.

``old_links.json`` holds 22 links of every page and part, and 10 that ask for what is not possible,
each with the state and the messages recorded from that version. Nothing in it follows from the code
of today: a link that a teacher has handed out stays as it is. Only what stands in for an impossible
layer or head is the one that pages begin with today.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest

from tests.opening import open_app
from tests.pages.conftest import alerts

LINKS = json.loads(Path(__file__).with_name("old_links.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("old", LINKS, ids=lambda old: f"{old['page']}: {old['link'][:50]}")
def test_an_old_link_opens_the_state_and_the_messages_it_always_did(old: dict[str, Any]) -> None:
    app = open_app(old["page"], **dict(parse_qsl(old["link"])))
    assert {key: app.session_state[key] for key in old["state"]} == old["state"]
    messages = [line for line in alerts(app).split("\n") if line]
    assert len(messages) == len(old["messages"])
    for rejected in old["messages"]:  # a parameter and its value
        assert any(rejected in message for message in messages), rejected


@pytest.mark.parametrize("linked", ["leaves (2)", "leaves₂"])
def test_a_link_names_a_repeated_word_as_today_or_as_it_once_did(linked: str) -> None:
    app = open_app("projection", text="Leaves fall where leaves lie.", a=linked, b="fall")
    assert app.session_state["a"] == "leaves₂"
    assert alerts(app) == ""
