"""One head down to its dimensions, against eager attention and sums done by hand."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from core.analysis.neuron import read_head
from core.model import trace_text
from tests.analysis.traces import made_trace
from tests.model.families import SENTENCES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from core.analysis.neuron import NeuronHead
    from core.model.trace import Trace
    from tests.conftest import ModelOf, OracleOf

LONG = SENTENCES[1]


def all_weights(head: NeuronHead) -> NDArray[np.float64]:
    return np.stack([head.weights(query) for query in range(len(head.keys))])


@pytest.mark.parametrize("name", ["llama", "gemma2", "mistral"])
def test_softmax_equals_the_models_eager_attention(
    name: str, model_of: ModelOf, oracle_of: OracleOf
) -> None:
    """Left to right with shared keys, capped scores, a window."""
    trace = trace_text(model_of(name), LONG)
    expected = oracle_of(name).attention(LONG)  # (layer, head, token, token)
    for layer, head in np.ndindex(expected.shape[:2]):
        one = read_head(trace, layer, head)
        assert_allclose(all_weights(one), expected[layer, head], atol=1e-5)
    if name == "llama":
        sharers = [read_head(trace, 0, head).sharers for head in range(4)]
        assert sharers == [range(2), range(2), range(2, 4), range(2, 4)]
        assert_array_equal(read_head(trace, 1, 2).keys, read_head(trace, 1, 3).keys)


def small_trace(mask: NDArray[np.float32] | None, softcap: float | None = None) -> Trace:
    vectors = np.random.default_rng(4).normal(size=(3, 1, 2, 3, 4))
    return made_trace(*vectors, mask=mask, scaling=0.5, softcap=softcap)


def test_what_a_mask_adds_is_added_after_the_soft_cap() -> None:
    mask = np.array([[0, -1, -2]] * 3, dtype=np.float32)
    trace = small_trace(mask, softcap=0.7)
    dot = float(trace.queries[0, 0, 1].astype(float) @ trace.kv_keys[0, 0, 2].astype(float))
    expected = 0.7 * math.tanh(0.5 * dot / 0.7) - 2
    assert read_head(trace, 0, 0).scores(1)[2] == pytest.approx(expected)
