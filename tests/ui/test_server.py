"""The app as a server, visited from this machine, through a proxy, and by another name."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

from core.model.opening import catalog
from tests.server import process_at
from tests.tools.visitor import ConnectionLostError, Visitor, run_visit

if TYPE_CHECKING:
    from pathlib import Path


pytestmark = pytest.mark.slow


def test_the_server_asks_for_nothing_outside_of_this_machine(
    quiet_app: str, asked_outside: list[bytes]
) -> None:
    async def visit() -> None:
        async with Visitor(quiet_app) as visitor:
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


STRANGE = {"X-Forwarded-For": "192.0.2.7"}


EVERYTHING = f"box: {len(catalog.reading('text'))} and more"
IN_THE_BOX = "box: 2\n"


def visit(app: str, name: str = "", headers: dict[str, str] | None = None, **link: str) -> str:
    """What Home says to a visitor who calls the server so; first of all how full its box is."""
    shown = []

    async def look() -> None:
        async with Visitor(app, name=name, headers=headers) as visitor:
            await visitor.open("home", **link)
            for each in visitor.screen:
                if each.kind == "selectbox" and each.body.label == "Model":
                    more = " and more" if each.body.accept_new_options else ""
                    shown.append(f"box: {len(each.options)}{more}")
                elif each.kind in {"alert", "markdown"}:
                    shown.append(each.body.body.replace("\\", ""))

    run_visit(look())
    return "\n".join(shown)


def test_at_the_machine_itself_every_model_may_be_named(quiet_app: str) -> None:
    shown = visit(quiet_app, "localhost")
    assert EVERYTHING in shown
    assert "6 layers" in shown


@pytest.mark.parametrize(("name", "headers"), [("", STRANGE), ("atlas.example.org", {})])
def test_through_a_proxy_or_by_another_name_only_the_models_in_the_box(
    quiet_app: str, name: str, headers: dict[str, str]
) -> None:
    assert IN_THE_BOX in visit(quiet_app, name, headers)


def test_a_folder_is_told_to_nobody_but_the_visitor_at_the_machine(
    quiet_app: str, tmp_path: Path
) -> None:
    assert "holds no model" in visit(quiet_app, model=str(tmp_path))
    assert "There is no folder" in visit(quiet_app, model=str(tmp_path / "gone"))
    answers = [
        re.sub("`.*?`", "it", visit(quiet_app, "", STRANGE, model=str(folder)), count=1)
        for folder in (tmp_path, tmp_path / "gone", os.sep)
    ]
    assert len(set(answers)) == 1
    assert "This link asks for model it. This site offers" in answers[0]


def test_at_last_a_server_that_is_asked_to_end_while_it_measures_ends_well(quiet_app: str) -> None:
    """Threads that are in torch as Python ends would abort it. No test uses this server later."""
    process = process_at(quiet_app)

    def end(message: bytes) -> None:
        if b"Random directions of the largest" in message:
            process.terminate()

    async def visitor() -> None:
        async with Visitor(quiet_app, on_message=end) as guest:
            await guest.open("effect", model="bundled/gpt2-novels", text="the king " * 9)

    with pytest.raises(ConnectionLostError):
        run_visit(visitor())
    assert process.wait(60) == 0
