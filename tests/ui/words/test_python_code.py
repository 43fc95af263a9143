"""Copy as Python: every page's code runs, and gives the numbers of that page."""

from __future__ import annotations

import base64
import io
import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
import streamlit as st

from core.analysis.corpus.sample import sample_sentences
from core.model import load, trace_text
from core.ui.navigation import TEXT_PAGES
from core.ui.words.python_code import python_code
from tests.opening import open_app
from tests.pages.conftest import said

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

TEXT = 'It "said" \\n so.'
STATE = {
    "model": "bundled/minilm",
    "text": TEXT,
    "layer": "4",
    "head": "2",
    "a": "it",
    "b": "said",
    "budget": 1000,
}


def run(page: str, **state: object) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(python_code(page, {**STATE, **state}), names)  # noqa: S102 - it is what is tested
    return names


def weights() -> np.ndarray[Any, np.dtype[np.float32]]:
    """(layer, head, token, token)."""
    return trace_text(load(STATE["model"]), TEXT).attention()  # type: ignore[arg-type]


@pytest.mark.parametrize("page", [page.name for page in TEXT_PAGES if page.name != "atlas"])
def test_the_code_of_every_page_runs_on_its_text(page: str) -> None:
    names = run(page)
    assert names["trace"].tokens == trace_text(load("bundled/minilm"), TEXT).tokens


@pytest.mark.parametrize(
    ("layer", "head"), [("4", "2"), ("4", "mean"), ("mean", "2"), ("mean", "max")]
)
def test_the_table_is_that_of_the_layer_and_head_on_screen(layer: str, head: str) -> None:
    by_head = {"2": lambda w: w[:, 1], "mean": lambda w: w.mean(1), "max": lambda w: w.max(1)}
    of_layers = by_head[head](weights())  # (layer, token, token)
    expected = of_layers.mean(0) if layer == "mean" else of_layers[3]
    shown = run("heatmap", layer=layer, head=head)["table"].values  # noqa: PD011 - no table of pandas
    np.testing.assert_allclose(shown, expected, atol=1e-6)


def test_what_the_table_hides_and_renormalises_is_hidden_in_the_code() -> None:
    inner = weights()[3, 1, 1:-1, 1:-1]  # without [CLS] and [SEP]
    table = run("heatmap", hide=True, renorm=True)["table"]
    np.testing.assert_allclose(table.values, inner / inner.sum(1, keepdims=True), atol=1e-6)
    scores = run("heatmap", values="scores", renorm=True, words=True)["table"]
    expected = trace_text(load("bundled/minilm"), TEXT).scores(3, 1)
    np.testing.assert_allclose(scores.values, expected, atol=1e-5)


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> dict[str, pd.DataFrame]:
    """The CSV files that a page offers, by how their names end."""
    offered: dict[str, pd.DataFrame] = {}
    offer = st.download_button

    def keep(label: str, data: Any, *, file_name: str, **options: Any) -> bool:
        if file_name.endswith(".csv"):
            offered["csv"] = pd.read_csv(io.StringIO(data()), comment="#")
        return offer(label, data, file_name=file_name, **options)

    monkeypatch.setattr(st, "download_button", keep)
    return offered


def shared(page: str, **link: str) -> tuple[AppTest, dict[str, Any]]:
    """The page that a link opens, and what the code behind its Share computes."""
    app = open_app(page, **{"text": TEXT, "layer": "4", **link})
    state = app.session_state
    values = {key: state[key] for key in state["_controls"] if key in state}
    names: dict[str, Any] = {}
    exec(python_code(page, values), names)  # noqa: S102 - it is what is tested
    return app, names


@pytest.mark.parametrize(
    "options",
    [
        {"head": "mean"},
        {"draw": "queries", "head": "3", "special": "1", "norm": "0", "align": "1"},
        {"draw": "hidden states", "show": "one layer", "space": "1"},
        {"show": "play", "of": "2,5"},
    ],
    ids=" ".join,
)
def test_the_planes_are_those_of_the_page(
    files: dict[str, pd.DataFrame], options: dict[str, str]
) -> None:
    _, names = shared("vectors", **options)
    points = names["planes"].coordinates
    shown = files["csv"][list("xyz"[: points.shape[-1]])]
    np.testing.assert_allclose(points.reshape(shown.shape), shown, atol=2e-6)
    assert len(files["csv"].columns) == 3 + points.shape[-1]


