"""Pages on which a decoder's tokens attend to an encoder's: two lists of tokens, of two lengths."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.model import load, trace_text
from core.vocabulary import labels_of
from tests.opening import open_app
from tests.pages.conftest import alerts, said, sent
from tests.rounding import assert_same_shares

if TYPE_CHECKING:
    from pathlib import Path

    from streamlit.testing.v1 import AppTest

    from core.model import Trace

TEXT, PAIR, TARGET = "The cat sat on the mat, and slept.", "It was tired.", "Where is it"


@pytest.fixture(scope="module")
def folder(answering_bart: Path) -> str:
    return str(answering_bart)


def cross(folder: str, pair: str | None = None) -> Trace:
    trace = trace_text(load(folder), TEXT, pair, target=TARGET).of_type("cross")
    assert len(trace.tokens) < len(trace.key_tokens)
    return trace


def visit(page: str, folder: str, **link: str) -> AppTest:
    link = {"model": folder, "text": TEXT, "attention": "cross", "decoder": TARGET} | link
    app = open_app(page, **link)
    assert alerts(app) == ""
    return app


def test_the_head_view_gets_cross_attention_and_both_lists_of_tokens(folder: str) -> None:
    trace = cross(folder)
    app = visit("head_view", folder)
    view = sent(app, "head_view")
    shown = [tuple(view["sides"][side]["labels"]) for side in ("queries", "keys")]
    assert shown == [labels_of(side) for side in (trace.tokens, trace.key_tokens)]
    expected = trace.attention()
    for layer in range(2):
        weights = view[f"weights{layer}"].reshape(expected[layer].shape)
        np.testing.assert_array_equal(weights, expected[layer])
        steps = view[f"steps{layer}"].reshape(expected[layer].shape)
        assert np.abs(steps - 255 * expected[layer]).max() <= 0.51
    assert "Left: the decoder's tokens" in said(app)
    assert "left to right" not in said(app)


def test_the_model_views_tiles_are_cross_attention(folder: str) -> None:
    trace = cross(folder)
    app = visit("model_view", folder)
    view = sent(app, "model_view")
    expected = trace.attention()
    assert view["shape"] == {"rows": len(trace.tokens), "columns": len(trace.key_tokens)}
    tiles = view["tiles"].reshape(expected.shape)
    assert np.abs(tiles - 255 * np.sqrt(expected)).max() <= 0.51
    strongest = view["strongest"].reshape(2, 4, 3)[..., 0]
    np.testing.assert_array_equal(strongest, expected.max(axis=(-2, -1)))
    row, column = view["pairs"].reshape(2, 4, 3, 2)[1, 2, 0].astype(int)
    assert expected[1, 2, row, column] == expected[1, 2].max()
    assert (view["rows"]["labels"][2], view["columns"]["labels"][1]) == ("Whe", "The")
    assert "heads of 7 × 20 tokens, the decoder's and your text's" in said(app)


def test_the_neuron_views_vectors_make_cross_attention(folder: str) -> None:
    trace = cross(folder)
    app = visit("neuron_view", folder, layer="2", head="3", key_token="20")
    view = sent(app, "neuron_view")
    q, k = (view[name].astype(np.float64).reshape(-1, 8) for name in ("queries0", "keys0"))
    log_sums = view["sums0"].astype(np.float64).reshape(2, -1, 1).sum(axis=0)
    weights = np.exp(q @ k.T * view["layers"]["0"]["scaling"] - log_sums)
    assert_same_shares(weights, trace.attention(1, 2), trace)
    queries, keys = (view["sides"][side]["labels"] for side in ("queries", "keys"))
    assert (len(queries), len(keys)) == weights.shape
    assert "permitted0" not in view  # every pair is
    assert view["pairKey"] == 19
    assert app.selectbox(key="query").options[1:] == queries
    assert app.selectbox(key="key_token").options[1:] == keys
    assert "Queries are the decoder's" in said(app)
