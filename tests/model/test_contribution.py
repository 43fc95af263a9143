"""Norm-weighted contributions are lengths of vectors that add up to what the layer gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch

from core.analysis.anomalies.contribution import columns, contributions, value_norms
from core.model import trace_text
from core.model.weights.output_projection import transformed_norms, transformed_values
from tests.model.families import SENTENCES
from tests.model.test_output_projection import BLOCKS, LAYER, bias_of, outputs_of

if TYPE_CHECKING:
    from tests.model.conftest import ModelOf

FAMILIES = ["bert", "gpt2", "llama"]
TEXT = SENTENCES[0]


@pytest.mark.parametrize("family", FAMILIES)
def test_contributions_add_up_to_the_attention_output_and_shares_are_their_lengths(
    model_of: ModelOf, family: str
) -> None:
    model = model_of(family)
    trace = trace_text(model, TEXT)
    outputs = outputs_of(model, BLOCKS[family], TEXT)
    expected = outputs[LAYER if len(outputs) > 1 else 0].numpy()
    norms = value_norms(trace, transformed_norms(model, trace))
    total = np.zeros_like(expected)
    for head in range(model.heads):
        written = transformed_values(model, trace, LAYER, head)
        assert written is not None
        weights = trace.attention(LAYER, head)
        vectors = weights[:, :, None] * written[None]  # a_ij f(v_j), (query, key, width)
        total += vectors.sum(axis=1)
        lengths = np.linalg.norm(vectors, axis=-1)
        shares = lengths * len(lengths) / lengths.sum()
        np.testing.assert_allclose(contributions(weights, norms[LAYER, head]), shares, atol=1e-5)
        np.testing.assert_allclose(
            columns(trace, transformed_norms(model, trace)).contribution[LAYER, head],
            shares.mean(axis=0),
            atol=1e-5,
        )
    bias = bias_of(model, BLOCKS[family])
    total += bias.detach().numpy() if isinstance(bias, torch.Tensor) else bias
    np.testing.assert_allclose(total, expected, atol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_without_w_o_values_count_by_their_own_length(model_of: ModelOf, family: str) -> None:
    trace = trace_text(model_of(family), TEXT)
    norms = value_norms(trace)
    assert norms.shape == trace.shape[:3]
    for layer, head in np.ndindex(*trace.shape[:2]):
        own = trace.kv_values[layer, head // trace.group]
        np.testing.assert_allclose(norms[layer, head], np.linalg.norm(own, axis=1), rtol=1e-6)
