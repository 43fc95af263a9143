"""What holds for every page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from core.ui.navigation import PAGES
from tests.pages.conftest import alerts

if TYPE_CHECKING:
    from collections.abc import Callable

    from streamlit.testing.v1 import AppTest

NAMES = [page.name for page in PAGES]
OF_THE_TEXT = [name for name in NAMES if name != "atlas"]  # it is of a corpus
OpenApp = "Callable[..., AppTest]"


@pytest.mark.parametrize("name", NAMES)
def test_a_page_opens_with_its_title_and_question(
    open_app: Callable[..., AppTest], name: str
) -> None:
    app = open_app(name)
    page = next(page for page in PAGES if page.name == name)
    assert not app.exception
    assert [title.value for title in app.title] == [page.title]
    assert page.question in [text.value for text in app.markdown]
    assert alerts(app) == ""


@pytest.mark.parametrize("name", OF_THE_TEXT)
def test_empty_text_is_a_hint_and_not_an_error(open_app: Callable[..., AppTest], name: str) -> None:
    app = open_app(name)
    app.text_area(key="text").set_value("  \n ").run()
    assert not app.exception
    assert "Type a sentence" in alerts(app)


@pytest.mark.parametrize("name", OF_THE_TEXT)
def test_a_text_longer_than_the_model_is_cut_and_said(
    open_app: Callable[..., AppTest], name: str
) -> None:
    app = open_app(name, text="book " * 700)
    assert not app.exception
    assert "512 tokens are shown" in alerts(app)
    assert "190 tokens were cut" in alerts(app)


@pytest.mark.parametrize("name", OF_THE_TEXT)
def test_a_special_token_in_the_text_is_said_to_be_one(
    open_app: Callable[..., AppTest], name: str
) -> None:
    app = open_app(name, text="It rains. [SEP] It pours, they say. [SEP] It never rains.")
    assert not app.exception
    assert "`[SEP]` in your text is read as the model's own special token" in alerts(app)
    assert "special token" not in alerts(open_app(name, text="It rains [in here]. It pours."))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "text",
    [
        "😀",
        "مرحبا بالعالم",
        "it it it it",
        "<b>x</b> $x$ :red[x]",
        "x",
        "\u202eabc\u200b",
        "\ufeff\x00 a",
        "a" * 3000,
        "'''\"\"\"",
    ],
)
def test_odd_texts_do_no_harm(open_app: Callable[..., AppTest], name: str, text: str) -> None:
    app = open_app(name, text=text)
    assert not app.exception


@pytest.mark.parametrize("name", NAMES)
def test_a_huge_text_in_a_link_is_cut_and_said(open_app: Callable[..., AppTest], name: str) -> None:
    app = open_app(name, text="x" * 400_000)
    assert not app.exception
    assert "has 400,000 characters; the first 10,000 are used" in alerts(app)
    assert len(app.text_area(key="text").value or "") == 10_000


@pytest.mark.parametrize("name", NAMES)
def test_a_link_of_a_megabyte_leaves_a_working_page(
    open_app: Callable[..., AppTest], name: str
) -> None:
    """Streamlit drops an address of this length before the app can see it."""
    app = open_app(name, text="x" * 1_000_000)
    assert not app.exception
    assert app.text_area(key="text").value == "Oh, this book? I've enjoyed it."


@pytest.mark.parametrize("name", NAMES)
def test_a_model_folder_that_does_not_exist_leaves_a_working_page(
    open_app: Callable[..., AppTest], name: str
) -> None:
    app = open_app(name, model="/no/such/folder")
    assert not app.exception
    assert "There is no folder" in alerts(app)
    assert any("attention reproduced" in caption.value for caption in app.caption)


def test_an_address_states_the_texts_and_the_model(open_app: Callable[..., AppTest]) -> None:
    app = open_app("home", text="leaves fall", pair="in autumn")
    assert app.query_params == {
        "model": "bundled/minilm",
        "text": "leaves fall",
        "pair": "in autumn",
    }


def test_home_shows_how_the_model_is_built(open_app: Callable[..., AppTest]) -> None:
    app = open_app("home", model="bundled/gpt2-novels", text="he saw her")
    app.session_state["structure"] = True
    app.run()
    assert not app.exception
    (captions,) = [text.value for text in app.caption if "In layer 1:" in text.value]
    assert "W_Q is `h.0.attn.c_attn` (128 → 384)" in captions
    assert "W_O is `h.0.attn.c_proj` (128 → 128)" in captions
    assert any("(0-3): 4 x GPT2Block" in code.value for code in app.code)
