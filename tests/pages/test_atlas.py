"""The atlas page in process."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from core.atlas.data import Measured, ModelFaithfulness
from core.corpus.reading import CorpusTable, read_table
from core.corpus.sample import sample_sentences
from core.model.opening.catalog import bundled_folder
from core.screens.atlas.corpus import entry, making, source
from core.ui import cache
from core.vocabulary import percent
from tests.opening import open_app
from tests.pages.atlases import CAUSAL, LINES, of_lines, opened, paste, small
from tests.pages.conftest import alerts, said

if TYPE_CHECKING:
    from collections.abc import Callable

    from streamlit.testing.v1 import AppTest


pytestmark = pytest.mark.slow

PARTS = ["heads", "one"]
MODELS = ["bundled/minilm", "bundled/gpt2-novels"]
HOSTILE = [
    "</script><img src=x onerror=alert(1)>",
    "it costs $x$ and $y$",
    ":red[x] **bold** `code` [a](b)",
    "😀 👩‍👩‍👧 🇩🇪",
    "مرحبا بالعالم",
    "שלום עולם",
]


def test_the_page_opens_with_how_often_near_means_attended() -> None:
    atlas = small()
    share = percent(float(atlas.faithfulness["raw"].top1[3, 1])).replace("\xa0", " ")
    app = opened(atlas, part="one", layer="4", head="2")
    assert f"**Near means attended for {share} of the queries of L4 H2**" in said(app)
    assert f"in the plane, raw; {len(atlas.tokens)} tokens." in said(app)
    assert "of the queries, the mean of all heads**" in said(opened(atlas))


def show_part(app: AppTest, part: str) -> str:
    """What the page says after a click on a part; never NaN, never an error."""
    app.selectbox(key="part").set_value(part).run()
    assert not re.search(r"\bnan\b", said(app))
    return said(app)


@pytest.mark.parametrize("model", MODELS)
def test_the_sample_is_built_at_once_and_every_part_is_there(model: str) -> None:
    app = open_app("atlas", model=model, budget="1000")
    for part in PARTS:
        text = show_part(app, part)
        assert f"Atlas of `{model}`" in text
        assert f"a random sample of {len(sample_sentences())}" in text
    assert "Build the atlas" not in [button.label for button in app.button]


def test_a_budget_out_of_range_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADSCOPE_TOKENS", "1000")
    app = open_app("atlas", budget="many")
    assert "This link asks for budget `many`" in alerts(app)
    assert app.query_params["budget"] == "1000"  # the most that this site allows


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


def test_pasted_lines_cost_something_and_wait_for_a_button() -> None:
    app = open_app("atlas", corpus="lines")
    assert "Paste some sentences" in alerts(app)
    paste(app, ["  ", "", "\t"])
    assert "Paste some sentences" in alerts(app)
    paste(app, [*LINES, "A line of this test alone."])
    assert "Atlas of" not in said(app)
    told = re.search(r"About \*\*(\d+) tokens\*\* of 5 texts .* \*\*\d+ MB\*\*", said(app))
    assert told is not None
    assert "This is an estimate" in said(app)
    app.button(key="atlas_build").click().run()
    built = re.search(r"(\d+) tokens of 5 texts", said(app))
    assert built is not None
    assert int(told[1]) == pytest.approx(int(built[1]), rel=0.3)
    again = paste(open_app("atlas", corpus="lines"), [*LINES, "A line of this test alone."])
    assert "Atlas of" in said(again)  # from the cache


def test_nothing_a_visitor_brings_is_run_before_the_button(monkeypatch: pytest.MonkeyPatch) -> None:
    class RanError(Exception): ...

    def run(*_: object, **__: object) -> None:
        raise RanError

    for name in ("choose_texts", "trace_by_length", "atlas_of"):
        monkeypatch.setattr(making, name, run)
    app = paste(open_app("atlas", corpus="lines"), ["Nothing of this is run, ", "but for a press."])
    assert "nothing has been run yet" in said(app)
    app.button(key="atlas_build").click().run()
    assert app.exception  # now it is


def test_an_atlas_that_proves_too_large_once_it_is_tokenized_is_refused_before_it_is_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = paste(open_app("atlas", corpus="lines"), [*LINES, "Far too large."])
    monkeypatch.setattr(entry, "available_bytes", lambda: -(10**12))
    monkeypatch.setattr(making, "trace_by_length", None)
    app.button(key="atlas_build")
    app.session_state["_atlas_pressed"] = True
    app.run()
    assert "MB are free: take fewer tokens" in alerts(app)


def test_a_file_is_read_once_however_often_the_page_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def counted(data: bytes, name: str) -> CorpusTable:
        read.append(name)
        return read_table(data, name)

    monkeypatch.setattr(source, "read_table", counted)
    app = upload(open_app("atlas", corpus="file"), "once.csv", CSV.encode())
    app.selectbox(key="atlas_text_column").set_value("id").run()
    app.run()
    assert read == ["once.csv"]
    bad = upload(open_app("atlas", corpus="file"), "bad.txt", bytes(range(256)) * 40)
    assert "`bad.txt`" in bad.run().error[0].value
    assert read == ["once.csv", "bad.txt"]


def test_hostile_lines_stay_text_in_every_part_and_a_picked_token_is_quoted() -> None:
    app = of_lines(HOSTILE, layer="1", find="<", kind="substring", token="12")
    for part in PARTS:
        show_part(app, part)
        assert not any(body.allow_html for body in app.markdown)
    assert re.search(r"Token \*\*\d+\*\*, `+ ?\S+ ?`+, of sentence [1-6]:", said(app))
    assert any(text.value in HOSTILE for text in app.text)


@pytest.mark.parametrize(
    ("lines", "model"),
    [(["word"], MODELS[0]), (["a", "b"], CAUSAL), (["x"] * 8, CAUSAL), (["!" * 200], MODELS[0])],
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
    assert "label" in app.selectbox(key="colour").options
    app.selectbox(key="colour").set_value("label").run()
    assert not app.exception
    app.session_state["part"], app.session_state["token"] = "one", 2
    app.run()
    assert "of sentence 1 · `good`:" in said(app)


def test_a_file_that_is_not_a_corpus_is_refused_by_name() -> None:
    for name, data in (
        ("empty.txt", b""),
        ("<img src=x>.csv", bytes(range(256)) * 40),
        ("broken.jsonl", b'{"text": "a"\n{"text"'),
    ):
        app = upload(open_app("atlas", corpus="file"), name, data)
        (error,) = app.error
        assert f"`{name}`" in error.value
        assert "Atlas of" not in said(app)


def test_a_prepared_atlas_has_no_slow_projections() -> None:
    app = opened(small(), projection="UMAP", find="she")
    assert app.selectbox(key="projection").options == ["PCA"]
    assert "This link asks for projection `UMAP`. A prepared atlas offers: `PCA`." in alerts(app)
    assert "`she`: **2** matches" in said(app)
    assert "label" in app.selectbox(key="colour").options


@pytest.mark.parametrize("name", ["gpt2", "folder"])
def test_from_elsewhere_a_prepared_atlas_names_no_model_but_those_in_the_box(
    monkeypatch: pytest.MonkeyPatch, connect: Callable[..., None], name: str
) -> None:
    name = str(bundled_folder()) if name == "folder" else name  # it would open at the machine
    connect("192.0.2.7")
    asked: list[str] = []
    working = cache.model

    def noted(name: str, *modality: Any) -> object:
        asked.append(name)
        return working(name, *modality)

    monkeypatch.setattr(cache, "model", noted)
    app = opened(replace(small(), model=name), part="one", token="7")
    assert "which this site does not offer" in said(app)
    assert name not in asked


@pytest.mark.parametrize("name", [CAUSAL, "nowhere/at-all", "<img src=x onerror=alert(1)>"])
def test_an_atlas_of_a_model_that_is_another_or_not_here_still_opens(name: str) -> None:
    link = {"part": "one", "token": "7", "layer": "6", "head": "12", "dossier": "1"}
    app = opened(replace(small(), model=name), **link)
    assert f"Atlas of `{name}`" in said(app)
    assert not app.dataframe


def test_one_atlas_is_built_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever comes meanwhile is told so, and gets the same atlas where that was built."""
    app = paste(open_app("atlas", corpus="lines"), [*LINES, "Of two visitors at once."])
    told: list[str] = []

    class Busy:
        def acquire(self, timeout: float) -> bool:
            assert timeout > 0
            told.append("asked")
            return len(told) > 2

        def release(self) -> None:
            told.append("released")

    monkeypatch.setattr(making, "_building", Busy())
    app.button(key="atlas_build").click().run()
    assert told == ["asked"] * 3 + ["released"]
    assert "tokens of 5 texts" in said(app)


def test_where_no_query_has_two_keys_faithfulness_is_a_dash() -> None:
    none = np.full(small().shape[:2], np.nan)
    nothing = {stage: ModelFaithfulness(none, none) for stage in small().faithfulness}
    lonely = replace(small(), faithfulness=nothing, measured=Measured(0, none))
    app = opened(lonely, part="one")
    text = said(app) + alerts(app)
    assert "correlate with r = —; the nearest key is the most attended one for — of" in text
    assert not re.search(r"\bnan\b", text)
