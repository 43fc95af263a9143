"""Sentences of pages that state a formula, what was sent or what was added up, by what holds."""

from __future__ import annotations

import re

import numpy as np
import pytest

from core.analysis.anomalies.contribution import lengths_and_sum
from core.analysis.layer_payload import LayerPayload
from core.model import load, trace_text
from tests.model.families import FAMILIES, build
from tests.opening import open_app
from tests.pages.conftest import BOOK, said
from tests.tools.bench.measuring import sentence_of


@pytest.fixture(scope="module")
def capped(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of a model that caps its scores at 2."""
    folder = str(build(FAMILIES["gemma2"], tmp_path_factory.mktemp("capped")))
    assert trace_text(load(folder), BOOK).layers[0].softcap == 2.0
    return folder


# ---- the formula of the model in use ------------------------------------------------------------


@pytest.mark.parametrize("page", ["heatmap", "head_view", "neuron_view"])
def test_only_the_formula_of_a_model_with_a_soft_cap_has_one_with_its_number(
    capped: str, page: str
) -> None:
    text = said(open_app(page, model=capped, text=BOOK))
    assert re.search(r"2\\,\\tanh\\bigl\(s ?\\,.*q.*k.*/\\, 2\\bigr\)", text)
    assert "no score goes beyond ±2" in text
    plain = said(open_app(page, text=BOOK))
    assert r"z_{ij} = s" in plain or r"z^h_{ij} = s" in plain
    assert r"\tanh" not in plain
    assert "soft cap" not in plain


def test_scores_of_a_capped_model_are_said_to_be_capped(capped: str) -> None:
    text = said(open_app("heatmap", model=capped, text=BOOK, values="scores"))
    assert "scaled dot products of queries and keys, soft-capped at ±2." in text
    plain = said(open_app("heatmap", text=BOOK, values="scores"))
    assert "scaled dot products of queries and keys." in plain


# ---- what the head view's numbers come from -----------------------------------------------------


@pytest.mark.parametrize("text", [BOOK, sentence_of(128)])
def test_the_head_view_says_what_was_sent(text: str) -> None:
    layer = LayerPayload.drawn(trace_text(load("bundled/minilm"), text), 5)
    computed = layer.queries is not None
    assert computed == (text != BOOK)
    page = said(open_app("head_view", text=text, layer="6"))
    assert ("are computed from this formula in the browser" in page) == computed
    assert ("are the model's own weights, sent as float32" in page) != computed


# ---- lengths that do not add up -----------------------------------------------------------------


def test_parts_that_point_apart_cancel() -> None:
    weights = np.array([[0.5, 0.5], [1, 0]], dtype=np.float32)
    vectors = np.array([[3, 4], [-3, -4]], dtype=np.float32)
    added, whole = lengths_and_sum(weights, vectors)
    np.testing.assert_allclose(added, [5, 5])
    np.testing.assert_allclose(whole, [0, 5], atol=1e-12)


def test_the_anomaly_page_gives_the_length_of_the_sum_beside_the_sum_of_the_lengths() -> None:
    text = said(open_app("anomalies", anomaly="moved", layer="3", head="8", text=BOOK))
    assert "really adds" not in text
    assert "add up to 0.81; what this head adds to a token has length 0.44" in text


def test_the_head_view_says_that_parts_may_cancel() -> None:
    text = said(open_app("head_view", text=BOOK, weigh="transformed"))
    assert "cancel, so the lengths do not add up to the length of the sum" in text
    assert "the length of what it adds to the token" not in text
