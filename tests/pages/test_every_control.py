"""No control is forgotten: whatever is set on a page, its link opens in a fresh session."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import pytest

from core.analysis.images.selectivity import selectivity as of_trace
from core.analysis.projections import joint_embedding
from core.analysis.projections.umap_process import ProjectionError
from core.corpus.sample import sample_sentences
from core.model.sample_images import SAMPLE_IMAGES
from core.screens.atlas.corpus import images
from core.screens.heads import measured
from core.screens.query_key import selectivity
from tests.opening import ROOT, open_app, prepared_site, visits
from tests.page_tables import LINKS, README, rows_of, to_markdown, with_pages
from tests.pages.conftest import alerts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streamlit.testing.v1 import AppTest

    from core.ui.controls import Control

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_effects")]

VISITS = visits()
# Widgets that no link carries: the switch of the second sentence is its text, what a visitor
# pastes or uploads is the visitor's own.
IN_NO_LINK = {"two", "pasted_lines", "atlas_text_column", "atlas_label_column"}
IN_SIDEBAR = {"model", "text", "pair"}  # the same on every page: changed on one
SLOW = {"UMAP", "t-SNE"}  # ten seconds to begin
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
    monkeypatch.setattr(selectivity, "selectivity", lambda trace: of_trace(trace, 9))

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

    Who sets controls on the page takes it from the list.
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
    if control.key == "budget":
        return 2000  # the smallest atlas that is another one
    if control.kind == "text":
        return "bundled/gpt2-novels" if "model" in control.key else "The [rain] is for [us]."
    if control.key == "cell":
        return [2, 1]  # a query and a key
    if control.kind == "tokens":
        count = max(1, len(now))
        lists = [list(control.allowed[:count]), list(control.allowed[1 : count + 1])]
        return next((each for each in lists if each != now), now)
    others = [option for option in control.allowed if option != now]
    return next((option for option in others if option not in SLOW), (*others, now)[0])


@pytest.mark.parametrize(
    "number", range(len(VISITS)), ids=lambda i: f"{VISITS[i][0]} {VISITS[i][1]}"[:90]
)
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
    """After ``st.stop`` Streamlit writes nothing to the address any more: only controls call it."""
    files = [file for folder in ("core", "pages") for file in (ROOT / folder).rglob("*.py")]
    stopping = [file for file in files if "st.stop()" in file.read_text("utf-8")]
    assert stopping == [ROOT / "core" / "ui" / "controls" / "__init__.py"]
    app = open_app("atlas", budget="1000", model="bundled/gpt2-novels")
    app.session_state["corpus"] = "lines"
    app.run()
    assert app.query_params["corpus"] == "lines"
    assert "stage" not in app.query_params  # it was not drawn
