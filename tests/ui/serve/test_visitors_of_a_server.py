"""The app as a server, visited from this machine, through a proxy, and by another name."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import pytest

from core.model.opening import catalog
from tests.raw_visit import visit
from tests.server import process_at
from tests.tools.visitors import ConnectionLostError, Visitor
from tests.tools.visitors.running import run_visit

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

STRANGE = {"X-Forwarded-For": "192.0.2.7"}


EVERYTHING = f"box: {len(catalog.reading('text'))} and more"
IN_THE_BOX = "box: 2\n"


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
