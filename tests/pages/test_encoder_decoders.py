"""Pages of an encoder-decoder: which attention is shown, and whose tokens it has."""

from __future__ import annotations

from base64 import b64decode
from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.model import load, trace_text
from core.vocabulary import labels_of
from tests.model.translators import build_translator
from tests.opening import open_app
from tests.pages.conftest import alerts, said, sent

if TYPE_CHECKING:
    from pathlib import Path

    from streamlit.testing.v1 import AppTest

    from core.model import Trace

TEXT, ANSWER = "The cat sat on the mat.", "Where is it?"


@pytest.fixture(scope="module")
def folder(answering_bart: Path) -> Path:
    return answering_bart


@pytest.fixture(scope="module")
def cross(folder: Path) -> Trace:
    return trace_text(load(str(folder)), TEXT, target=ANSWER).of_type("cross")


def opened(page: str, folder: Path, **parameters: str) -> AppTest:
    return open_app(page, model=str(folder), text=TEXT, **parameters)


def test_the_heatmap_has_the_decoders_tokens_down_and_the_encoders_across(
    folder: Path, cross: Trace
) -> None:
    app = opened("heatmap", folder, attention="cross", decoder=ANSWER, layer="2", head="3")
    table = sent(app, "table")
    assert table["rows"]["labels"] == list(labels_of(cross.tokens))
    assert table["columns"]["labels"] == list(labels_of(cross.key_tokens))
    np.testing.assert_allclose(table["values"], cross.attention(1, 2).ravel(), atol=1e-6)
    assert dict(app.query_params)["attention"] == "cross"
    assert dict(app.query_params)["decoder"] == ANSWER


def test_queries_are_of_the_decoder_and_keys_of_the_encoder(folder: Path, cross: Trace) -> None:
    link = {"layer": "2", "head": "3", "stage": "all three"}
    app = opened("query_key", folder, attention="cross", decoder=ANSWER, **link)
    clouds = sent(app, "clouds")
    queries, keys = len(cross.tokens), len(cross.key_tokens)
    assert clouds["queries"] == queries
    assert len(clouds["labels"]) == queries + keys
    assert clouds["labels"][queries] == cross.key_tokens[0].display
    stages = len(clouds["titles"])
    assert stages == 3
    assert clouds["points"].size == stages * (queries + keys) * 2
    lines = clouds["lines"].reshape(-1, 4)
    strongest = cross.attention(1, 2)
    for query, key, weight, _ in lines:
        np.testing.assert_allclose(weight, strongest[int(query), int(key)], atol=1e-6)
    assert {int(query) for query, *_ in lines} == set(range(queries))


def test_without_a_target_the_page_says_what_the_model_answers(folder: Path) -> None:
    app = opened("heatmap", folder, attention="decoder")
    trace = trace_text(load(str(folder)), TEXT).of_type("decoder")
    assert trace.origin == "answer"
    assert "The decoder reads the model's own answer" in said(app)
    assert sent(app, "table")["rows"]["labels"] == list(labels_of(trace.tokens))


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


def test_a_translator_offers_its_languages_and_reads_and_writes_those_chosen(
    tmp_path: Path,
) -> None:
    _, (source, target, third) = build_translator("nllb", tmp_path)
    app = opened("heatmap", tmp_path, attention="cross", decoder="the mat")
    menus = {each.label: each for each in app.selectbox if each.label in ("From", "To")}
    assert {label: menu.value for label, menu in menus.items()} == {"From": source, "To": target}
    assert sent(app, "table")["columns"]["labels"][0] == source
    assert sent(app, "table")["rows"]["labels"][1] == target
    menus["To"].set_value(third).run()
    assert sent(app, "table")["rows"]["labels"][1] == third
    app = opened("heatmap", tmp_path, attention="cross", from_language=target, to_language=third)
    assert sent(app, "table")["columns"]["labels"][0] == target
    assert sent(app, "table")["rows"]["labels"][1] == third, "its own answer begins so, too"
    assert app.query_params["to_language"] == third
    app = opened("heatmap", tmp_path, attention="cross", to_language="xx_XX")
    assert "asks for to_language" in alerts(app)
    assert sent(app, "table")["rows"]["labels"][1] == target


def test_home_draws_both_stacks_with_the_head_on_the_decoder(folder: Path) -> None:
    app = opened("home", folder, attention="decoder", decoder=ANSWER)
    app.session_state["structure"] = True
    app.run()
    assert not app.exception
    (image,) = app.get("image")
    diagram = b64decode(image.proto.imgs[0].url.partition(",")[2]).decode()
    words = load(str(folder)).network.config.vocab_size
    for text in (
        "self-attention: 4 heads × 8 dims",
        "learned positions, 66 rows",  # as PyTorch prints the table
        "32 → 48 → 32",
        "masked self-attention: 4 heads",
        "keys and values are the encoder’s",
    ):
        assert text in diagram
    assert diagram.count("language-model head") == diagram.count(f"32 → {words}, softmax") == 1
    assert (
        "In its cross attention: W_Q is `decoder.layers.0.encoder_attn.q_proj` (32 → 32)"
        in said(app)
    )
    assert "On top of the decoder, a language-model head" in said(app)
