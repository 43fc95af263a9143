"""The atlas page in process."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from numpy.typing import NDArray
from streamlit.testing.v1 import AppTest

from core.analysis.projections import joint_embedding
from core.analysis.projections.umap_process import ProjectionError
from core.atlas.data import Measured, ModelFaithfulness
from core.atlas.one_head import draw_sentences
from core.components.contexts import ContextGroup
from core.components.points import Clouds
from core.corpus.reading import read_table
from core.corpus.sample import sample_sentences
from core.model import load, trace_text
from core.model.opening.catalog import bundled_folder
from core.screens.atlas import layouts
from core.screens.atlas.corpus import building, entry, source
from core.screens.atlas.head import contexts
from tests.opening import open_app
from tests.pages.atlases import CAUSAL, LINES, of_lines, opened, paste, small
from tests.pages.conftest import alerts, pick, said

pytestmark = pytest.mark.slow

PARTS = ["heads", "one"]
MINILM = "bundled/minilm"
HOSTILE = [
    "</script><img src=x onerror=alert(1)>",
    "it costs $x$ and $y$",
    ":red[x] **bold** `code` [a](b)",
    "😀 👩‍👩‍👧 🇩🇪",
    "مرحبا بالعالم",
    "שלום עולם",
]


def show_part(app: AppTest, part: str) -> str:
    """What the page says after a click on a part; never NaN, never an error."""
    app.selectbox(key="part").set_value(part).run()
    assert not re.search(r"\bnan\b", said(app))
    return said(app)


def test_the_sample_is_built_at_once_and_within_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADSCOPE_TOKENS", "1000")
    app = open_app("atlas", budget="many", model=CAUSAL)
    assert "This link asks for budget `many`" in alerts(app)
    assert app.query_params["budget"] == "1000"
    for part in PARTS:
        text = show_part(app, part)
        assert f"Atlas of `{CAUSAL}`" in text
        assert f"a random sample of {len(sample_sentences())}" in text
    assert "Build the atlas" not in [button.label for button in app.button]


def test_a_search_tells_how_much_it_found() -> None:
    app = of_lines(LINES, find="SHE")
    assert "`SHE`: **2** matches in 2 of 4 sentences; drawn large: 2 tokens." in said(app)
    app.text_input(key="find").set_value("[CLS]").run()
    assert "**4** matches in 4 of 4 sentences" in said(app)
    app.selectbox(key="kind").set_value("phrase").run()
    app.text_input(key="find").set_value("on the mat").run()
    assert "**1** match in 1 of 4 sentences; drawn large: 3 tokens." in said(app)
    app.text_input(key="find").set_value("<b>whale</b>").run()
    assert "`<b>whale</b>` is not among the" in alerts(app)
    assert not app.header
    assert not app.exception


def test_pasted_lines_cost_something_and_wait_for_a_button(monkeypatch: pytest.MonkeyPatch) -> None:
    app = open_app("atlas", corpus="lines")
    assert "Paste some sentences" in alerts(app)
    paste(app, ["  ", "", "\t"])
    assert "Paste some sentences" in alerts(app)
    with monkeypatch.context() as patch:
        for name in ("choose_texts", "trace_by_length", "atlas_of"):
            patch.setattr(building, name, None)
        paste(app, [*LINES, "A line of this test alone."])
        assert "Atlas of" not in said(app)
        assert "nothing has been run yet" in said(app)
        told = re.search(r"About \*\*(\d+) tokens\*\* of 5 texts .* \*\*\d+ MB\*\*", said(app))
        assert told is not None
        assert app.button(key="atlas_build").click().run().exception  # now it is
    app = paste(open_app("atlas", corpus="lines"), [*LINES, "A line of this test alone."])
    app.button(key="atlas_build").click().run()
    built = re.search(r"(\d+) tokens of 5 texts", said(app))
    assert built is not None
    assert int(told[1]) == pytest.approx(int(built[1]), rel=0.3)
    again = paste(open_app("atlas", corpus="lines"), [*LINES, "A line of this test alone."])
    assert "Atlas of" in said(again)  # from the cache


def test_an_atlas_that_proves_too_large_is_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    app = paste(open_app("atlas", corpus="lines"), [*LINES, "Far too large."])
    monkeypatch.setattr(entry, "available_bytes", lambda: -(10**12))
    monkeypatch.setattr(building, "trace_by_length", None)
    app.button(key="atlas_build")
    app.session_state["_atlas_pressed"] = True
    app.run()
    assert "MB are free: take fewer tokens" in alerts(app)


def test_a_file_is_read_once_however_often_the_page_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    read = Mock(wraps=read_table)
    monkeypatch.setattr(source, "read_table", read)
    app = upload(open_app("atlas", corpus="file"), "once.csv", CSV.encode())
    app.selectbox(key="atlas_text_column").set_value("id").run()
    app.run()
    assert read.call_count == 1
    bad = upload(open_app("atlas", corpus="file"), "<img src=x>.csv", bytes(range(256)) * 40)
    assert "`<img src=x>.csv`" in bad.run().error[0].value
    assert read.call_count == 2


def test_hostile_lines_stay_text_in_every_part_and_a_picked_token_is_quoted() -> None:
    app = of_lines(HOSTILE, layer="1", find="<", kind="substring", token="12")
    for part in PARTS:
        show_part(app, part)
        assert not any(body.allow_html for body in app.markdown)
    assert re.search(r"Token \*\*\d+\*\*, `+ ?\S+ ?`+, of sentence [1-6]:", said(app))
    assert any(text.value in HOSTILE for text in app.text)


@pytest.mark.parametrize(
    ("lines", "model"),
    [(["word"], MINILM), (["a", "b"], CAUSAL), (["x"] * 8, CAUSAL), (["!" * 200], MINILM)],
)
def test_tiny_corpora_have_every_part(lines: list[str], model: str) -> None:
    app = of_lines(lines, model=model, find="a")
    for part in PARTS:
        assert "Atlas of" in show_part(app, part)


def test_lines_without_a_token_are_told() -> None:
    app = paste(open_app("atlas", corpus="lines"), ["\u200b", "\ufeff", "\u00ad"])
    app.button(key="atlas_build").click().run()
    assert "no tokens" in alerts(app)
    assert "Atlas of" not in said(app)


CSV = "id,review,label\n1,The cat sat on the mat.,good\n2,A dog barked.,bad\n3,It rained.,good\n"


def upload(app: AppTest, name: str, data: bytes) -> AppTest:
    return app.file_uploader(key="atlas_file").set_value((name, data, "text/plain")).run()


def test_a_table_has_a_text_column_and_one_of_labels_if_it_is_called_so() -> None:
    app = open_app("atlas", corpus="file")
    assert "Choose a file" in alerts(app)
    upload(app, "reviews.csv", CSV.encode())
    assert app.selectbox(key="atlas_text_column").value == "review"
    app.button(key="atlas_build").click().run()
    assert "tokens of 3 texts" in said(app)
    for key, value in {"colour": "label", "part": "one", "token": 2}.items():
        app.session_state[key] = value
    app.run()
    assert app.session_state["colour"] == "label"
    assert "of sentence 1 · `good`:" in said(app)


def test_from_elsewhere_a_prepared_atlas_names_no_model_but_those_in_the_box(
    connect: Callable[..., None], loaded: list[str], clouds: list[Clouds]
) -> None:
    connect("192.0.2.7")
    for name in ("gpt2", str(bundled_folder())):  # the folder would open at the machine
        app = opened(replace(small(), model=name), part="one", token="7")
        assert said(app).count("which this site does not offer") == 1
        assert not clouds[-1].panels[0].lines.size
        assert name not in loaded


@pytest.mark.parametrize("name", [CAUSAL, "nowhere/at-all", "<img src=x onerror=alert(1)>"])
def test_an_atlas_of_a_model_that_is_another_or_not_here_still_opens(name: str) -> None:
    link = {"part": "one", "token": "7", "layer": "6", "head": "12", "dossier": "1"}
    app = opened(replace(small(), model=name), **link)
    assert f"Atlas of `{name}`" in said(app)
    assert not app.dataframe


def test_one_atlas_is_built_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever comes meanwhile is told so, and gets the same atlas where that was built."""
    app = paste(open_app("atlas", corpus="lines"), [*LINES, "Of two visitors at once."])
    turn = Mock(**{"acquire.side_effect": [False, False, True]})
    monkeypatch.setattr(building, "_building", turn)
    app.button(key="atlas_build").click().run()
    assert turn.acquire.call_count == 3
    assert all(each.kwargs["timeout"] > 0 for each in turn.acquire.call_args_list)
    turn.release.assert_called_once()
    assert "tokens of 5 texts" in said(app)


