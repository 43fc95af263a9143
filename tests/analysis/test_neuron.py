"""One head down to its dimensions, against BertViz, eager attention and sums done by hand."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal

from core.analysis.neuron import contributions_of, read_head, strongest_position
from core.model import load, trace_text
from core.model.trace import Layer, Trace
from tests.analysis.traces import plain_tokens, random_weights, trace_with_attention
from tests.model.families import FAMILIES, SENTENCES, build, oracle

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from core.analysis.neuron import NeuronHead

TEXT = SENTENCES[0]
LONG = SENTENCES[1]


def all_weights(one: NeuronHead) -> NDArray[np.float64]:
    return np.stack([one.weights(query) for query in range(len(one.keys))])


# ---- BertViz's own neuron view model ------------------------------------------------------------


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Trace, list[dict[str, Any]]]:
    """A small random BERT through this project, and through the network of BertViz's neuron view.

    BertViz brings its own BertModel, whose attention hands out queries and keys.
    """
    bert = FAMILIES["bert"]
    # Smaller weights than the other tests' keep float32's rounding below the 1e-5 that is asked.
    bert = replace(bert, settings=bert.settings | {"initializer_range": 0.1})
    folder = build(bert, tmp_path_factory.mktemp("bert"))
    trace = trace_text(load(str(folder)), TEXT)
    from bertviz.transformers_neuron_view.modeling_bert import (
        BertConfig,
        BertModel,
    )
    from transformers import AutoModel

    network = AutoModel.from_pretrained(folder)
    config = BertConfig.from_dict(network.config.to_dict())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = BertModel(config)
    missing, unexpected = theirs.load_state_dict(network.state_dict(), strict=False)
    assert missing == []
    assert all("position_ids" in name or "token_type_ids" in name for name in unexpected)
    ids = torch.tensor([[token.id for token in trace.tokens]])
    with torch.no_grad():
        outputs = theirs.eval()(ids)
    layers: list[dict[str, Any]] = outputs[-1]
    return trace, layers


def test_everything_equals_bertvizs_neuron_view(both: tuple[Trace, list[dict[str, Any]]]) -> None:
    trace, layers = both
    assert len(layers) == trace.shape[0]
    assert max(float(each["attn"].max()) for each in layers) > 2 / len(trace.tokens)  # uneven
    for layer, theirs in enumerate(layers):
        queries, keys, attention = (
            theirs[name][0].double().numpy() for name in ("queries", "keys", "attn")
        )
        for head in range(trace.shape[1]):
            one = read_head(trace, layer, head)
            assert_allclose(one.queries, queries[head], atol=1e-5)
            assert_allclose(one.keys, keys[head], atol=1e-5)
            assert_allclose(all_weights(one), attention[head], atol=1e-5)
            for query in range(len(trace.tokens)):
                products = queries[head, query] * keys[head]  # as its script computes them
                assert_allclose(one.products(query), products, atol=1e-5)
                scores = products.sum(axis=1) / math.sqrt(keys.shape[-1])
                assert_allclose(one.scores(query), scores, atol=1e-5)


# ---- every kind of mask, cap and sharing --------------------------------------------------------


@pytest.mark.parametrize("name", ["gpt2", "llama", "gemma2", "mistral", "modernbert"])
def test_softmax_equals_the_models_eager_attention(name: str, tmp_path: Path) -> None:
    folder = build(FAMILIES[name], tmp_path)
    trace = trace_text(load(str(folder)), LONG)
    expected = oracle(folder).attention(LONG)  # (layer, head, token, token)
    for layer, head in np.ndindex(expected.shape[:2]):
        one = read_head(trace, layer, head)
        assert_allclose(all_weights(one), expected[layer, head], atol=1e-5)


def test_grouped_heads_name_those_they_share_keys_with(tmp_path: Path) -> None:
    trace = trace_text(load(str(build(FAMILIES["llama"], tmp_path))), TEXT)
    assert [read_head(trace, 0, head).sharers for head in range(4)] == [
        range(2),
        range(2),
        range(2, 4),
        range(2, 4),
    ]
    assert_array_equal(read_head(trace, 1, 2).keys, read_head(trace, 1, 3).keys)


def small_trace(mask: NDArray[np.float32] | None, softcap: float | None = None) -> Trace:
    q, k, v = np.random.default_rng(4).normal(size=(3, 1, 2, 3, 4)).astype(np.float32)
    rules = (Layer(0.5, mask, softcap),)
    return Trace("by hand", plain_tokens(*"abc"), q, k, v, rules, causal=mask is not None)


def test_a_plain_causal_mask_is_known_as_one_and_another_is_kept() -> None:
    causal = np.triu(np.full((3, 3), -np.inf, dtype=np.float32), 1)
    assert read_head(small_trace(causal), 0, 0).causal
    assert read_head(small_trace(causal), 0, 0).mask is None
    window = causal.copy()
    window[2, 0] = -np.inf
    one = read_head(small_trace(window), 0, 1)
    assert not one.causal
    assert one.permitted(2).tolist() == [False, True, True]
    assert one.weights(2)[0] == 0
    assert read_head(small_trace(np.zeros((3, 3), dtype=np.float32)), 0, 0).mask is None


def test_what_a_mask_adds_is_added_after_the_soft_cap() -> None:
    mask = np.array([[0, -1, -2]] * 3, dtype=np.float32)
    trace = small_trace(mask, softcap=0.7)
    one = read_head(trace, 0, 0)
    dot = float(trace.queries[0, 0, 1].astype(float) @ trace.kv_keys[0, 0, 2].astype(float))
    assert one.scores(1)[2] == pytest.approx(0.7 * math.tanh(0.5 * dot / 0.7) - 2)


def test_a_mask_of_each_head_is_the_heads_own() -> None:
    mask = np.zeros((2, 3, 3), dtype=np.float32)
    mask[1, 0, 2] = -np.inf
    trace = small_trace(mask)
    assert read_head(trace, 0, 0).permitted(0).all()
    assert read_head(trace, 0, 1).permitted(0).tolist() == [True, True, False]


# ---- how many dimensions make a score -----------------------------------------------------------


@pytest.mark.parametrize(
    ("products", "order", "running", "enough"),
    [
        ([1, 6, 3], [1, 2, 0], [6, 9, 10], 2),  # 9 of 10 are 90 %
        ([1, 6, 2.9], [1, 2, 0], [6, 8.9, 9.9], 3),  # 8.9 of 9.9 are 89.9 %
        ([-1, -6, -3], [1, 2, 0], [-6, -9, -10], 2),
        ([10, -4, 1], [0, 1, 2], [10, 6, 7], 3),  # 10 is over, 6 is 1 short of 7
        ([5, -5, 4], [0, 1, 2], [5, 0, 4], 3),
        ([2, 0, 0], [0, 1, 2], [2, 2, 2], 1),
        ([7], [0], [7], 1),
        ([3, -3], [0, 1], [3, 0], None),
        ([0, 0], [0, 1], [0, 0], None),
        ([1e-8, 3, -3], [1, 2, 0], [3, 0, 1e-8], None),  # what float32 cannot tell from zero
    ],
)
def test_dimensions_that_make_a_score(
    products: list[float], order: list[int], running: list[float], enough: int | None
) -> None:
    found = contributions_of(np.array(products, dtype=float))
    assert found.order.tolist() == order
    assert_allclose(found.running, running, atol=1e-12)
    assert found.enough == enough
    assert found.positive == pytest.approx(sum(p for p in products if p > 0))
    assert found.negative == pytest.approx(sum(p for p in products if p < 0))


def test_fewer_dimensions_are_not_enough_and_more_stay_near() -> None:
    draw = np.random.default_rng(11)
    for products in draw.normal(0.3, 1, size=(200, 16)):
        found = contributions_of(products)
        ranked = sorted(products, key=abs, reverse=True)
        whole = math.fsum(products)
        near = [abs(math.fsum(ranked[:m]) - whole) <= 0.1 * abs(whole) for m in range(1, 17)]
        assert found.enough is not None
        assert all(near[found.enough - 1 :])
        assert found.enough == 1 or not near[found.enough - 2]


def test_the_order_of_a_pair_is_that_of_its_own_products() -> None:
    one = read_head(small_trace(None), 0, 0)
    pair = one.contributions(0, 2)
    assert pair.total == pytest.approx(float(one.scores(0)[2]) / 0.5)


# ---- a key that draws everyone ------------------------------------------------------------------


def test_the_position_that_a_head_rests_on() -> None:
    weights = random_weights(5, 2, 3, 6)
    weights[1, 2] = 0.02
    weights[1, 2, :, 4] = 0.9
    *place, mean = strongest_position(trace_with_attention(weights))
    assert place == [1, 2, 4]
    assert mean == pytest.approx(0.9)


def test_a_text_of_one_token_rests_nowhere() -> None:
    assert strongest_position(trace_with_attention(random_weights(5, 1, 1, 1))) == (0, 0, 0, 0.0)
