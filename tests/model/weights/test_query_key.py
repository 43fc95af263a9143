"""W_Q and W_K of each family are the ones that made the recorded queries and keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from core.model import trace_text
from core.model.weights.query_key import query_key_weights, weight_similarity
from tests.model.families import SENTENCES
from tests.model.weights.test_output_projection import LAYER, passed

if TYPE_CHECKING:
    from tests.conftest import ModelOf

# The module in layer 2 that receives what queries and keys are made of.
_BERT, _LLAMA = "encoder.layer.1.attention.self.query", "layers.1.self_attn.q_proj"
RECEIVERS = {
    **dict.fromkeys(("bert", "roberta", "xlm-roberta", "electra"), _BERT),
    **dict.fromkeys(("llama", "qwen2", "mistral", "gemma2", "phi"), _LLAMA),
    "distilbert": "transformer.layer.1.attention.q_lin",
    "albert": "encoder.albert_layer_groups.0.albert_layers.0.attention.query",
    "gpt2": "h.1.attn.c_attn",
    "opt": "decoder.layers.1.self_attn.q_proj",
    "modernbert": "layers.1.attn.Wqkv",
    "gpt_neox": "layers.1.attention.query_key_value",
}
# Rotation leaves the first position alone: there, families without biases compare directly, and
# those with biases by the difference between two texts.
ROTARY = {"modernbert", "llama", "mistral", "gemma2"}
ROTARY_WITH_BIASES = {"gpt_neox", "qwen2", "phi"}
SCALED_QUERIES = {"opt"}  # scaled before attention sees them


@pytest.mark.parametrize("kind", ["queries", "keys"])
@pytest.mark.parametrize("family", RECEIVERS)
def test_the_weights_make_the_recorded_queries_and_keys(
    model_of: ModelOf, family: str, kind: str
) -> None:
    model = model_of(family)
    found = query_key_weights(model)
    assert found is not None
    assert len(found) == model.layers
    weight = found[LAYER][kind == "keys"].swapaxes(1, 2)  # (head, width, dim)
    if kind == "queries" and family in SCALED_QUERIES:
        weight = weight * model.dim**-0.5
    sides = []
    for text in SENTENCES[:2]:
        trace = trace_text(model, text)
        recorded = (trace.queries if kind == "queries" else trace.kv_keys)[LAYER]
        sides.append(((passed(model, RECEIVERS[family], text)[0] @ weight).numpy(), recorded))
    (made, seen), (other_made, other_seen) = sides
    if family in ROTARY:
        made, seen = made[:, :1], seen[:, :1]
    elif family in ROTARY_WITH_BIASES:
        made, seen = made[:, :1] - other_made[:, :1], seen[:, :1] - other_seen[:, :1]
    else:  # a bias is the same for all tokens
        made, seen = made - made[:, :1], seen - seen[:, :1]
    assert np.abs(seen).max() > 1e-2
    np.testing.assert_allclose(made, seen, atol=2e-5)


@pytest.mark.parametrize("family", ["bert", "gpt2", "llama", "gpt_neox"])
def test_similarity_is_the_correlation_of_the_entries(model_of: ModelOf, family: str) -> None:
    model = model_of(family)
    pairs, similarity = query_key_weights(model), weight_similarity(model)
    assert pairs is not None
    assert similarity is not None
    assert similarity.shape == (model.layers, model.heads)
    for layer, head in np.ndindex(*similarity.shape):
        query, keys = pairs[layer][0][head], pairs[layer][1]
        key = keys[head // (model.heads // model.kv_heads)]
        expected = np.corrcoef(query.numpy().ravel(), key.numpy().ravel())[0, 1]
        assert similarity[layer, head] == pytest.approx(expected, abs=1e-5)
