"""A server that starts without a browser, is visited, and is called by another site's page."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

from tests.server import running_process
from tests.visitors.visitor import Visitor

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def listening_proxy() -> Iterator[tuple[str, list[bytes]]]:
    """An address that stands in for the way out of this machine, and what was asked of it."""
    asked: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def listen() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    asked.append(connection.recv(200))

        threading.Thread(target=listen, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}", asked


def test_the_server_asks_for_nothing_outside_of_this_machine() -> None:
    with listening_proxy() as (proxy, asked):
        ways_out = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), proxy)
        visit_app(ways_out | {"no_proxy": "", "NO_PROXY": ""})
    assert asked == []


def visit_app(environment: dict[str, str]) -> None:
    """A server as it starts without a browser, visited, and called by another site's page."""
    with running_process(subprocess.DEVNULL, **environment) as (address, _):

        async def visit() -> None:
            async with Visitor(address, patience=300) as visitor:
                await visitor.open("home", text="leaves fall in autumn")
                assert visitor.errors() == []

        asyncio.run(visit())
        stream = f"{address.replace('http', 'ws', 1)}/_stcore/stream"
        with (
            pytest.raises(InvalidStatus),
            connect(stream, origin=Origin("https://elsewhere.example")),
        ):
            pass
