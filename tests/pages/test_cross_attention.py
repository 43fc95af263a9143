"""Pages on which a decoder's tokens attend to an encoder's: two lists of tokens, of two lengths."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.model import load, trace_text
from core.vocabulary import labels_of
from tests.opening import open_app
from tests.pages.conftest import alerts, hints, press_example, said, sent
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


def test_the_head_views_positions_count_within_their_own_list(folder: str) -> None:
    trace = cross(folder)
    last = str(len(trace.key_tokens))
    app = visit("head_view", folder, to=last, without_keys=f"2,{last}", without="3")
    view = sent(app, "head_view")["view"]
    assert (view["to"], view["without"], view["without_keys"]) == ([int(last)], [3], [2, int(last)])
    assert app.query_params["without_keys"] == f"2,{last}"
    app = open_app(
        "head_view",
        model=folder,
        text=TEXT,
        attention="cross",
        decoder=TARGET,
        **{"from": last},
    )
    assert f"This link asks for from `{last}`" in alerts(app)
    app = visit("head_view", folder, attention="encoder")
    assert "without_keys" not in sent(app, "head_view")["view"]


def test_the_head_view_says_of_a_head_what_the_keys_alone_decide(folder: str) -> None:
    trace = cross(folder)
    view = sent(visit("head_view", folder), "head_view")
    names = view["scoreNames"]
    assert names == ["first", "delimiter", "entropy"]
    scores = view["scores"].reshape(2, 4, 3)
    weights = trace.attention().astype(np.float64)
    np.testing.assert_allclose(scores[..., 0], weights[..., 0].mean(axis=-1), rtol=1e-5)
    marks = [each.special or each.display in {",", "."} for each in trace.key_tokens]
    assert sum(marks) == 4  # <s>, the comma, the full stop, </s>
    shares = weights[..., marks].sum(axis=-1).mean(axis=-1)
    np.testing.assert_allclose(scores[..., 1], shares, rtol=1e-5)
    entropy = -(weights * np.log(weights)).sum(axis=-1) / np.log(len(marks))
    np.testing.assert_allclose(scores[..., 2], entropy.mean(axis=-1), rtol=1e-4)


def test_pairs_are_offered_where_your_text_has_two_sentences(folder: str) -> None:
    for page in ("head_view", "model_view", "neuron_view"):
        key = "pairs" if page == "head_view" else "filter"
        app = visit(page, folder, two="1", pair=PAIR, **{key: "ab"})
        assert app.query_params[key] == "ab"
        app = open_app(
            page,
            model=folder,
            text=TEXT,
            pair=PAIR,
            attention="cross",
            decoder=TARGET,
            **{key: "ba"},
        )
        assert "The pairs are: `all`, `aa`, `ab`" in alerts(app)


def test_examples_of_the_head_view_set_what_they_say(folder: str) -> None:
    trace = cross(folder)
    app = visit("head_view", folder)
    press_example(app, "head_view", "One head, one word")
    assert "the strongest link between a word of the decoder and another one of your text" in hints(
        app
    )
    layer, head, query = (int(app.query_params[key]) for key in ("layer", "heads", "from"))
    words = [
        [not each.special and any(map(str.isalpha, each.display)) for each in side]
        for side in (trace.tokens, trace.key_tokens)
    ]
    names = [
        np.array([each.display.lower() for each in side])
        for side in (trace.tokens, trace.key_tokens)
    ]
    ordinary = np.array(words[0])[:, None] & np.array(words[1]) & (names[0][:, None] != names[1])
    best = np.where(ordinary, trace.attention(), 0)
    where = np.unravel_index(best.argmax(), best.shape)
    assert [layer - 1, head - 1, query - 1] == [int(each) for each in where[:3]]
    assert "The token before" not in [button.label for button in app.button]
    press_example(app, "head_view", "What attention brings")
    assert app.query_params["weigh"] == "value"


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


def test_the_model_view_hides_special_tokens_of_both_lists(folder: str) -> None:
    app = visit("model_view", folder, hide="1", sort="similarity")
    view = sent(app, "model_view")
    assert {"<s>", "</s>"}.isdisjoint([*view["rows"]["labels"], *view["columns"]["labels"]])
    assert view["shape"] == {"rows": 5, "columns": 18}
    assert "4 special tokens are hidden" in said(app)
    assert "Attention to tokens that are left out is missing" in said(app)


def test_the_model_view_looks_for_what_the_key_alone_decides(folder: str) -> None:
    app = open_app(
        "model_view",
        model=folder,
        text=TEXT,
        attention="cross",
        decoder=TARGET,
        pattern="previous",
        sort="entropy",
    )
    assert "What can be highlighted is: `none`, `delimiters`, `broad`" in alerts(app)
    press_example(app, "model_view", "Where does attention rest?")
    assert "**Delimiters:" in said(app)
    weights = cross(folder).attention().astype(np.float64)
    marks = [each.special or each.display in {",", "."} for each in cross(folder).key_tokens]
    score = weights[..., marks].sum(axis=-1).mean(axis=-1).max()
    assert f"{score:.2f}" in said(app)
    assert "previous token" not in said(app).partition("- **")[0]  # where the glossary begins


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
    assert (view["query"], view["pairKey"]) == (6, 19)
    assert app.selectbox(key="query").options[1:] == queries
    assert app.selectbox(key="key_token").options[1:] == keys
    assert "Queries are the decoder's" in said(app)


def test_examples_of_the_neuron_view_name_tokens_of_their_own_list(folder: str) -> None:
    trace = cross(folder)
    app = visit("neuron_view", folder)
    press_example(app, "neuron_view", "A key that attracts every query")
    layer, head, query, key = (
        int(app.query_params[name]) - 1 for name in ("layer", "head", "query", "key_token")
    )
    weights = trace.attention()
    means = weights.mean(axis=2)
    assert means[layer, head, key] == pytest.approx(means.max())
    assert query == weights[layer, head, :, key].argmax()
    name = labels_of(trace.key_tokens)[key]
    assert f"Gives {means.max():.2f} to `{name}` on average" in hints(app)
    assert "One token back" not in [button.label for button in app.button]
