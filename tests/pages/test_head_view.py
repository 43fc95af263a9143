"""The head view page in process: its link, what it sends, its sentence, its examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from core.screens.head_view import state as head_view_state
from tests.opening import open_app
from tests.pages import conftest
from tests.pages.conftest import said
from tests.tools.bench.models import sentence_of

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

LONG = sentence_of(80)


def sent(app: AppTest) -> dict[str, Any]:
    """What the component gets."""
    return conftest.sent(app, "head_view")


def report(app: AppTest, **changes: object) -> AppTest:
    """What a click in the component does: its report reaches the session before the next run."""
    state, serial = app.session_state, sent(app)["serial"]
    state["_head_view_sent"]["shown"][serial].update(changes)
    for key, value in changes.items():
        state[key] = value
    return app.run()


def test_the_head_that_home_names_comes_first_and_a_link_without_heads_means_all() -> None:
    app = open_app("head_view")
    view, found = sent(app)["view"], sent(app)["found"]
    assert (view["layer"], view["heads"], view["weigh"]) == ("4", [2], "attention")
    assert found == {"layer": 4, "head": 1, "query": 10, "key": 4}  # it -> book
    assert sent(open_app("head_view", layer="4"))["view"]["heads"] == []
    assert sent(open_app("head_view", layer="2", head="7"))["view"]["heads"] == [7]
    assert list(sent(app)["layers"]) == ["0", "1", "2", "3", "4", "5"]


def test_of_a_long_text_one_layer_is_sent() -> None:
    app = open_app("head_view", text="the cat " * 60, layer="4")
    assert set(sent(app)["layers"]) == {"3"}
    assert set(sent(report(app, layer="6"))["layers"]) == {"5"}
    assert (
        len(conftest.payload(open_app("head_view", text=sentence_of(128)), "head_view")) < 1_000_000
    )


@pytest.mark.parametrize(
    ("link", "heads"),
    [
        ({"heads": "0"}, [0]),
        ({"heads": "0,3"}, [3]),
        ({"heads": "1,2,3,4,5,6,7,8,9,10,11,12"}, []),
        ({"heads": "5,5,2"}, [2, 5]),
        ({"head": "2"}, [2]),  # as in links to the table: shown alone
    ],
)
def test_a_choice_of_heads_is_written_in_one_way(link: dict[str, str], heads: list[int]) -> None:
    app = open_app("head_view", **link)
    assert sent(app)["view"]["heads"] == heads
    assert app.query_params.get("heads", "") == ",".join(map(str, heads))


def test_at_most_one_token_is_pinned() -> None:
    view = sent(open_app("head_view", **{"from": "3,4", "to": "5"}))["view"]
    assert (view["from"], view["to"]) == ([3], [])


def test_a_shorter_text_drops_the_positions_it_lacks() -> None:
    app = open_app("head_view", **{"from": "11"})
    app.text_area(key="text").set_value("two words").run()
    view = sent(app)["view"]
    assert not app.exception
    assert view["from"] == []


@pytest.mark.parametrize("view", [{"layer": 4, "heads": "x", "hide": "1"}, {}])
def test_a_report_that_is_not_a_state_is_ignored(
    view: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    state: dict[str, object] = {"layer": "2", "heads": [1], "hide": False}
    monkeypatch.setattr("streamlit.session_state", state)
    head_view_state.take_report(view)
    assert state == {"layer": "2", "heads": [1], "hide": False}


@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        ({"weigh": "value"}, "attention times the length of the value; the widest"),
        ({"weigh": "transformed"}, "the value after the output projection"),
        ({"text": LONG}, "Lines with an end out of view are fainter"),
    ],
)
def test_the_sentence_under_the_picture_is_true_for_what_is_shown(
    state: dict[str, str], sentence: str
) -> None:
    app = open_app("head_view", **state)
    assert sentence in said(app)
