"""Pages of an encoder-decoder: which attention is shown, and whose tokens it has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from core.model import load, trace_text
from core.ui.messages import quote
from tests.components.received import received
from tests.model.language.checkpoints import build_with_head
from tests.opening import open_app

if TYPE_CHECKING:
    from pathlib import Path

    from streamlit.testing.v1 import AppTest

    from core.model import Trace

TEXT, ANSWER = "The cat sat on the mat.", "Where is it?"
SQUARE = ("home", "vectors", "projection", "anomalies", "patterns", "head_view", "neuron_view")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "tiny-bart"
    build_with_head(
        "bart", "BartForConditionalGeneration", folder, stir=0.5, tie_word_embeddings=False
    )
    return folder


@pytest.fixture(autouse=True)
def offered(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADSCOPE_MODELS", "any")
    monkeypatch.setenv("HEADSCOPE_FOLDERS", str(folder.parent))


@pytest.fixture(scope="module")
def cross(folder: Path) -> Trace:
    return trace_text(load(str(folder)), TEXT, target=ANSWER).of_kind("cross")


def opened(page: str, folder: Path, **parameters: str) -> AppTest:
    return open_app(page, model=str(folder), text=TEXT, **parameters)


def sent(app: AppTest, name: str) -> dict[str, Any]:
    (data,) = (
        each.proto.bytes
        for each in app.get("bidi_component")
        if each.proto.component_name == f"headscope_{name}"
    )
    return received(data)


def said(app: AppTest) -> str:
    return " ".join(each.value for kind in (app.caption, app.markdown, app.info) for each in kind)


def test_the_heatmap_has_the_decoders_tokens_down_and_the_encoders_across(
    folder: Path, cross: Trace
) -> None:
    app = opened("heatmap", folder, attention="cross", decoder=ANSWER, layer="2", head="3")
    table = sent(app, "table")
    assert table["rows"]["displays"] == [token.display for token in cross.tokens]
    assert table["columns"]["displays"] == [token.display for token in cross.key_tokens]
    np.testing.assert_allclose(table["values"], cross.attention(1, 2).ravel(), atol=1e-6)
    assert dict(app.query_params)["attention"] == "cross"
    assert dict(app.query_params)["decoder"] == ANSWER


def test_queries_are_of_the_decoder_and_keys_of_the_encoder(folder: Path, cross: Trace) -> None:
    app = opened("query_key", folder, attention="cross", decoder=ANSWER, layer="2", head="3")
    clouds = sent(app, "clouds")
    queries, keys = len(cross.tokens), len(cross.key_tokens)
    assert clouds["queries"] == queries
    assert len(clouds["labels"]) == queries + keys
    assert clouds["labels"][queries] == cross.key_tokens[0].display
    stages = len(clouds["titles"])
    assert stages == 3  # the search compares the query and the key of one token
    assert clouds["points"].size == stages * (queries + keys) * 2
    lines = clouds["lines"].reshape(-1, 3)
    strongest = cross.attention(1, 2)
    for query, key, weight in lines:
        np.testing.assert_allclose(weight, strongest[int(query), int(key)], atol=1e-6)
    assert {int(query) for query, *_ in lines} == set(range(queries))
    assert "no token has both" in said(app)


@pytest.mark.parametrize("part", ["trust", "search", "heads"])
def test_every_part_of_the_query_key_page_shows_cross_attention(folder: Path, part: str) -> None:
    app = opened("query_key", folder, attention="cross", decoder=ANSWER, part=part)
    assert not app.error
    if part == "search":
        assert "no token has both" in said(app)


def test_cross_attention_in_space_has_as_many_points_as_tokens(folder: Path, cross: Trace) -> None:
    app = opened("query_key", folder, attention="cross", decoder=ANSWER, dims="3-D")
    figures = app.get("plotly_chart")
    assert len(figures) == 3
    assert cross.key_tokens[1].display in figures[0].proto.spec


@pytest.mark.parametrize("page", SQUARE)
def test_pages_show_the_decoder_by_itself_and_say_whose_words_it_reads(
    folder: Path, page: str
) -> None:
    app = opened(page, folder, attention="decoder", decoder=ANSWER)
    assert f"The decoder reads what you typed, {quote('W here is it ?')}" not in said(app)
    assert "The decoder reads what you typed" in said(app)
    assert "none that comes later" in said(app)


def test_without_a_target_the_page_says_what_the_model_answers(folder: Path) -> None:
    app = opened("heatmap", folder, attention="decoder")
    trace = trace_text(load(str(folder)), TEXT).of_kind("decoder")
    assert trace.origin == "answer"
    assert "The decoder reads the model's own answer" in said(app)
    assert sent(app, "table")["rows"]["displays"] == [token.display for token in trace.tokens]


def test_a_page_of_tokens_that_attend_to_one_another_leaves_out_cross_attention(
    folder: Path,
) -> None:
    app = opened("vectors", folder, attention="cross")
    assert "On this page the kinds of attention are" in " ".join(e.value for e in app.warning)
    assert dict(app.query_params)["attention"] == "encoder"


def test_both_texts_are_cut_and_said(folder: Path) -> None:
    long = " ".join(["where"] * 90)
    app = open_app("heatmap", model=str(folder), text=long, attention="cross", decoder=long)
    words = [each.value for each in app.info]
    assert sum("The text is longer" in each for each in words) == 1
    assert sum("What the decoder reads is longer" in each for each in words) == 1


@pytest.mark.parametrize(
    "hostile", ["<img src=x onerror=alert(1)>", "$x$ :red[y] 🙂", "  ", "שלום"]
)
def test_whatever_the_decoder_reads_is_shown_as_text(folder: Path, hostile: str) -> None:
    app = opened("heatmap", folder, attention="cross", decoder=hostile)
    assert "<img" not in said(app).replace("`<img", "")
    assert len(sent(app, "table")["rows"]["labels"]) >= 1


def test_an_atlas_is_of_the_encoder_and_says_so(folder: Path) -> None:
    app = opened("atlas", folder, budget="200")
    assert "go through the encoder alone" in said(app)


def test_other_models_have_no_such_choice() -> None:
    app = open_app("heatmap")
    assert {"attention", "decoder"}.isdisjoint(app.query_params)
