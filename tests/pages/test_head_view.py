"""The head view page in process: its link, what it sends, its sentence, its examples."""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, Any

import pytest

from core.screens.head_view import state as head_view_state
from tests.bench.texts import sentence_of
from tests.pages.conftest import alerts

if TYPE_CHECKING:
    from collections.abc import Callable

    from streamlit.testing.v1 import AppTest

BOOK = "Oh, this book? I've enjoyed it."
PAIR = {"text": "leaves fall in autumn", "pair": "autumn is marked by colorful foliage"}


def captions(app: AppTest) -> str:
    return "\n".join(caption.value for caption in app.main.caption)


def payload(app: AppTest) -> bytes:
    """What the component gets."""
    (component,) = (
        each.proto
        for each in app.get("bidi_component")
        if each.proto.component_name == "headscope_head_view"
    )
    data: bytes = component.bytes
    return data


def sent(app: AppTest) -> dict[str, Any]:
    """The settings in what the component gets."""
    data = payload(app)
    (length,) = struct.unpack_from("<I", data)
    settings: dict[str, Any] = json.loads(data[4 : 4 + length])
    return settings


def report(app: AppTest, **changes: object) -> AppTest:
    """What a click in the component does: its report reaches the session before the next run."""
    view = sent(app)["view"] | app.session_state["_head_view_sent"]["shown"] | changes
    app.session_state["_head_view_sent"] = {
        **app.session_state["_head_view_sent"],
        "shown": view,
    }
    for key, value in view.items():
        app.session_state[key] = value
    return app.run()


def test_the_last_layer_and_all_heads_come_first(open_app: Callable[..., AppTest]) -> None:
    app = open_app("head_view")
    assert not app.exception
    view = sent(app)["view"]
    assert (view["layer"], view["heads"], view["weigh"]) == ("6", [], "attention")
    assert "The lines of one token and one head add up to 1." in captions(app)


def test_a_short_text_sends_all_layers_and_a_long_one_its_own(
    open_app: Callable[..., AppTest],
) -> None:
    assert list(sent(open_app("head_view"))["sent"]) == ["0", "1", "2", "3", "4", "5"]
    app = open_app("head_view", text=sentence_of(80), layer="3")
    assert list(sent(app)["sent"]) == ["2"]


def test_layers_beside_the_one_on_screen_follow_when_they_are_asked_for(
    open_app: Callable[..., AppTest],
) -> None:
    app = open_app("head_view", text="the cat " * 60, layer="4")
    assert set(sent(app)["sent"]) == {"3"}
    assert sent(app)["near"]
    app.session_state["_head_view_near"] = ("4", ("3", "5", "1"))
    assert set(sent(app.run())["sent"]) == {"2", "3", "4"}
    assert set(sent(report(app, layer="6"))["sent"]) == {"5"}
    app.session_state["_head_view_near"] = ("6", ("5", "7"))
    assert set(sent(app.run())["sent"]) == {"4", "5"}


def test_128_tokens_of_12_heads_take_less_than_a_megabyte(open_app: Callable[..., AppTest]) -> None:
    app = open_app("head_view", text=sentence_of(128))
    assert len(payload(app)) < 1_000_000


def test_a_link_restores_the_whole_state(open_app: Callable[..., AppTest]) -> None:
    state = {
        "layer": "4",
        "pairs": "ab",
        "least": "0.1",
        "weigh": "value",
        "hide": "1",
        "renorm": "1",
        "what": "1",
        "heads": "2,5",
        "without": "3",
        "to": "8",
    }
    app = open_app("head_view", **PAIR, **state)
    assert alerts(app) == ""
    assert sent(app)["view"] == {
        "layer": "4",
        "pairs": "ab",
        "least": "0.1",
        "weigh": "value",
        "hide": True,
        "renorm": True,
        "what": True,
        "heads": [2, 5],
        "without": [3],
        "from": [],
        "to": [8],
    }
    assert {key: app.query_params[key] for key in state} == state


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("layer", "7", "bundled/minilm has 6 layers"),
        ("heads", "2,99", "some of it is not in this text"),
        ("pairs", "ab", "With one sentence the filter is: `all`"),
        ("least", "-1", "The thresholds are"),
        ("weigh", "<script>", "The weights are: `attention`, `value`, `transformed`"),
        ("hide", "yes", "a switch is 0 or 1"),
        ("from", "99", "some of it is not in this text"),
    ],
)
def test_an_impossible_value_is_told_and_replaced(
    open_app: Callable[..., AppTest], key: str, value: str, said: str
) -> None:
    app = open_app("head_view", **{key: value})
    assert not app.exception
    assert said in alerts(app)
    assert app.query_params.get(key) != value


@pytest.mark.parametrize(
    ("written", "kept"),
    [("0", [0]), ("0,3", [3]), ("1,2,3,4,5,6,7,8,9,10,11,12", []), ("5,5,2", [2, 5])],
)
def test_a_choice_of_heads_is_written_in_one_way(
    open_app: Callable[..., AppTest], written: str, kept: list[int]
) -> None:
    assert sent(open_app("head_view", heads=written))["view"]["heads"] == kept


