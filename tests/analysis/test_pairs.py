"""Who may see whom, and the attention that follows, against formulas and the models themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.typing import NDArray

from core.analysis.pairs import permitted
from core.model import trace_text
from core.model.trace import Layer, Trace
from tests.analysis.traces import additive, made_trace
from tests.model.families import SENTENCES

if TYPE_CHECKING:
    from tests.conftest import ModelOf, OracleOf

numbers_only = pytest.mark.filterwarnings("error")
TEXT = SENTENCES[1]


def trace_of(
    seed: int,
    size: int = 6,
    *,
    key_heads: int = 4,
    mask: Any = None,
    scaling: float = 0.5,
    softcap: float | None = None,
) -> Trace:
    """Two random layers that share one rule."""
    rng = np.random.default_rng(seed)
    queries, keys = (rng.normal(0.3, 1, (2, count, size, 3)) for count in (4, key_heads))
    return made_trace(queries, keys, mask=mask, scaling=scaling, softcap=softcap)


def causal(size: int) -> NDArray[np.bool_]:
    return np.array([[j <= i for j in range(size)] for i in range(size)])


def test_scores_are_dot_products_scaled_then_capped_then_masked() -> None:
    masks = np.array([[[0, -np.inf], [0, 0]], [[0, 0], [3, 0]]], dtype=np.float32)
    products = np.array([[2.0, 4.0], [6.0, 8.0]])
    plain = Layer(0.5, masks[0]).logits(products.copy())
    assert plain.tolist() == [[1, -np.inf], [3, 4]]
    assert Layer(0.5, masks).logits(products.copy(), 1).tolist() == [[1, 2], [6, 4]]
    capped = Layer(0.5, None, softcap=2.0).logits(products.copy())
    assert capped == pytest.approx(2 * np.tanh(np.array([[0.5, 1.0], [1.5, 2.0]])))


@numbers_only
@pytest.mark.parametrize("size", [1, 7])
def test_only_a_mask_of_minus_infinity_forbids_a_pair(size: int) -> None:
    bias = np.random.default_rng(2).normal(size=(size, size)).astype(np.float32)
    for mask in (None, bias):
        np.testing.assert_array_equal(
            permitted(trace_of(0, size, mask=mask), 1, 2), np.ones((size, size), bool)
        )
    trace = trace_of(0, size, mask=additive(causal(size)))
    np.testing.assert_array_equal(permitted(trace, 0, 3), causal(size))


@numbers_only
def test_a_mask_of_its_own_is_read_for_each_head() -> None:
    seen = np.random.default_rng(1).random((4, 6, 6)) < 0.6
    seen |= np.eye(6, dtype=bool)
    trace = trace_of(0, mask=additive(seen))
    for head in range(4):
        np.testing.assert_array_equal(permitted(trace, 1, head), seen[head])


@pytest.mark.parametrize("name", ["gpt2", "mistral", "gemma2"])
def test_a_familys_pairs_are_those_its_own_attention_uses(
    name: str, model_of: ModelOf, oracle_of: OracleOf
) -> None:
    trace, weights = trace_text(model_of(name), TEXT), oracle_of(name).attention(TEXT)
    for layer, head in np.ndindex(trace.shape[:2]):
        np.testing.assert_array_equal(permitted(trace, layer, head), weights[layer, head] > 0)
