"""The head patterns page with the kinds of attention of an encoder-decoder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.analysis.head_patterns import pattern_table
from core.model import load, trace_text
from core.vocabulary import labels_of
from tests.opening import open_app
from tests.pages.conftest import alerts, charts, said

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from streamlit.testing.v1 import AppTest

    from core.model import Trace

TEXT = "The cat sat on the mat, and then it slept."
TARGET = "Where is the cat now? On the mat, where it sleeps."
LEFT_OUT = (
    "so patterns within one text are left out: previous token, next token, itself, same token"
    " elsewhere, other sentence, mean distance, induction."
)

pytestmark = pytest.mark.usefixtures("small_corpora")


@pytest.fixture(scope="module")
def folder(answering_bart: Path) -> Path:
    return answering_bart


@pytest.fixture(scope="module")
def cross(folder: Path) -> Trace:
    return trace_text(load(str(folder)), TEXT, target=TARGET).of_type("cross")


def opened(folder: Path, kind: str = "cross", decoder: str = TARGET, **parameters: str) -> AppTest:
    link = {"text": TEXT, "attention": kind, "decoder": decoder} | parameters
    return open_app("patterns", model=str(folder), **link)


def options(app: AppTest, key: str) -> list[str]:
    return list(next(box for box in app.selectbox if box.key == key).options)


def words(app: AppTest) -> str:
    return said(app) + alerts(app)


def table(app: AppTest, column: str) -> pd.DataFrame:
    return next(frame.value for frame in app.dataframe if column in frame.value)


def test_the_table_has_the_scores_of_key_tokens_alone(folder: Path, cross: Trace) -> None:
    app = opened(folder)
    shown, expected = table(app, "above threshold"), pattern_table(cross)
    scores = ["first", "cls", "sep", "punctuation", "delimiter", "entropy"]
    assert [name for name in shown if name in expected and name != "head"] == scores
    np.testing.assert_allclose(shown["sep"], expected["sep"])
    text = words(app)
    assert LEFT_OUT in text
    assert f"on what the decoder reads ({len(cross.tokens)} query tokens)" in text.lower()
    assert "The sample corpus is read by the encoder alone." in text
    assert "your text (" not in text.replace("your text (the keys)", "")
    assert "No token occurs twice" not in text
    assert options(app, "score") == [
        "head pattern",
        "first token",
        "opening special token",
        "other special tokens",
        "full stops, commas",
        "delimiters (all three)",
        "entropy / ln n",
    ]


def test_the_uniform_baseline_is_one_over_the_number_of_keys(folder: Path, cross: Trace) -> None:
    share = f"{1 / len(cross.key_tokens):.2f}"
    assert f"A head with uniform attention has {share} here" in said(opened(folder, score="first"))


@pytest.mark.parametrize("whole", ["head", "mean"])
def test_the_evidence_of_one_head_is_of_keys(whole: str, folder: Path, cross: Trace) -> None:
    app = opened(folder, part="one", whole=whole, layer="2", head="3")
    rows = table(app, "attends most to")
    assert len(rows) == len(cross.tokens)
    weights = cross.attention(1, 2) if whole == "head" else cross.attention().mean(axis=(0, 1))
    np.testing.assert_allclose(rows["weight"], weights.max(axis=1), atol=1e-6)
    labels = labels_of(cross.key_tokens)
    names = [labels[key] for key in weights.argmax(axis=1)]
    assert list(rows["attends most to"]) == names
    assert f"of {len(cross.tokens)} query tokens. Uniform baseline" in said(app)


def test_nothing_is_rolled_out(folder: Path) -> None:
    app = opened(folder, part="one", whole="rollout")
    assert "This link asks for whole `rollout`" in alerts(app)
    assert options(app, "whole") == ["one head", "mean of everything"]


def test_the_heatmaps_have_the_decoders_tokens_down_and_the_texts_across(
    folder: Path, cross: Trace
) -> None:
    for figure in charts(opened(folder, part="one")):
        data = figure["data"][0]
        assert len(data["y"]) == len(cross.tokens)
        assert len(data["x"]) == len(cross.key_tokens)


def test_similar_heads_are_compared_on_query_tokens(folder: Path, cross: Trace) -> None:
    text = said(opened(folder, part="alike"))
    assert f"({len(cross.tokens)} query tokens). Stress" in text


def test_the_decoder_has_no_induction_score_of_the_encoder(folder: Path) -> None:
    app = opened(folder, "decoder", score="induction")
    assert "Not defined here. Repeated random sequences are read by the encoder alone." in said(app)
    assert table(app, "above threshold")["induction"].isna().all()
    assert "on what the decoder reads (" in words(app).lower()
    encoder = opened(folder, "encoder", score="induction")
    assert table(encoder, "above threshold")["induction"].notna().all()


def test_few_query_tokens_are_too_few_however_long_the_text_is(folder: Path) -> None:
    app = opened(folder, decoder="On.", part="heads")
    assert "**Too short to say.** What the decoder reads (" in alerts(app)
    assert "for patterns, give the decoder more to read." in alerts(app)


def test_every_example_can_be_pressed(folder: Path) -> None:
    app = opened(folder)
    app.session_state["patterns_presets"] = True
    app.run()
    titles = (
        "Resting on the first token",
        "Resting on the end",
        "All heads at once",
        "Similar heads",
    )
    shown = [button.label for button in app.button]
    assert [title for title in dict.fromkeys(shown) if title in titles] == list(titles)
    assert not {"Looking back by one", "Short texts mislead"} & set(shown)
    for title in titles:
        next(button for button in app.button if button.label == title).click().run()
        assert "This link asks" not in alerts(app)
