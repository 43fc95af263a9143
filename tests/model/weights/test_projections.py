"""What heads write and read, from the weights, against the networks' own passes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from core.analysis.anomalies.contribution import contribution_norms
from core.model import LoadedModel, load, trace_text
from core.model.trace import Trace
from core.model.weights import mixing
from core.model.weights.mixing import token_mixing
from core.model.weights.output_projection import output_projections, transformed_norms
from core.model.weights.query_key import query_key_weights, weight_similarity
from tests.conftest import ModelOf
from tests.model.families import SENTENCES
from tests.model.sweep.tiny import build
from tests.rounding import assert_same_pass

# Of each family the attention block's module in layer 2, whose output is that of W_O before the
# residual is added, and the module that receives what queries and keys are made of.
_BERT, _LLAMA = "encoder.layer.1.attention", "layers.1.self_attn"
_ALBERT = "encoder.albert_layer_groups.0.albert_layers.0.attention"
_BERTS = ("bert", "roberta", "xlm-roberta", "electra")
_LLAMAS = ("llama", "qwen2", "qwen3", "mistral", "gemma2", "phi")
MODULES = {
    **dict.fromkeys(_BERTS, (f"{_BERT}.output.dense", f"{_BERT}.self.query")),
    **dict.fromkeys(_LLAMAS, (_LLAMA, f"{_LLAMA}.q_proj")),
    "distilbert": ("transformer.layer.1.attention", "transformer.layer.1.attention.q_lin"),
    "albert": (f"{_ALBERT}.dense", f"{_ALBERT}.query"),
    "modernbert": ("layers.1.attn", "layers.1.attn.Wqkv"),
    "gpt2": ("h.1.attn", "h.1.attn.c_attn"),
    "gpt_neox": ("layers.1.attention", "layers.1.attention.query_key_value"),
    "opt": ("decoder.layers.1.self_attn", "decoder.layers.1.self_attn.q_proj"),
}
LAYER = 1


def passed(model: LoadedModel, name: str, text: str) -> tuple[torch.Tensor, torch.Tensor]:
    """What the module got and gave in layer 2, (token, width) each."""
    seen: list[tuple[torch.Tensor, torch.Tensor]] = []

    def keep(_module: Any, inputs: Any, named: Any, output: Any) -> None:
        got = inputs[0] if inputs else named["hidden_states"]
        given = output[0] if isinstance(output, tuple) else output
        seen.append((got[0].detach().clone(), given[0].detach()))

    handle = model.network.get_submodule(name).register_forward_hook(keep, with_kwargs=True)
    trace_text(model, text)
    handle.remove()
    return seen[LAYER if len(seen) > 1 else 0]


def written_by(model: LoadedModel, trace: Trace, layer: int, head: int) -> Any:
    """f(v_j) of one head, float32 (token, width)."""
    weight = output_projections(model)[layer][head].detach()  # type: ignore[index]
    return trace.kv_values[layer, head // trace.group, :, : len(weight)] @ weight.numpy()


@pytest.mark.parametrize("family", MODULES)
def test_contributions_add_up_to_the_blocks_output(model_of: ModelOf, family: str) -> None:
    model, text = model_of(family), SENTENCES[0]
    trace = trace_text(model, text)
    norms = transformed_norms(model, trace)
    assert norms is not None
    bias = model.network.get_submodule((model.outputs or ())[LAYER]).bias
    total: Any = 0.0 if bias is None else bias.detach().numpy()
    for head, attention in enumerate(trace.attention(LAYER)):
        written = written_by(model, trace, LAYER, head)
        own = np.linalg.norm(written, axis=1)
        np.testing.assert_allclose(norms[LAYER, head], own, rtol=1e-5, atol=1e-7)
        total = total + attention @ written  # the sum over keys of a_ij f(v_j)
    np.testing.assert_allclose(total, passed(model, MODULES[family][0], text)[1], atol=1e-5)


@pytest.mark.parametrize("family", ["bert", "llama"])
def test_without_w_o_values_count_by_their_own_norm(model_of: ModelOf, family: str) -> None:
    trace = trace_text(model_of(family), SENTENCES[0])
    own = np.linalg.norm(trace.kv_values, axis=-1).repeat(trace.group, axis=1)
    assert_same_pass(contribution_norms(trace), own)


def test_alberts_groups_take_turns_as_in_its_forward_pass(tmp_path: Path) -> None:
    build("albert", tmp_path, num_hidden_groups=2)
    group = "encoder.albert_layer_groups.{}.albert_layers.0.attention.dense"
    assert load(str(tmp_path)).outputs == tuple(map(group.format, (0, 0, 1, 1)))


# Rotation leaves the first position alone: there, families without biases compare directly, and
# those with biases by the difference between two texts.
ROTARY = {"modernbert", "llama", "mistral", "gemma2"}
ROTARY_WITH_BIASES = {"gpt_neox", "qwen2", "phi"}
SCALED_QUERIES = {"opt"}  # scaled before attention sees them


@pytest.mark.parametrize("kind", ["queries", "keys"])
@pytest.mark.parametrize("family", [name for name in MODULES if name != "qwen3"])  # norms follow
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
        sides.append(((passed(model, MODULES[family][1], text)[0] @ weight).numpy(), recorded))
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
    expected = [
        [
            np.corrcoef(query.ravel(), keys[head // (model.heads // model.kv_heads)].ravel())[0, 1]
            for head, query in enumerate(queries)
        ]
        for queries, keys in pairs
    ]
    np.testing.assert_allclose(similarity, expected, atol=1e-5)


def shares_by_hand(model: LoadedModel, trace: Trace, layer: int) -> Any:
    """How much nearer to its sum each token's part of another brings nothing, divided by rows."""
    assert trace.hidden_states is not None
    states = trace.hidden_states[layer].astype(float)
    written = [written_by(model, trace, layer, head) for head in range(model.heads)]
    parts = np.einsum("hij,hjw->ijw", trace.attention(layer).astype(float), written)
    parts[np.diag_indices(len(states))] += states
    whole = parts.sum(axis=1, keepdims=True)
    nearer = np.linalg.norm(whole, 1, axis=2) - np.linalg.norm(whole - parts, 1, axis=2)
    nearer = nearer.clip(min=0)
    return nearer / nearer.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("name", ["gpt2", "bert", "llama", "gpt_oss"])
def test_shares_are_those_of_all_parts_at_once(
    model_of: ModelOf, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mixing, "_MAX_NUMBERS", 1000)  # a few keys at a time
    model = model_of(name)
    trace = trace_text(model, SENTENCES[2])
    found = token_mixing(model, trace)
    assert found is not None
    for layer, shares in enumerate(found):
        np.testing.assert_allclose(shares, shares_by_hand(model, trace, layer), atol=1e-5)


def test_what_cannot_be_said_is_not(
    model_of: ModelOf, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    gemma = model_of("gemma2")  # a norm between W_O and the residual stream
    assert token_mixing(gemma, trace_text(gemma, SENTENCES[2])) is None
    bart = model_of("bart")
    assert token_mixing(bart, trace_text(bart, SENTENCES[2]).of_type("cross")) is None
    build("qwen3_next", tmp_path)  # multiplies what heads give by a gate
    gated = load(str(tmp_path))
    assert output_projections(gated) is None
    assert transformed_norms(gated, trace_text(gated, SENTENCES[0])) is None
    bert = model_of("bert")
    monkeypatch.setattr(bert.network.config, "model_type", "unheard of")
    assert output_projections(bert) is not None
    assert query_key_weights(bert) is None
    assert weight_similarity(bert) is None