def test_where_no_query_has_two_keys_faithfulness_is_a_dash() -> None:
    none = np.full(small().shape[:2], np.nan)
    nothing = {stage: ModelFaithfulness(none, none) for stage in small().faithfulness}
    lonely = replace(small(), faithfulness=nothing, measured=Measured(0, none))
    app = opened(lonely, part="one")
    text = said(app) + alerts(app)
    assert "correlate with r = —; the nearest key is the most attended one for — of" in text
    assert not re.search(r"\bnan\b", text)


# ---- one head ------------------------------------------------------------------------------------


def test_lines_lead_to_the_most_attended_keys_of_the_head(clouds: list[Clouds]) -> None:
    """Two of each query, to its most attended keys."""
    app = opened(small(), part="one", layer="4", head="2", stage="normalized")
    assert not clouds[-1].panels[0].lines.size
    app.session_state["token"] = 14  # of the second sentence
    app.run()
    trace = trace_text(load(MINILM), LINES[1])
    first = int(np.argmax(clouds[-1].sentence == 1))
    for layer in (3, 2):
        pick(app, layer=str(layer + 1))
        assert clouds[-1].panels[0].title == f"L{layer + 1} H2"
        lines = clouds[-1].panels[0].lines
        assert (np.diff(lines[:, 2]) >= 0).all()  # the strongest is drawn last
        ends = lines[:, :2].astype(int) - first
        assert sorted(ends[:, 0]) == sorted([*range(len(trace.tokens))] * 2)
        attention = trace.attention(layer, 1)
        np.testing.assert_allclose(lines[:, 2], attention[*ends.T], atol=1e-5)
        strongest = np.sort(attention, axis=1)[:, -2:].sum()
        assert lines[:, 2].sum() == pytest.approx(strongest, abs=1e-4)


