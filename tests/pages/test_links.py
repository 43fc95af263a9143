"""Addresses: how long they get, what they carry, and a site that wants none."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest

from core.ui.address import MAX_ADDRESS
from core.ui.link_text import pack
from tests.pages.conftest import alerts

if TYPE_CHECKING:
    from collections.abc import Callable

    from streamlit.testing.v1 import AppTest

PROXY_LINE = 8_192  # bytes of "GET <address> HTTP/1.1" that nginx takes by default
# English text without a repetition that deflate could live on.
ENGLISH = " ".join(f"{word}{number}" for number in range(900) for word in ("leaf", "fall"))[:9_986]
CHINESE = "我喜欢这本书因为它讲述了一个关于友谊和勇气的故事" * 60


def address(app: AppTest) -> dict[str, str]:
    """The parameters in the address bar."""
    return {key: str(app.query_params[key]) for key in app.query_params}


@pytest.mark.parametrize("text", [ENGLISH, CHINESE, "😀" * 2_000], ids=["en", "zh", "emoji"])
def test_a_long_text_travels_packed_and_opens_the_same(
    open_app: Callable[..., AppTest], text: str
) -> None:
    link = address(open_app("home", text=text))
    assert "text" not in link
    assert len(f"GET /home?{urlencode(link)} HTTP/1.1") < PROXY_LINE
    again = open_app("home", **link)
    assert again.text_area(key="text").value == text
    assert address(again) == link


def test_a_packed_pair_opens_with_both_texts(open_app: Callable[..., AppTest]) -> None:
    app = open_app("home", packed=pack({"text": "leaves fall", "pair": "in autumn"}))
    assert app.text_area(key="text").value == "leaves fall"
    assert app.text_area(key="pair").value == "in autumn"
    assert address(app) == {"model": "bundled/minilm", "text": "leaves fall", "pair": "in autumn"}


def test_a_damaged_packed_text_is_reported_and_the_page_works(
    open_app: Callable[..., AppTest],
) -> None:
    app = open_app("heatmap", packed="AAAA", layer="4")
    assert "cannot be read: the link is damaged" in alerts(app)
    assert app.selectbox(key="layer").value == "4"
    assert app.text_area(key="text").value == "Oh, this book? I've enjoyed it."


def test_a_text_that_does_not_fit_even_packed_is_left_out_and_that_is_said(
    open_app: Callable[..., AppTest],
) -> None:
    noise = "".join(chr(0x4E00 + number * 7919 % 20_000) for number in range(9_000))
    app = open_app("home", text=noise)
    assert address(app) == {"model": "bundled/minilm"}
    assert any("too long for a link" in caption.value for caption in app.sidebar.caption)


def test_no_address_is_longer_than_proxies_take(open_app: Callable[..., AppTest]) -> None:
    app = open_app("home")
    for text in ("word " * 1_300, "w%20" * 2_000, "本" * 790, "本" * 840):
        app.text_area(key="text").set_value(text).run()
        assert 0 < len(urlencode(address(app))) <= MAX_ADDRESS < PROXY_LINE - len("GET  HTTP/1.1")


@pytest.mark.parametrize("page", ["home", "head_view", "atlas"])
def test_a_site_without_links_writes_nothing_into_the_address(
    open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    monkeypatch.setenv("HEADSCOPE_LINKS", "0")
    app = open_app(page, text="leaves fall", budget="1000")  # a link from elsewhere still opens
    assert app.text_area(key="text").value == "leaves fall"
    assert address(app) == {}
