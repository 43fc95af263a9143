"""Addresses: how long they get, what they carry and opened once; what stands under Share."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from core.model import effects
from core.model.bundled.first import PICTURE
from core.screens.atlas.corpus import building
from core.ui.address import MAX_ADDRESS, pack_texts, share
from core.ui.words.pages import PAGES
from tests.opening import open_app
from tests.pages.conftest import alerts, sent

PROXY_LINE = 8_192  # bytes of "GET <address> HTTP/1.1" that nginx takes by default
# English text without a repetition that deflate could live on.
ENGLISH = " ".join(f"{word}{number}" for number in range(900) for word in ("leaf", "fall"))[:9_986]
SMALL = {"model": "bundled/gpt2-novels", "budget": "1000"}
CHINESE = "我喜欢这本书因为它讲述了一个关于友谊和勇气的故事" * 60


def address(app: AppTest) -> dict[str, str]:
    """The parameters in the address bar."""
    return {key: str(app.query_params[key]) for key in app.query_params}


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [ENGLISH, CHINESE, "😀" * 2_000, "word" * 1_600, "w%20" * 2_000, "本" * 790, "本" * 840],
    ids=lambda text: text[:9],
)
def test_a_long_text_travels_packed_within_what_proxies_take_and_opens_the_same(text: str) -> None:
    link = address(open_app("home", text=text, model=SMALL["model"]))
    assert len(urlencode(link)) <= MAX_ADDRESS < PROXY_LINE - len("GET /neuron_view? HTTP/1.1")
    assert ("text" in link) == (text in ("word" * 1_600, "本" * 790))
    again = open_app("home", **link)
    assert again.text_area(key="text").value == text
    assert address(again) == link


@pytest.mark.parametrize(
    ("model", "ends"), [("bundled/minilm", []), ("bundled/gpt2-novels", ["↵", "↵₂", "↵₃"])]
)
def test_a_text_keeps_its_lines_and_its_link_carries_them(model: str, ends: list[str]) -> None:
    lines = "leaves fall\nin autumn\n\nand winter"
    app = open_app("heatmap", model=model, text=lines.replace("\n", "\r\n"), two="1", pair="a\rb")
    assert alerts(app) == ""
    assert app.text_area(key="text").value == address(app)["text"] == lines
    assert app.text_area(key="pair").value == address(app)["pair"] == "a\nb"
    assert "%0Ain+autumn%0A%0Aand" in urlencode(address(app))
    app.toggle(key="two").set_value(False).run()
    labels = sent(app, "table")["columns"]["labels"]
    assert [label for label in labels if "↵" in label] == ends
    again = open_app("heatmap", packed=pack_texts({"text": lines}))
    assert again.text_area(key="text").value == address(again)["text"] == lines


def test_a_damaged_packed_text_is_reported_and_the_page_works() -> None:
    app = open_app("heatmap", packed="AAAA", layer="4")
    assert "cannot be read: the link is damaged" in alerts(app)
    assert app.session_state["layer"] == "4"
    assert app.text_area(key="text").value == "Oh, this book? I've enjoyed it."


@pytest.mark.slow
def test_a_text_that_does_not_fit_even_packed_is_left_out_and_that_is_said() -> None:
    noise = "".join(chr(0x4E00 + number * 7919 % 20_000) for number in range(9_000))
    app = open_app("home", text=noise, model=SMALL["model"])
    assert address(app) == {"model": SMALL["model"]}
    assert any("too long for a link" in caption.value for caption in app.sidebar.caption)


@pytest.mark.parametrize("page", ["home", "head_view", "atlas"])
def test_a_site_without_links_has_empty_addresses(
    monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    monkeypatch.setenv("HEADSCOPE_LINKS", "0")
    app = open_app(page, text="leaves fall", **SMALL)  # a link from elsewhere still opens
    assert app.session_state["text"] == "leaves fall"
    assert address(app) == {}


ODD = "<b>99"


@pytest.mark.parametrize(
    ("page", "state", "link"),
    [
        ("projection", {}, {"a": ODD}),
        ("head_view", {}, {"weigh": "<script>", "from": "99"}),
        ("query_key", {}, {"point": "q99", "c_range": "x"}),
        ("patterns", {"part": "one"}, {"whole": "all", "head": "99"}),
        ("images", {}, {"patch": "r99c1", "direction": "up", "head": "99"}),
        ("anomalies", {}, {"anomaly": "odd"}),  # of images alone
        ("anomalies", {"anomaly": "moved"}, {"latent": ODD, "layer": ODD}),
        ("atlas", {}, {"corpus": ODD, "part": ODD}),
        ("atlas", {"part": "one"}, {"token": "<img src=x>", "dossier": "2"}),
    ],
)
def test_an_odd_link_is_answered(page: str, state: dict[str, str], link: dict[str, str]) -> None:
    """What ``recorded_links.json`` does not ask for in vain."""
    app = open_app(page, **(SMALL if page == "atlas" else {}), **state, **link)
    for key, value in link.items():
        assert f"This link asks for {key} `{value}`" in alerts(app)
        assert app.query_params.get(key) != value
    assert "This link asks for" not in alerts(app.run())


# 24 links of every page and part, and 10 that ask for what is not possible, with the state and the
# messages that they opened once. Only what stands in for an impossible layer or head is of today.
LINKS = json.loads(Path(__file__).with_name("recorded_links.json").read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.usefixtures("few_effects")
@pytest.mark.parametrize("recorded", LINKS, ids=lambda link: f"{link['page']}: {link['link'][:50]}")
def test_a_recorded_link_still_opens(
    recorded: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = building._make, building._request  # of 1,000 tokens instead of 5,000, the default
    make = lambda model, corpus, *_: made[0](model, corpus, 1000, made[1](model.name, corpus, 1000))
    monkeypatch.setattr(building, "_make", make)
    app = open_app(recorded["page"], **dict(parse_qsl(recorded["link"])))
    assert {key: app.session_state[key] for key in recorded["state"]} == recorded["state"]
    messages = [line for line in alerts(app).split("\n") if line]
    assert len(messages) == len(recorded["messages"])
    for rejected in recorded["messages"]:  # a parameter and its value
        assert any(rejected in message for message in messages), rejected


HOSTILE = '\'); raise SystemExit #\n"""{layer}'
MODELS = {"text": "bundled/gpt2-novels", "image": "bundled/vit-scenes"}


@pytest.mark.parametrize(
    ("page", "shown"), [(page.name, shown) for page in PAGES for shown in page.modalities]
)
def test_the_lines_of_all_pages_run(page: str, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
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
