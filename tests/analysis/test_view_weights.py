"""What the head view gets of a layer: bytes that are the attention, numbers that are exact."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from core.analysis.view_weights import (
    ExactScores,
    ExactWeights,
    LayerWeights,
    layer_weights,
    payload_size,
    permitted_bits,
    quantise,
    sends_scores,
    value_norms,
    weighted_layer,
)
from core.model import trace_text
from tests.analysis.traces import causal_mask, made_trace, random_weights, trace_with_attention
from tests.model.families import FAMILIES, SENTENCES

if TYPE_CHECKING:
    from core.model.trace import Array, Trace
    from tests.conftest import ModelOf, OracleOf

SHORT, LONG = SENTENCES[2], SENTENCES[1]  # on either side of where queries and keys are smaller


def random_trace(
    heads: int, kv_heads: int, size: int, dim: int, mask: Array | None = None, spread: float = 1.0
) -> Trace:
    draw = np.random.default_rng(heads * size)
    queries = spread * draw.normal(size=(1, heads, size, dim))
    keys, values = draw.normal(size=(2, 1, kv_heads, size, dim))
    return made_trace(queries, keys, values, mask=mask, scaling=dim**-0.5)


def recomputed(exact: ExactScores, permitted: np.ndarray | None) -> np.ndarray:
    """The formula of the docstring, in float64, (head, token, token)."""
    heads, size, _ = exact.queries.shape
    keys = np.repeat(exact.keys, heads // len(exact.keys), axis=0).astype(np.float64)
    scores = exact.scaling * np.einsum("hid,hjd->hij", exact.queries.astype(np.float64), keys)
    if exact.softcap is not None:
        scores = exact.softcap * np.tanh(scores / exact.softcap)
    weights: np.ndarray = np.exp(scores - exact.log_sums.astype(np.float64).sum(axis=0)[..., None])
    if permitted is not None:
        weights *= np.unpackbits(permitted)[: size * size].reshape(size, size)
    return weights


def exact_size(sent: LayerWeights) -> int:
    """Bytes of what makes the numbers exact."""
    return sum(each.nbytes for each in vars(sent.exact).values() if isinstance(each, np.ndarray))


# One way to all tokens, left to right, grouped keys, a window, bounded scores.
@pytest.mark.parametrize("name", ["bert", "gpt2", "llama", "mistral", "gemma2"])
def test_the_bytes_are_the_models_own_attention_and_its_numbers_exact(
    name: str, model_of: ModelOf, oracle_of: OracleOf
) -> None:
    for text in (SHORT, LONG):
        trace, expected = trace_text(model_of(name), text), oracle_of(name).attention(text)
        for layer in range(trace.shape[0]):
            sent = layer_weights(trace, layer)
            assert sent.steps.dtype == np.uint8
            # Rounded to the nearest; the last digits of two float32 softmaxes may differ.
            assert np.abs(sent.steps - 255 * expected[layer]).max() <= 0.5 + 255e-5
            if isinstance(sent.exact, ExactWeights):
                assert text == SHORT
                numbers = sent.exact.weights
            else:
                assert len(sent.exact.keys) == FAMILIES[name].key_heads
                numbers = recomputed(sent.exact, sent.permitted).astype(np.float32)
            assert_allclose(numbers, expected[layer], rtol=0, atol=1e-5)


def test_numbers_stay_exact_where_scores_are_in_the_hundreds() -> None:
    trace = random_trace(heads=2, kv_heads=1, size=40, dim=4, spread=150.0)
    assert np.abs(trace.scores(0)).max() > 500
    sent = layer_weights(trace, 0)
    assert isinstance(sent.exact, ExactScores)
    rows = recomputed(sent.exact, sent.permitted).sum(axis=-1)
    assert_allclose(rows, 1, rtol=0, atol=1e-6)


def test_whatever_is_smaller_is_sent() -> None:
    few, many = random_trace(2, 2, 7, 4), random_trace(2, 2, 40, 4)
    assert not sends_scores(few, 0)
    assert sends_scores(many, 0)
    assert exact_size(layer_weights(few, 0)) == 4 * 2 * 7 * 7
    vectors = 4 * (2 * 2 * 40 * 4 + 2 * 2 * 40)
    assert exact_size(layer_weights(many, 0)) == vectors < 4 * 2 * 40 * 40


@pytest.mark.parametrize(("heads", "size"), [(2, 7), (2, 40), (3, 9)])
@pytest.mark.parametrize("causal", [False, True])
def test_the_size_is_known_before_anything_is_computed(heads: int, size: int, causal: bool) -> None:
    trace = random_trace(heads, 1, size, 4, causal_mask(size) if causal else None)
    bits = -(-size * size // 8)  # of what is permitted, which only some models send
    sent = layer_weights(trace, 0)
    assert payload_size(trace, 0) == heads * size * size + exact_size(sent) + bits
    assert (sent.permitted is not None) == causal


def test_scores_with_a_bias_or_a_mask_for_each_head_send_the_weights_themselves() -> None:
    bias = causal_mask(40) + np.linspace(0, 2, 40, dtype=np.float32)
    each_head = np.stack([causal_mask(40), np.zeros((40, 40), dtype=np.float32)])
    for mask in (bias, each_head):
        trace = random_trace(2, 2, 40, 4, mask)
        exact = layer_weights(trace, 0).exact
        assert isinstance(exact, ExactWeights)
        assert_array_equal(exact.weights, trace.attention(0))
        assert payload_size(trace, 0) == (1 + 4) * 2 * 40**2 + 200


def test_a_bit_a_pair_says_what_is_permitted() -> None:
    bits = permitted_bits(causal_mask(3))
    assert bits is not None
    assert np.unpackbits(bits)[:9].tolist() == [1, 0, 0, 1, 1, 0, 1, 1, 1]
    assert permitted_bits(np.stack([causal_mask(3), causal_mask(3).T])) is None  # in one of them
    assert permitted_bits(None) is None


def test_a_byte_is_the_nearest_of_255_steps() -> None:
    weights = np.array([0, 0.5 / 255, 0.51 / 255, 100 / 255, 1], dtype=np.float32)
    assert quantise(weights).tolist() == [0, 0, 1, 100, 255]
    assert quantise(np.array([0, 3, 6], dtype=np.float32), 6.0).tolist() == [0, 128, 255]


def test_weighted_attention_is_scaled_to_the_layers_largest() -> None:
    weights = random_weights(3, 1, 2, 6)
    trace = trace_with_attention(weights)
    norms = np.array([[1, 2, 3, 4, 5, 6], [9, 0, 1, 0, 1, 0]], dtype=np.float32)
    sent = layer_weights(trace, 0, norms)
    products = weights[0] * norms[:, None, :]
    assert sent.top == pytest.approx(products.max(), abs=1e-5)
    assert sent.steps.max() == 255
    assert np.abs(sent.steps - 255 * products / products.max()).max() <= 0.5 + 1e-2
    assert sent.factor is norms
    nothing = layer_weights(trace, 0, np.zeros((2, 6), dtype=np.float32))
    assert nothing.top == 1.0
    assert not nothing.steps.any()


def test_a_weighting_is_chosen_by_its_name() -> None:
    trace = random_trace(heads=4, kv_heads=2, size=5, dim=3)
    lengths = np.sqrt((trace.values[0].astype(np.float64) ** 2).sum(axis=-1))  # shared by two heads
    assert_allclose(value_norms(trace, 0), lengths, rtol=1e-6)
    norms = np.full((1, 4, 5), 2.0, dtype=np.float32)
    assert weighted_layer(trace, 0, "attention").factor is None
    assert_allclose(weighted_layer(trace, 0, "value").factor, lengths, rtol=1e-6)  # type: ignore[arg-type]
    assert_array_equal(weighted_layer(trace, 0, "transformed", norms).factor, norms[0])
    with pytest.raises(ValueError, match="output projection of 'by hand' is not known"):
        weighted_layer(trace, 0, "transformed")
