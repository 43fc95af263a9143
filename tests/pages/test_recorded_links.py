"""Links that were recorded once, with what they opened: a link that was handed out stays as it is.

``recorded_links.json`` holds 23 links of every page and part, and 10 that ask for what is not
possible, each with its state and messages. Only what stands in for an impossible layer or head is
the one that pages begin with today.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest

from core.screens.atlas.corpus import making
from tests.opening import open_app
from tests.pages.conftest import alerts

pytestmark = pytest.mark.slow

LINKS = json.loads(Path(__file__).with_name("recorded_links.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("recorded", LINKS, ids=lambda link: f"{link['page']}: {link['link'][:50]}")
def test_a_recorded_link_opens_its_state_and_its_messages(
    recorded: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    make, key = making._make, ("recorded", "1000 tokens")  # instead of 5,000, the default
    monkeypatch.setattr(making, "_make", lambda model, corpus, *_: make(model, corpus, 1000, key))
    app = open_app(recorded["page"], **dict(parse_qsl(recorded["link"])))
    assert {key: app.session_state[key] for key in recorded["state"]} == recorded["state"]
    messages = [line for line in alerts(app).split("\n") if line]
    assert len(messages) == len(recorded["messages"])
    for rejected in recorded["messages"]:  # a parameter and its value
        assert any(rejected in message for message in messages), rejected
