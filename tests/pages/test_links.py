"""Addresses: how long they get, what travels in them, and a site that wants none."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest

from core.ui.address import MAX_ADDRESS
from core.ui.link_text import pack
from core.ui.navigation import PAGES
from tests.pages.conftest import alerts

if TYPE_CHECKING:
    from collections.abc import Callable

    from streamlit.testing.v1 import AppTest

PROXY_LINE = 8_192  # bytes of "GET <address> HTTP/1.1" that nginx takes where nothing is set
# English text as it is: 9,986 characters without a repetition that deflate could live on.
ENGLISH = " ".join(f"{word}{number}" for number in range(900) for word in ("leaf", "fall"))[:9_986]
CHINESE = "我喜欢这本书因为它讲述了一个关于友谊和勇气的故事" * 60


def sent(app: AppTest) -> dict[str, str]:
    """The parameters in the address bar."""
    return {key: str(app.query_params[key]) for key in app.query_params}


@pytest.mark.parametrize("text", [ENGLISH, CHINESE, "😀" * 2_000], ids=["en", "zh", "emoji"])
def test_a_long_text_travels_packed_and_opens_the_same(
    open_app: Callable[..., AppTest], text: str
) -> None:
    app = open_app("home", text=text)
    parameters = sent(app)
    assert "text" not in parameters
    assert len(f"GET /home?{urlencode(parameters)} HTTP/1.1") < PROXY_LINE
    again = open_app("home", **parameters)
    assert again.text_area(key="text").value == text
    assert sent(again) == parameters


def test_a_packed_pair_opens_with_both_texts(open_app: Callable[..., AppTest]) -> None:
    app = open_app("home", packed=pack({"text": "leaves fall", "pair": "in autumn"}))
    assert app.text_area(key="text").value == "leaves fall"
    assert app.text_area(key="pair").value == "in autumn"
    assert sent(app) == {"model": "bundled/minilm", "text": "leaves fall", "pair": "in autumn"}


def test_a_damaged_packed_text_is_told_and_the_page_works(
    open_app: Callable[..., AppTest],
) -> None:
    app = open_app("heatmap", packed="AAAA", layer="4")
    assert "The text of this link cannot be read" in alerts(app)
    assert app.selectbox(key="layer").value == "4"
    assert app.text_area(key="text").value == "Oh, this book? I've enjoyed it."


def test_a_text_that_does_not_fit_even_packed_is_left_out_and_that_is_said(
    open_app: Callable[..., AppTest],
) -> None:
    noise = "".join(chr(0x4E00 + number * 7919 % 20_000) for number in range(9_000))
    app = open_app("home", text=noise)
    assert sent(app) == {"model": "bundled/minilm"}
    assert any("too long for a link" in caption.value for caption in app.sidebar.caption)


def test_no_address_is_longer_than_proxies_take(open_app: Callable[..., AppTest]) -> None:
    for text in ("word " * 1_300, "w%20" * 2_000, "本" * 790, "本" * 840):
        app = open_app("heatmap", text=text)
        assert len(urlencode(sent(app))) <= MAX_ADDRESS < PROXY_LINE - len("GET  HTTP/1.1")


@pytest.mark.parametrize("name", [page.name for page in PAGES])
def test_a_site_without_links_writes_nothing_into_the_address(
    open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("HEADSCOPE_LINKS", "0")
    app = open_app(name, text="leaves fall")  # a link from elsewhere still opens
    assert app.text_area(key="text").value == "leaves fall"
    assert sent(app) == {}
