"""Sentences of pages that state a formula, what was sent or what was added up, by what holds."""

from __future__ import annotations

import re

import pytest

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
