"""The lines under Share: on every page they run, with the model and what is on the screen."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import streamlit as st

from core.model import effects
from core.model.bundled.first import PICTURE
from core.ui.address import share
from core.ui.words.pages import PAGES
from tests.opening import open_app

HOSTILE = '\'); raise SystemExit #\n"""{layer}'
MODELS = {"text": "bundled/gpt2-novels", "image": "bundled/vit-scenes"}


@pytest.mark.parametrize(
    ("page", "shown"), [(page.name, shown) for page in PAGES for shown in page.modalities]
)
def test_the_lines_of_every_page_run(
    page: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = {"model": MODELS[shown], "text": HOSTILE, "pair": "It is.", "two": True}
    look = {"input": shown, "image": PICTURE, "layer": "3", "head": "mean"}
    monkeypatch.setattr(st, "session_state", state | look)
    monkeypatch.setattr("core.model.effects", partial(effects, draws=0))  # else ten seconds
    names: dict[str, Any] = {}
    code = share.snippet(page)
    exec(code, names)  # noqa: S102 - it is what is tested
    assert names["trace"].model == MODELS[shown]
    assert ("layer" in names) <= (names.get("layer") in (2, range(6)))
    if shown == "text":
        assert repr(HOSTILE) in code
        assert names["trace"].tokens[-1].segment == 1


def test_share_prints_the_lines() -> None:
    app = open_app("heatmap")
    app.session_state["share"] = True
    app.run()
    (code,) = (each.value for each in app.code if "import" in each.value)
    names: dict[str, Any] = {}
    exec(code, names)  # noqa: S102 - it is what is tested
    assert names["table"].shape == (13, 13)
