"""The app as a server, visited from this machine, through a proxy, and by another name."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import pytest

from core.model import CATALOG
from tests.raw_visit import visit
from tests.server import running_app

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

STRANGE = {"X-Forwarded-For": "192.0.2.7"}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that says nothing of what it offers."""
    log = tmp_path_factory.mktemp("server") / "log.txt"
    silent = dict.fromkeys(("HEADSCOPE_MODELS", "ATTENTION_ATLAS_MODELS"), "")
    with running_app(log, HF_ENDPOINT="http://127.0.0.1:9", **silent) as address:
        yield address


EVERYTHING = f"box: {len(CATALOG)} and more"
IN_THE_BOX = "box: 2\n"


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_at_the_machine_itself_every_model_may_be_named(app: str, name: str) -> None:
    shown = visit(app, name)
    assert EVERYTHING in shown
    assert "Layer" in shown


@pytest.mark.parametrize(
    ("name", "headers"),
    [
        ("", STRANGE),
        ("", {"X-Forwarded-For": "127.0.0.1"}),
        ("", {"Via": "1.1 somewhere"}),
        ("", {"Forwarded": "for=127.0.0.1"}),
        ("atlas.example.org", {}),
    ],
)
def test_through_a_proxy_or_by_another_name_only_the_models_in_the_box(
    app: str, name: str, headers: dict[str, str]
) -> None:
    assert IN_THE_BOX in visit(app, name, headers)


def test_a_folder_is_told_to_nobody_but_the_visitor_at_the_machine(
    app: str, tmp_path: Path
) -> None:
    assert "holds no model" in visit(app, model=str(tmp_path))
    assert "There is no folder" in visit(app, model=str(tmp_path / "gone"))
    answers = [
        re.sub("`.*?`", "it", visit(app, "", STRANGE, model=str(folder)), count=1)
        for folder in (tmp_path, tmp_path / "gone", os.sep)
    ]
    assert len(set(answers)) == 1
    assert "This link asks for model it. This site offers" in answers[0]
