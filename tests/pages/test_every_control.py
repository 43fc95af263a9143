"""No control is forgotten: whatever is set on a page, its link opens in a fresh session."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from core.analysis.projections.error import ProjectionError
from core.screens.atlas import layouts
from core.screens.query_key import faithfulness
from core.screens.query_key.controls import Choice
from core.screens.query_key.controls import clouds_of as clouds_as_they_are
from tests.pages.conftest import alerts

if TYPE_CHECKING:
    from collections.abc import Callable

    from streamlit.testing.v1 import AppTest

    from core.ui.controls import Control

ROOT = Path(__file__).parents[2]
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
    ("query_key", {"part": "picture", "span": "one head", "join": "all above"}),
    ("query_key", {"part": "picture", "span": "all heads", "sizes": "1", "labels": "0"}),
    ("query_key", {"part": "trust"}),
    ("query_key", {"part": "search"}),
    ("query_key", {"part": "heads", "dot": "3,5"}),
    *(("patterns", {"part": part}) for part in ("heads", "one", "alike", "pronouns")),
    ("patterns", {"part": "one", "source": "corpus"}),
    *(("anomalies", {"anomaly": part}) for part in ("flags", "norms", "first", "moved", "states")),
    ("atlas", {"budget": "1000", "part": "heads"}),
    ("atlas", {"budget": "1000", "part": "one", "token": "5"}),
    ("atlas", {"budget": "1000", "part": "words"}),
    ("atlas", {"budget": "1000", "part": "positions"}),
    ("atlas", {"budget": "1000", "part": "alike"}),
    ("atlas", {"budget": "1000", "part": "trust"}),
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


@pytest.fixture(autouse=True)
def _no_slow_projection(monkeypatch: pytest.MonkeyPatch) -> None:
    """UMAP and t-SNE fail at once, which the page tells: they take ten seconds to begin."""

    def clouds_of(choice: Choice, stages: Any, projection: Any = "PCA", **others: Any) -> Any:
        if projection in SLOW:
            raise ProjectionError("not in this test")
        return clouds_as_they_are(choice, stages, projection, **others)

    def lay_out_head(*_: Any, **__: Any) -> Any:
        raise ProjectionError("not in this test")

    monkeypatch.setattr(faithfulness, "clouds_of", clouds_of)
    monkeypatch.setattr(layouts, "lay_out_head", lay_out_head)


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
        count = max(1, len(now)) if isinstance(now, list) else 1
        first, second = control.allowed[:count], control.allowed[1 : count + 1]
        return list(first if list(first) != now else second)
    if control.kind == "text":
        return "bundled/gpt2-novels" if control.key == "model" else "The [rain] is for [us]."
    others = [option for option in control.allowed if option != now]
    return next((option for option in others if option not in SLOW), others[0])


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
    drawn = {str(widget.key) for kind in WIDGETS for widget in app.get(kind) if widget.key}
    drawn |= {str(group.key) for group in app.get("button_group")}
    assert drawn - IN_NO_LINK <= set(controls_of(app))


def test_only_controls_end_a_page_early() -> None:
    """After ``st.stop`` Streamlit writes nothing into the address any more."""
    folders = [ROOT / "core", ROOT / "pages"]
    stops = [
        file.name
        for folder in folders
        for file in folder.rglob("*.py")
        if "st.stop()" in file.read_text(encoding="utf-8")
    ]
    assert stops == ["controls.py"]


def test_a_page_that_ends_early_has_its_controls_in_the_address(
    open_app: Callable[..., AppTest],
) -> None:
    app = open_app("atlas", budget="1000")
    app.session_state["corpus"] = "lines"
    app.run()
    assert app.query_params["corpus"] == "lines"
    assert "part" not in app.query_params  # it was not drawn
