"""No control is forgotten: whatever is set on a page, its link opens in a fresh session.

And what a browser says of a component or a chart is anybody's: it never ends that visitor's page.
"""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Any

import pytest
import streamlit as st

from core.analysis.projections import joint_embedding
from core.analysis.projections.umap_process import ProjectionError
from core.corpus.sample import sample_sentences
from core.model.sample_images import SAMPLE_IMAGES
from core.screens.atlas.corpus import images
from core.screens.heads import measured
from tests.opening import ROOT, open_app, prepared_site, visits
from tests.page_tables import LINKS, README, rows_of, to_markdown, with_pages
from tests.pages.conftest import alerts
from tests.tools.visitor import trigger_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from streamlit.testing.v1 import AppTest

    from core.ui.controls import Control

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_effects")]

VISITS = visits()
# Widgets that no link carries: the switch of the second sentence is its text, what a visitor
# pastes or uploads is the visitor's own.
IN_NO_LINK = {"two", "pasted_lines", "atlas_text_column", "atlas_label_column"}
IN_SIDEBAR = {"model", "text", "pair", "lesson"}  # the same on every page: changed on one
SLOW = {"UMAP", "t-SNE"}  # ten seconds to begin
# The smallest atlas that is another one; a query and a key; a word of each side.
SET = {"budget": 2000, "cell": [2, 1], "match": "2-1"}
WIDGETS = (
    "selectbox",
    "multiselect",
    "toggle",
    "slider",
    "number_input",
    "text_input",
    "text_area",
    "button_group",
)


@pytest.fixture(autouse=True, scope="module")
def _site() -> Iterator[None]:
    with prepared_site():
        yield


@pytest.fixture(autouse=True)
def _nothing_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """UMAP and t-SNE fail at once, which the page reports; the rest is done on little."""
    monkeypatch.setattr(images, "SAMPLE_IMAGES", dict([*SAMPLE_IMAGES.items()][:2]))
    monkeypatch.setattr(images, "_box", images._box.__wrapped__)
    short_corpus = sample_sentences()[:9]
    monkeypatch.setattr(measured, "sample_sentences", lambda: short_corpus)

    def fail(*_: Any) -> Any:
        raise ProjectionError("not in this test")

    monkeypatch.setattr(joint_embedding, "fit_umap", fail)
    monkeypatch.setattr(joint_embedding, "_tsne", fail)


def controls_of(app: AppTest) -> dict[str, Control]:
    return dict(app.session_state["_controls"])


def state_of(app: AppTest) -> dict[str, Any]:
    return {key: app.session_state[key] for key in controls_of(app)}


@functools.cache
def screen_of(number: int) -> tuple[dict[str, Control], dict[str, Any], list[AppTest]]:
    """The controls of a screen, their values, and the page, once all widgets are known to have one.

    Who changes the page takes it from the list.
    """
    page, start = VISITS[number]
    app = open_app(page, **start)
    drawn = {str(widget.key) for kind in WIDGETS for widget in app.get(kind) if widget.key}
    assert drawn - IN_NO_LINK <= set(controls_of(app))
    return controls_of(app), state_of(app), [app]


def another(control: Control, now: Any) -> Any:
    """An allowed value that is not the present one; the same where there is no other."""
    if control.kind == "flag":
        return not now
    if control.key in SET:
        return SET[control.key]
    if control.kind == "text":
        return "bundled/gpt2-novels" if "model" in control.key else "The [rain] is for [us]."
    if control.kind == "tokens":
        count = max(1, len(now))
        lists = [list(control.allowed[:count]), list(control.allowed[1 : count + 1])]
        return next((each for each in lists if each != now), now)
    others = [option for option in control.allowed if option != now]
    return next((option for option in others if option not in SLOW), (*others, now)[0])


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
_attacked: set[tuple[str, ...]] = set()  # a page, and the key and the states of a component of it


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


def name_of(number: int) -> str:
    return f"{VISITS[number][0]} {VISITS[number][1]}"[:90]


every_visit = pytest.mark.parametrize("number", range(len(VISITS)), ids=name_of)


@every_visit
def test_a_forged_state_never_ends_a_page(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Each state of each component is in turn every one of `FORGED`, alone and as what states hold.

    The callbacks get all of these; a few at once are sent as messages, after which the page runs.
    """
    page, unchanged = VISITS[number][0], screen_of(number)[2]
    app = unchanged[0] if unchanged else open_app(page, **VISITS[number][1])
    found = {
        (page, name.rpartition("-")[2], *callbacks): callbacks
        for _, name, callbacks in reports(app)
    }
    assert found
    if found.keys() <= _attacked:
        return
    unchanged.clear()
    _attacked.update(found)
    session = dict(app.session_state._state.filtered_state)
    with monkeypatch.context() as patch:
        patch.setattr(st, "session_state", session)
        for (_, key, *_), callbacks in found.items():
            for each, callback in callbacks.items():
                for value in (value for turn in range(len(FORGED)) for value in forged(turn)):
                    session[key] = {each: value}
                    callback()
            session[key] = {}
            for callback in callbacks.values():
                callback()
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


@every_visit
def test_the_link_of_every_control_opens_the_same_state(number: int) -> None:
    """All are set at once; those that another one removes or resets take the next turn."""
    page, start = VISITS[number]
    controls, state, unchanged = screen_of(number)
    wanted = {
        key: another(control, state[key])
        for key, control in controls.items()
        if page == "home" or key not in IN_SIDEBAR
    }
    batch = waiting = {key: value for key, value in wanted.items() if value != state[key]}
    while waiting:
        assert batch, f"none of {list(waiting)} can be set"
        app = unchanged.pop() if unchanged else open_app(page, **start)
        for key, value in batch.items():
            app.session_state[key] = value
        app.run()
        assert not app.exception, batch
        again = open_app(page, **{key: str(app.query_params[key]) for key in app.query_params})
        assert not again.exception, batch
        assert state_of(again) == state_of(app)
        assert "This link asks for" not in alerts(again)
        reached = {key for key, value in batch.items() if state_of(app).get(key) == value}
        waiting = {key: value for key, value in waiting.items() if key not in reached}
        batch = waiting if reached else dict([*batch.items()][: len(batch) // 2])


def test_the_table_of_pages_is_what_their_records_say() -> None:
    readme = README.read_text("utf-8")
    assert readme == with_pages(readme), "run python -m tests.page_tables"


def test_the_list_of_link_parameters_is_what_pages_declare() -> None:
    declared = [(page, screen_of(number)[0]) for number, (page, _) in enumerate(VISITS)]
    assert LINKS.read_text("utf-8") == to_markdown(rows_of(declared)), (
        "run python -m tests.page_tables"
    )


def test_a_page_that_ends_early_has_its_controls_in_the_address() -> None:
    """After ``st.stop`` Streamlit writes nothing to the address any more."""
    files = [file for folder in ("core", "pages") for file in (ROOT / folder).rglob("*.py")]
    stopping = [file for file in files if "st.stop()" in file.read_text("utf-8")]
    assert stopping == []
    app = open_app("atlas", budget="1000", model="bundled/gpt2-novels")
    app.session_state["corpus"] = "lines"
    app.run()
    assert app.query_params["corpus"] == "lines"
    assert "stage" not in app.query_params  # it was not drawn
