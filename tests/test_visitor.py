"""Visitors without a browser meet the app as people do, each for themselves."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.tools.bench.classroom import WORDS, foreign_words, text_of
from tests.tools.visitor import Visitor, run_visit

if TYPE_CHECKING:
    from numpy.typing import NDArray

pytestmark = pytest.mark.slow


def table(visitor: Visitor) -> tuple[dict[str, Any], NDArray[np.float32]]:
    """The heatmap's settings and values, as its component is sent them."""
    data = visitor.find("heatmap_table").body.bytes
    start = 4 + int.from_bytes(data[:4], "little")
    settings = json.loads(data[4:start])
    assert next(iter(settings["arrays"])) == "values"
    _, size = settings["arrays"]["values"]
    values = np.frombuffer(data, "<f4", size, start)
    return settings, values.reshape(len(settings["rows"]["labels"]), -1)


def test_what_was_sent_a_moment_ago_is_shown_without_being_sent_again(quiet_app: str) -> None:
    """Streamlit names it by a number, which the visitor has to know what it stands for."""

    async def visit() -> None:
        async with Visitor(quiet_app) as visitor:
            await visitor.open("heatmap", text=text_of("trout"), head="1")
            _, first = table(visitor)
            new = await visitor.set("place", {"view": {"head": "2"}})
            again = await visitor.set("place", {"view": {"head": "1"}})
            np.testing.assert_array_equal(table(visitor)[1], first)
            assert again.size < new.size

    run_visit(visit())


def test_what_was_chosen_in_a_picture_does_not_send_the_picture_again(quiet_app: str) -> None:
    async def visit() -> None:
        async with Visitor(quiet_app) as visitor:
            await visitor.open("neuron_view", text=text_of("trout"), query="2")
            first = visitor.find("neuron_view").body.bytes
            chosen = {"query": 3, "pairKey": 1, "byContribution": True, "serial": 1}
            await visitor.set("neuron_view", {"view": chosen})
            assert "query=4&key_token=2&sort=contribution" in visitor.query
            assert visitor.find("neuron_view").body.bytes == first
            await visitor.set("query", "book")  # by the menu: that the picture must be told
            assert visitor.find("neuron_view").body.bytes != first

    run_visit(visit())


def test_back_is_not_undone_by_what_is_picked_while_it_runs(quiet_app: str) -> None:
    """Streamlit ends the run that has begun to read the address, and forgets that it was Back."""

    async def visit() -> None:
        drawn = asyncio.Event()

        def look(data: bytes) -> None:
            if ForwardMsg.FromString(data).WhichOneof("type") in {"delta", "ref_hash"}:
                drawn.set()

        async with Visitor(quiet_app, on_message=look) as visitor:
            await visitor.open("heatmap", text=text_of("trout"), layer="4", head="2")
            before = visitor.query
            await visitor.set("place", {"view": {"layer": "5", "head": "3"}})
            assert "layer=5&head=3" in visitor.query
            visitor.query = before
            drawn.clear()
            await visitor.go_back()
            await drawn.wait()
            await visitor.set("words", value=True)
            assert visitor.query == before.replace("words=0", "words=1")

    run_visit(visit())


def test_two_visitors_do_not_see_each_other(quiet_app: str) -> None:
    received: dict[str, bytearray] = {word: bytearray() for word in WORDS[:2]}

    async def visit(word: str) -> None:
        async with Visitor(quiet_app, on_message=received[word].extend) as visitor:
            await visitor.open("heatmap", text=text_of(word))
            for turn in (1, 2):
                await visitor.set("text", text_of(word, turn))
                await visitor.set("place", {"view": {"head": str(turn)}})
            assert visitor.errors() == []

    async def both() -> None:
        await asyncio.gather(*map(visit, received))

    run_visit(both())
    for word, data in received.items():
        assert word.encode() in data
        assert foreign_words(bytes(data), word) == set()
