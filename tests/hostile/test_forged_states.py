"""What a browser says of a component or a chart is anybody's: it never ends that visitor's page.

On every page each state of each component is in turn every one of `FORGED`, alone and as each thing
that the states of our components hold. The callbacks get all of these; a few at once are sent as
messages, after which the page runs.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import streamlit as st

from tests.opening import open_app, prepared_site, visits
from tests.pages.conftest import _no_hub, _what_is_slow_is_made_once, few_effects  # noqa: F401
from tests.tools.visitor import trigger_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from streamlit.testing.v1 import AppTest

FORGED: tuple[Any, ...] = (
    *(None, True, -1, 0, 7, 10**400, 0.5, 1e308, float("nan"), float("inf"), "1", "x\0y", "", []),
    *({}, [[]], [None], ["a", 1], [float("nan")], [1, 10**30], [-7, 0.5], [True, 2], {"a": [{}]}),
)
# What the states of components hold, by name.
HELD = (
    *("cell", "layers", "heads", "layer", "head", "query", "pairKey", "byContribution"),
    *("pairs", "token", "points", "visit", "total", "column", "share", "row", "a", "b"),
    *("region", "serial", "from", "to", "patch", "direction"),
    *("arrows", "only_patches", "weigh", "hide", "held"),
)
MESSAGES = 2  # of forged states to each page
CHARTS = ("plotly_chart", "arrow_data_frame")
PLACES = [place for place in visits() if "source" not in place[1]]
_attacked: set[tuple[str, ...]] = set()  # a page, and the key and the states of a component of it


@pytest.fixture(scope="module", autouse=True)
def _a_large_atlas_is_offered() -> Iterator[None]:
    with prepared_site():
        yield


def reports(app: AppTest) -> Iterator[tuple[str, str, dict[str, Callable[[], None]]]]:
    """Each component and chart that calls back: its kind, its id, and its callbacks by state."""
    known = app.session_state._state._state._new_widget_state.widget_metadata
    for widget in known.values():
        if widget.value_type == "json_value":
            yield "component", widget.id, dict(widget.callbacks or {})
    for kind in CHARTS:
        for chart in app.get(kind):
            one = known.get(getattr(chart.proto, "id", ""))
            if one is not None and one.callback is not None:
                yield kind, one.id, {"selection": one.callback}


def forged(turn: int) -> Iterator[Any]:
    """One of `FORGED` by itself, as a selection of a chart, and as what states hold."""
    value = FORGED[turn % len(FORGED)]
    yield value
    yield {"points": value, "rows": value}
    yield {"points": [value], "rows": [value]}
    yield {"points": [{"customdata": value}]}
    yield {"points": [{"customdata": {"a": value, "b": value}}]}
    yield {name: FORGED[(turn + place) % len(FORGED)] for place, name in enumerate(HELD)}


@pytest.mark.slow
@pytest.mark.usefixtures("few_effects")
@pytest.mark.parametrize(("page", "state"), PLACES)
def test_a_forged_state_never_ends_a_page(
    monkeypatch: pytest.MonkeyPatch, page: str, state: dict[str, str]
) -> None:
    app = open_app(page, **state)
    found = {
        (page, name.rpartition("-")[2], *callbacks): callbacks
        for _, name, callbacks in reports(app)
    }
    assert found
    if found.keys() <= _attacked:
        return
    _attacked.update(found)
    session = dict(app.session_state._state.filtered_state)
    monkeypatch.setattr(st, "session_state", session)
    for (_, key, *_), callbacks in found.items():
        for each, callback in callbacks.items():
            for turn in range(len(FORGED)):
                for value in forged(turn):
                    session[key] = {each: value}
                    callback()
        session[key] = {}
        for callback in callbacks.values():
            callback()
    monkeypatch.undo()
    for turn in range(MESSAGES):
        app._run(_message(app, turn))
        assert not app.exception, (turn, app.exception)


def _message(app: AppTest, turn: int) -> Any:
    """The states of all widgets; those of components and charts are forged, each in another way."""
    states = app._tree.get_widget_states()
    for place, (kind, name, callbacks) in enumerate(reports(app)):
        values = {
            each: [*forged(5 * turn + 3 * place + number)][-1 if kind == "component" else 3]
            for number, each in enumerate(callbacks)
        }
        if kind == "component":
            states.widgets.add(id=name, json_value=json.dumps(values))
            events = json.dumps([{"event": each, "value": values[each]} for each in values])
            states.widgets.add(id=trigger_id(name), json_trigger_value=events)
        else:
            states.widgets.add(id=name, string_value=json.dumps(values))
    return states