def test_a_link_that_names_one_head_shows_it_alone(open_app: Callable[..., AppTest]) -> None:
    app = open_app("head_view", layer="4", head="2")
    assert sent(app)["view"]["heads"] == [2]
    assert app.query_params["heads"] == "2"


def test_one_token_is_pinned_at_most(open_app: Callable[..., AppTest]) -> None:
    view = sent(open_app("head_view", **{"from": "3,4", "to": "5"}))["view"]
    assert (view["from"], view["to"]) == ([3], [])


def test_a_report_reaches_the_link(open_app: Callable[..., AppTest]) -> None:
    app = open_app("head_view", layer="4")
    report(app, heads=[2], **{"from": [11]})
    assert app.query_params["heads"] == "2"
    assert app.query_params["from"] == "11"


def test_what_the_component_shows_already_is_not_sent_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    state: dict[str, Any] = {}
    monkeypatch.setattr("streamlit.session_state", state)
    first = head_view_state.view_to_send({"layer": "4", "heads": []})
    clicked = {"layer": "4", "heads": [2]}
    state["head_view"] = {"view": clicked}
    head_view_state.take_report(clicked)
    assert head_view_state.view_to_send(clicked) == first
    # An example wants what was sent first, but the component has moved on since.
    again = head_view_state.view_to_send({"layer": "4", "heads": []})
    assert again == (first[0], first[1] + 1)
    state["head_view"] = {}  # drawn anew
    assert head_view_state.view_to_send(clicked) == (clicked, first[1] + 2)


def test_a_state_from_elsewhere_is_sent_under_a_new_number(
    open_app: Callable[..., AppTest],
) -> None:
    app = open_app("head_view", layer="4")
    report(app, heads=[2])
    first = sent(app)
    app.session_state["heads"] = [7]
    app.run()
    assert sent(app)["serial"] == first["serial"] + 1
    assert sent(app)["view"]["heads"] == [7]
    app.run()
    assert sent(app)["serial"] == first["serial"] + 1


def test_coming_back_to_the_page_finds_it_as_it_was_left(open_app: Callable[..., AppTest]) -> None:
    app = open_app("head_view", layer="4")
    report(app, heads=[2], hide=True)
    app.switch_page("pages/home.py").run()
    app.switch_page("pages/head_view.py").run()
    view = sent(app)["view"]
    assert (view["layer"], view["heads"], view["hide"]) == ("4", [2], True)


def test_a_shorter_text_drops_what_it_has_not(open_app: Callable[..., AppTest]) -> None:
    app = open_app("head_view", **{"from": "11", "without": "2,12"})
    app.text_area(key="text").set_value("two words").run()
    view = sent(app)["view"]
    assert not app.exception
    assert (view["from"], view["without"]) == ([], [2])


@pytest.mark.parametrize("view", [None, 3, [], {"layer": 4, "heads": "x", "hide": "1"}, {}])
def test_a_report_that_is_no_state_is_ignored(
    view: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    state: dict[str, object] = {"layer": "2", "heads": [1], "hide": False}
    monkeypatch.setattr("streamlit.session_state", state)
    head_view_state.take_report(view)
    assert state == {"layer": "2", "heads": [1], "hide": False}


@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        ({"hide": "1"}, "of which some goes to tokens not shown"),
        ({"hide": "1", "renorm": "1"}, "divided by their sum over the tokens shown"),
        ({"weigh": "value"}, "attention times the length of the value vector it brings"),
        ({"weigh": "transformed"}, "the value after the head's output projection"),
        ({"text": sentence_of(80)}, "Lines with an end out of view are fainter"),
    ],
)
def test_the_sentence_under_the_picture_is_true_for_what_is_shown(
    open_app: Callable[..., AppTest], state: dict[str, str], sentence: str
) -> None:
    app = open_app("head_view", **state)
    assert not app.exception
    assert sentence in captions(app)


def test_the_numbers_of_the_heads_wait_until_they_are_asked_for(
    open_app: Callable[..., AppTest],
) -> None:
    long = sentence_of(80)
    assert sent(open_app("head_view", text=long))["scoreNames"] == []
    names = sent(open_app("head_view", text=long, what="1"))["scoreNames"]
    assert names == ["previous", "next", "self", "first", "delimiter", "entropy"]


def test_examples_set_the_controls(open_app: Callable[..., AppTest]) -> None:
    app = open_app("head_view", text=BOOK)
    app.session_state["head_view_presets"] = True
    app.run()
    buttons = {button.label: button for button in app.button}
    buttons["One head, one word"].click().run()
    view = sent(app)["view"]
    assert not app.exception
    assert (view["layer"], view["heads"], view["from"]) == ("4", [2], [11])
    buttons = {button.label: button for button in app.button}
    buttons["The token before"].click().run()
    view = sent(app)["view"]
    assert (view["layer"], view["heads"], view["from"]) == ("1", [3], [])
    buttons = {button.label: button for button in app.button}
    buttons["What attention brings"].click().run()
    assert sent(app)["weigh"] == "value"


def test_examples_know_a_second_sentence(open_app: Callable[..., AppTest]) -> None:
    app = open_app("head_view", **PAIR)
    app.session_state["head_view_presets"] = True
    app.run()
    buttons = {button.label: button for button in app.button}
    buttons["From one sentence to the other"].click().run()
    assert sent(app)["view"]["pairs"] == "ab"
