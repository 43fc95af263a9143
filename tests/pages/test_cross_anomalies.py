"""The anomalies page with the kinds of attention of an encoder-decoder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.analysis.anomalies import anomaly_table
from core.model import load, trace_text
from core.model.weights.output_projection import transformed_norms
from core.screens.anomalies.moved import _hidden
from tests.opening import open_app
from tests.pages.conftest import alerts, charts, said

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from streamlit.testing.v1 import AppTest

    from core.model import Trace

TEXT = "The cat sat on the mat, and then it slept."
TARGET = "Where is the cat now? On the mat, where it sleeps."


@pytest.fixture(scope="module")
def folder(answering_bart: Path) -> Path:
    return answering_bart


@pytest.fixture(scope="module")
def cross(folder: Path) -> Trace:
    return trace_text(load(str(folder)), TEXT, target=TARGET).of_type("cross")


@pytest.fixture(scope="module")
def table(folder: Path, cross: Trace) -> pd.DataFrame:
    return anomaly_table(cross, transformed_norms(load(str(folder)), cross))


def opened(folder: Path, kind: str = "cross", decoder: str = TARGET, **parameters: str) -> AppTest:
    link = {"text": TEXT, "attention": kind, "decoder": decoder} | parameters
    return open_app("anomalies", model=str(folder), **link)


def displays(trace: Trace) -> tuple[list[str], list[str]]:
    """Tokens of the decoder and of the text, without the numbers of repeated ones."""
    queries, keys = ([each.display for each in side] for side in (trace.tokens, trace.key_tokens))
    return queries, keys


def unnumbered(labels: list[str]) -> list[str]:
    names = [label.rstrip("₀₁₂₃₄₅₆₇₈₉") for label in labels]
    return [name.replace("&lt;", "<").replace("&gt;", ">") for name in names]


def test_the_table_is_that_of_the_cross_trace(folder: Path, table: pd.DataFrame) -> None:
    app = opened(folder)
    (shown,) = (each.value for each in app.dataframe if "sink_token" in each.value)
    for name in ("first_attention", "null_attention", "norm_log_ratio"):
        np.testing.assert_allclose(shown[name], table[name], rtol=1e-5)
    assert shown["sink_token"].tolist() == table["sink_token"].tolist()
    text = said(app)
    assert "First token, sinks and values refer to your text." in text
    assert "The sample corpus is read by the encoder alone." in text
    weights = said(opened(folder, flag="alike weights"))
    assert "**Alike weights** cannot be measured for this model." in weights


@pytest.mark.parametrize("hide", [False, True])
def test_what_moves_has_the_decoders_tokens_down_and_the_texts_across(
    hide: bool, folder: Path, cross: Trace
) -> None:
    app = opened(folder, anomaly="moved", layer="2", head="3", latent=str(int(hide)))
    queries, keys = displays(cross)
    for figure in charts(app):
        assert unnumbered(figure["data"][0]["y"]) == queries
        assert unnumbered(figure["data"][0]["x"]) == keys[1 if hide else 0 :]
    row = cross.attention(1, 2)[:, 0].mean()
    assert f"This head puts **{row:.2f}** on the first token of your text, `{keys[0]}`" in said(app)
    assert (f"with it {row:.2f} of all attention" in said(app)) is hide


def test_rows_whose_query_is_the_first_count_as_magnified_too() -> None:
    weights = np.array([[0.995, 0.005], [0.5, 0.5], [0.999, 0.001]], dtype=np.float32)
    assert "2 rows have less than 1\N{NO-BREAK SPACE}% left" in _hidden(weights, cross=True)
    assert "1 row has less than 1\N{NO-BREAK SPACE}% left" in _hidden(weights, cross=False)


def test_hidden_states_are_those_of_the_decoder_and_the_encoder(folder: Path) -> None:
    app = opened(folder, anomaly="states")
    assert "Cross attention has no hidden states of its own" in alerts(app)
    assert not app.get("plotly_chart")
    next(button for button in app.button if button.key == "states_of_decoder").click().run()
    assert app.session_state["attention"] == "decoder"
    assert len(app.get("plotly_chart")) == 1


def test_examples_lead_to_no_hidden_states(folder: Path) -> None:
    app = opened(folder, anomaly="flags")
    app.session_state["anomalies_presets"] = True
    app.run()
    labels = [button.label for button in app.button]
    assert "Massive activations" not in labels
    for title in (
        "Attention, and what it moves",
        "Why heads rest on the first token of your text",
    ):
        next(button for button in app.button if button.label == title).click().run()
        assert not app.exception