def test_the_projection_is_that_of_the_page() -> None:
    app, names = shared("projection", a="it", b="said")
    lines = json.loads(app.get("plotly_chart")[0].proto.spec)["data"]
    (drawn,) = (line["y"] for line in lines if line["name"].startswith("along, in the plane"))
    shown = np.frombuffer(base64.b64decode(drawn["bdata"]), drawn["dtype"])  # as plotly packs it
    np.testing.assert_allclose(names["projection"].in_plane, shown, atol=1e-6)


def test_the_search_is_that_of_the_page() -> None:
    app, names = shared("query_key", head="2", part="search", a_range="1", c_range="3", steps="5")
    (best,) = re.findall(r"Best: a = (.+), c = (.+), \|r\| = ([\d.]+)", said(app))
    search = names["search"]
    expected = [f"{search.a:.3g}", f"{search.c:.3g}", f"{abs(search.correlation):.5f}"]
    assert [each.replace("−", "-") for each in best] == expected
    trace = names["trace"]
    moved = trace.queries[3, 1].mean(0) - trace.keys[3, 1].mean(0)
    np.testing.assert_allclose(names["a"], moved, atol=1e-5)


@pytest.mark.parametrize(
    ("page", "options"),
    [
        ("patterns", {"min_previous": "0.2"}),
        ("patterns", {"source": "corpus"}),
        ("anomalies", {}),
        ("anomalies", {"source": "corpus"}),
    ],
)
def test_tables_are_those_of_the_page(
    files: dict[str, pd.DataFrame], page: str, options: dict[str, str]
) -> None:
    _, names = shared(page, **options, text="The dog saw the cat, and it ran away from the cat.")
    table, shown = names["table"], files["csv"]
    numbers = [name for name in shown if shown[name].dtype.kind in "if" and name in table]
    assert len(numbers) > 8
    np.testing.assert_allclose(table[numbers], shown[numbers], rtol=2e-3, atol=1e-5)
    if page == "patterns":
        assert list(table["class"]) == list(shown["class"])


def test_the_atlas_is_of_the_corpus_that_the_page_draws() -> None:
    names = run("atlas")
    assert set(names["sentences"]) <= set(sample_sentences())
    assert 800 < len(names["atlas"].tokens) <= 1000
    assert names["atlas"].points["raw"].shape[:2] == (6, 12)


def test_two_texts_are_those_of_the_page() -> None:
    names = run("head_view", pair="Nobody came.")
    assert {token.segment for token in names["trace"].tokens if not token.special} == {0, 1}
    assert names["attention"].shape[0] == 12


def test_hostile_text_stays_a_string() -> None:
    hostile = '\'); raise SystemExit #\n"""{layer}'
    assert run("heatmap", text=hostile)["trace"].shape[0] == 6


def test_a_long_text_is_cut_as_on_the_page() -> None:
    assert "max_tokens=1024" in python_code("heatmap", {**STATE, "text": "word " * 400})


@pytest.mark.parametrize(
    ("link", "token", "direction"),
    [
        ({"head": "2"}, None, "from"),
        ({"head": "mean", "patch": "r3c5"}, "r3c5", "from"),
        ({"head": "max", "patch": "cls", "direction": "to"}, "[CLS]", "to"),
        ({"head": "2", "patch": "r1c1", "direction": "to", "only_patches": True}, "r1c1", "to"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, dict) else str(value),
)
def test_the_patches_are_those_of_the_page(
    link: dict[str, Any], token: str | None, direction: str
) -> None:
    state = {"model": "bundled/vit-scenes", "input": "image", "image": "three-shapes", **link}
    names = run("images", **state)
    trace = names["trace"]
    first = trace.patches.first
    texts = [each.text for each in trace.tokens]
    place = names["token"] if token is None else texts.index(token)
    if token is None:  # the patch of the strangest colour
        colours = trace.patches.colours
        strange = ((colours - colours.mean(axis=0)) ** 2).sum(axis=1)
        assert place == first + strange.argmax()
    heads = trace.attention(3).astype(float)  # (head, query, key); the link's layer 4
    if link.get("only_patches"):
        heads /= heads[:, :, first:].sum(axis=2, keepdims=True)
    lines = heads[:, place, first:] if direction == "from" else heads[:, first:, place]
    by_head = {"2": lines[1], "mean": lines.mean(0), "max": lines.max(0)}
    shape = trace.patches.rows, trace.patches.columns
    np.testing.assert_allclose(names["weights"], by_head[link["head"]].reshape(shape), atol=1e-6)