@pytest.mark.usefixtures("clouds")
def test_contexts_have_the_models_attention_and_run_once(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Sequence[ContextGroup]] = []
    runs = Mock(wraps=draw_sentences)
    monkeypatch.setattr(contexts, "show_contexts", lambda groups, **_: shown.append(groups))
    monkeypatch.setattr(contexts, "draw_sentences", runs)
    app = opened(small(), part="one", layer="4", head="2")
    assert not shown
    app.toggle(key="dossier").set_value(True).run()
    assert app.query_params["dossier"] == "1"
    assert re.search(r"; 2 of [\d,]+ contexts from each tenth", said(app))
    titles = [re.split("[:,]", group.title)[0] for group in shown[-1]]
    assert titles == [f"Decile {number}" for number in range(10, 0, -1)]
    for context in shown[-1][0].contexts:
        trace = trace_text(load(MINILM), LINES[context.number - 1])
        assert list(context.tokens) == [token.display for token in trace.tokens]
        np.testing.assert_allclose(context.weights, trace.attention(3, 1)[context.query], atol=1e-5)
    pick(app, head="5")
    pick(app, layer="2")
    assert (len(shown), runs.call_count) == (3, 1)


# ---- UMAP that fails -----------------------------------------------------------------------------

WHY = "UMAP refused these points."
UMAP = {"corpus": "sample", "budget": "1000", "projection": "UMAP", "model": CAUSAL}
HEADS = 16


class Umap:
    """In UMAP's place: the first components, or an error from a call on."""

    def __init__(self) -> None:
        self.calls, self.fails_from = 0, 0.0

    def fit(self, rows: NDArray[np.float64], dimensions: int, *_: object) -> NDArray[np.float64]:
        self.calls += 1
        if self.calls > self.fails_from:
            raise ProjectionError(WHY)
        return rows[:, :dimensions]


@pytest.fixture
def umap(monkeypatch: pytest.MonkeyPatch) -> Umap:
    """Nothing is laid out yet, and all that is asked fails until a test says otherwise."""
    for each in entry.atlas_entries().values():
        each.layouts.clear()
        each.jobs.clear()
    made = Umap()
    monkeypatch.setattr(joint_embedding, "fit_umap", made.fit)
    return made


def until(app: AppTest, holds: Callable[[AppTest], bool], seconds: float = 60) -> AppTest:
    """Run again, as the page does by itself, until it says so."""
    deadline = time.monotonic() + seconds
    while not holds(app):
        assert time.monotonic() < deadline, alerts(app)
        time.sleep(0.1)
        app.run()
        assert not app.exception
    return app


def way_out(app: AppTest) -> list[Any]:
    return [button for button in app.button if button.label == "Try again"]


@pytest.mark.parametrize("way", ["button", "coming back"])
def test_all_heads_go_on_after_an_error(
    umap: Umap, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    umap.fails_from = 10
    app = until(open_app("atlas", **UMAP), lambda app: WHY in alerts(app))
    assert umap.calls == 11
    app.run()
    assert umap.calls == 11  # nobody asked for more
    umap.fails_from = np.inf
    if way == "button":
        way_out(app)[0].click().run()
    else:
        with monkeypatch.context() as patch:
            patch.setattr(layouts, "_FORGOTTEN_SECONDS", 0)
            app.run()
    until(app, lambda app: umap.calls == HEADS + 1 and not way_out(app))
    assert alerts(app) == ""


def test_a_head_alone_can_be_tried_again(umap: Umap) -> None:
    app = open_app("atlas", **UMAP, part="one")
    assert WHY in alerts(app)
    umap.fails_from = np.inf
    way_out(app)[0].click().run()
    assert WHY not in alerts(app)
    assert any("this atlas, UMAP" in caption.value for caption in app.caption)
    assert not way_out(app)


@pytest.mark.usefixtures("umap")
def test_an_unforeseen_error_ends_the_work_without_a_path(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise MemoryError("/srv/secret")

    monkeypatch.setattr(layouts, "lay_out_head", fail)
    app = open_app("atlas", **UMAP, layer="4", head="1")
    until(app, lambda app: "UMAP of L4 H1 failed." in alerts(app))
    assert "secret" not in alerts(app)
