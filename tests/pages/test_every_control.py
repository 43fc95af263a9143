"""No control is forgotten: whatever is set on a page, its link opens in a fresh session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.pages.conftest import alerts

if TYPE_CHECKING:
    from collections.abc import Callable

    from streamlit.testing.v1 import AppTest

    from core.ui.controls import Control

PAIR = {"text": "leaves fall in autumn", "pair": "autumn is marked by colorful foliage"}
# Every page and part, with what makes more of its controls appear.
SCREENS: list[tuple[str, dict[str, str]]] = [
    ("home", PAIR),
    ("heatmap", {"hide": "1"}),
    ("vectors", {"show": "all layers"}),
    ("vectors", {"show": "one layer"}),
    ("projection", {}),
    ("head_view", PAIR),
    ("model_view", {**PAIR, "hide": "1"}),
    ("neuron_view", PAIR),
]
# Widgets that no link carries: the switch of the second sentence is its text, what a visitor
# pastes or uploads is the visitor's own.
IN_NO_LINK = {"two", "atlas_lines", "atlas_text_column", "atlas_label_column"}
SLOW = {"UMAP", "t-SNE"}  # ten seconds to begin
WIDGETS = (
    "selectbox",
    "multiselect",
    "toggle",
    "slider",
    "number_input",
    "text_input",
    "text_area",
)


def controls_of(app: AppTest) -> dict[str, Control]:
    return dict(app.session_state["_controls"])


def state_of(app: AppTest) -> dict[str, Any]:
    return {key: app.session_state[key] for key in controls_of(app)}


def another(control: Control, now: object) -> object:
    """An allowed value that is not the present one."""
    if control.kind == "flag":
        return not now
    if control.kind == "number":
        low, high = control.allowed
        return low if now != low else high
    if control.kind == "tokens":
        return [next(number for number in control.allowed if [number] != now)]
    if control.kind == "text":
        return "bundled/gpt2-novels" if control.key == "model" else "The [rain] is for [us]."
    return next(option for option in control.allowed if option != now and option not in SLOW)


def is_settled(control: Control) -> bool:
    """Whether there is nothing else to set, as one sentence has one choice of pairs."""
    return control.kind in {"choice", "tokens"} and len(control.allowed) < 2


@pytest.mark.parametrize(("page", "start"), SCREENS, ids=lambda each: str(each)[:40])
def test_the_link_of_every_control_opens_the_same_state(
    open_app: Callable[..., AppTest], page: str, start: dict[str, str]
) -> None:
    first = open_app(page, **start)
    assert not first.exception
    for key, control in controls_of(first).items():
        if is_settled(control):
            continue
        app = open_app(page, **start)
        app.session_state[key] = wanted = another(control, app.session_state[key])
        app.run()
        assert not app.exception, key
        assert app.session_state[key] == wanted
        link = {name: str(app.query_params[name]) for name in app.query_params}
        again = open_app(page, **link)
        assert not again.exception, key
        assert state_of(again) == state_of(app), key
        assert "This link asks for" not in alerts(again), key


@pytest.mark.parametrize(("page", "start"), SCREENS, ids=lambda each: str(each)[:40])
def test_every_widget_of_a_page_is_a_declared_control(
    open_app: Callable[..., AppTest], page: str, start: dict[str, str]
) -> None:
    app = open_app(page, **start)
    drawn = {widget.key for kind in WIDGETS for widget in app.get(kind) if widget.key}
    drawn |= {group.key for group in app.get("button_group")}
    assert drawn - IN_NO_LINK <= set(controls_of(app))
