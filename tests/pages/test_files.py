"""Every file that a page offers: its name, and what it says about itself."""

from __future__ import annotations

import html
import json
import re
from typing import TYPE_CHECKING, Any

import pytest
import streamlit as st

from core import VERSION
from tests.opening import open_app

if TYPE_CHECKING:
    from collections.abc import Callable

TEXT = 'a "b", =c; it said <b>it</b>'
# Each page's link, and the names of its files.
FILES: list[tuple[str, dict[str, str], set[str]]] = [
    ("heatmap", {"layer": "4", "head": "2"}, {"heatmap-minilm-L4H2.csv"}),
    ("vectors", {}, {"vectors-minilm-mean-head.csv"}),
    ("query_key", {"part": "heads", "layer": "1"}, {"queries-and-keys-minilm-L1.html"}),
    ("head_view", {"layer": "2"}, {"head-view-minilm-L2.html"}),
    ("model_view", {}, {"model-view-minilm.html"}),
    ("neuron_view", {"layer": "4", "head": "2"}, {"neuron-view-minilm-L4H2.html"}),
    ("patterns", {}, {"patterns-minilm.csv"}),
    ("anomalies", {}, {"anomalies-minilm.csv"}),
]


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> dict[str, Callable[[], str]]:
    """What makes each file that a page offers, by its name."""
    offered: dict[str, Callable[[], str]] = {}
    offer = st.download_button

    def keep(label: str, data: Any, *, file_name: str, **options: Any) -> bool:
        offered[file_name] = data
        return offer(label, data, file_name=file_name, **options)

    monkeypatch.setattr(st, "download_button", keep)
    return offered


def facts_of(file: str) -> dict[str, Any]:
    """What a CSV file says in its first line, an HTML file in its head."""
    if file.startswith("\ufeff# "):
        return dict(json.loads(file.splitlines()[0][3:]))
    (content,) = re.findall(r'<meta name="headscope" content="([^"]*)">', file)
    assert f"Headscope {VERSION}" in file.replace(content, "")  # for people too
    return dict(json.loads(html.unescape(content)))


@pytest.mark.parametrize(
    ("page", "link", "names", "links"),
    [*((*each, "1") for each in FILES), (*FILES[0], "0")],  # also where addresses hold nothing
)
def test_every_file_is_named_by_what_it_holds_and_says_it(
    files: dict[str, Callable[[], str]],
    monkeypatch: pytest.MonkeyPatch,
    page: str,
    link: dict[str, str],
    names: set[str],
    links: str,
) -> None:
    monkeypatch.setenv("HEADSCOPE_LINKS", links)
    app = open_app(page, text=TEXT, **link)
    assert not app.exception
    assert set(files) == names
    for make in files.values():
        facts = facts_of(make())
        assert facts["headscope"] == VERSION
        assert (facts["model"], facts["text"]) == ("bundled/minilm", TEXT)
        for name in {"layer", "head"} & set(link):
            assert facts[name] == link[name]
        assert not {"text", "model", "layer", "head"} & set(facts["options"])
        assert facts["options"] or page == "neuron_view"


def test_a_chart_s_camera_saves_an_svg_of_a_name() -> None:
    charts = open_app("anomalies", layer="4", head="2").get("plotly_chart")
    saved = [json.loads(chart.proto.config)["toImageButtonOptions"] for chart in charts]
    assert [each["filename"] for each in saved] == ["anomalies-map-minilm-all-heads"]
    assert {each["format"] for each in saved} == {"svg"}
