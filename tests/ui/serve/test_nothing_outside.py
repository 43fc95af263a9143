"""A server that starts without a browser, is visited, and is called by another site's page."""

from __future__ import annotations

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

from tests.tools.visitor import Visitor, run_visit

pytestmark = pytest.mark.slow


def test_the_server_asks_for_nothing_outside_of_this_machine(
    quiet_app: str, asked_outside: list[bytes]
) -> None:
    async def visit() -> None:
        async with Visitor(quiet_app, patience=300) as visitor:
            await visitor.open("home", text="leaves fall in autumn")
            assert visitor.errors() == []

    run_visit(visit())
    assert asked_outside == []


def test_a_page_of_another_site_cannot_speak_to_the_server(quiet_app: str) -> None:
    stream = f"{quiet_app.replace('http', 'ws', 1)}/_stcore/stream"
    with (
        pytest.raises(InvalidStatus),
        connect(stream, origin=Origin("https://elsewhere.example")),
    ):
        pass
