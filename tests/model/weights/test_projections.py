"""What heads write and read, from the weights, against the networks' own passes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch

from core.analysis.anomalies.contribution import value_norms
from core.model import load, trace_text
from core.model.weights import mixing
from core.model.weights.mixing import token_mixing
from core.model.weights.output_projection import output_projections, transformed_norms
from core.model.weights.query_key import query_key_weights, weight_similarity
from tests.model.families import SENTENCES
from tests.model.sweep.tiny import build
from tests.rounding import assert_same_pass

if TYPE_CHECKING:
    from pathlib import Path

    from core.model import LoadedModel
    from core.model.trace import Trace
    from tests.conftest import ModelOf

# The attention block's module in each family, in layer 2; its output is that of W_O, before the
# residual is added.
_BERT, _LLAMA = "encoder.layer.1.attention.output.dense", "layers.1.self_attn"
BLOCKS = {
    **dict.fromkeys(("bert", "roberta", "xlm-roberta", "electra"), _BERT),
    **dict.fromkeys(("llama", "qwen2", "qwen3", "mistral", "gemma2", "phi"), _LLAMA),
    "distilbert": "transformer.layer.1.attention",
    "albert": "encoder.albert_layer_groups.0.albert_layers.0.attention.dense",
    "modernbert": "layers.1.attn",
    "gpt2": "h.1.attn",
    "gpt_neox": "layers.1.attention",
    "opt": "decoder.layers.1.self_attn",
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


def bias_of(model: LoadedModel, name: str) -> Any:
    module = model.network.get_submodule(name)
    for ending in ("", "out_lin", "Wo", "c_proj", "dense", "out_proj", "o_proj"):
        inner: Any = dict(module.named_modules()).get(ending)
        if isinstance(getattr(inner, "weight", None), torch.Tensor):
            return 0.0 if inner.bias is None else inner.bias.detach().numpy()
    raise AssertionError(f"no output projection in {name}")


@pytest.mark.parametrize("family", BLOCKS)
def test_contributions_add_up_to_the_blocks_output(model_of: ModelOf, family: str) -> None:
    model, text = model_of(family), SENTENCES[0]
    trace = trace_text(model, text)
    norms = transformed_norms(model, trace)
    assert norms is not None
    total: Any = bias_of(model, BLOCKS[family])
    for head in range(model.heads):
        written = written_by(model, trace, LAYER, head)
        own = np.linalg.norm(written, axis=1)
        np.testing.assert_allclose(norms[LAYER, head], own, rtol=1e-5, atol=1e-7)
        weights = trace.attention(LAYER, head)
        vectors = weights[:, :, None] * written[None]  # a_ij f(v_j), (query, key, width)
        total = total + vectors.sum(axis=1)
    np.testing.assert_allclose(total, passed(model, BLOCKS[family], text)[1], atol=1e-5)


@pytest.mark.parametrize("family", ["bert", "llama"])
def test_without_w_o_values_count_by_their_own_norm(model_of: ModelOf, family: str) -> None:
    trace = trace_text(model_of(family), SENTENCES[0])
    norms = value_norms(trace)
    assert norms.shape == trace.shape[:3]
    for layer, head in np.ndindex(*trace.shape[:2]):
        own = trace.kv_values[layer, head // trace.group]
        assert_same_pass(norms[layer, head], np.linalg.norm(own, axis=1))


def test_an_unknown_family_has_w_o_and_no_weights_of_queries_and_keys(
    model_of: ModelOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = model_of("bert")
    monkeypatch.setattr(model.network.config, "model_type", "unheard of")
    assert output_projections(model) is not None
    assert query_key_weights(model) is None
    assert weight_similarity(model) is None


def test_heads_that_pass_a_gate_have_no_w_o(tmp_path: Path) -> None:
    build("qwen3_next", tmp_path)  # multiplies what they give by a gate
    model = load(str(tmp_path))
    assert output_projections(model) is None
    assert transformed_norms(model, trace_text(model, SENTENCES[0])) is None


def test_alberts_groups_take_turns_as_in_its_forward_pass(tmp_path: Path) -> None:
    build("albert", tmp_path, num_hidden_groups=2)
    group = "encoder.albert_layer_groups.{}.albert_layers.0.attention.dense"
    assert load(str(tmp_path)).outputs == tuple(map(group.format, (0, 0, 1, 1)))


# The module in layer 2 that receives what queries and keys are made of.
_QUERY, _Q_PROJ = "encoder.layer.1.attention.self.query", "layers.1.self_attn.q_proj"
RECEIVERS = {
    **dict.fromkeys(("bert", "roberta", "xlm-roberta", "electra"), _QUERY),
    **dict.fromkeys(("llama", "qwen2", "mistral", "gemma2", "phi"), _Q_PROJ),
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


TEXT = SENTENCES[2]
# Of each family: what takes a layer's residual stream with the output of attention added, and how
# it is fed: by the sum itself, or by a norm of it.
AFTER = {"gpt2": "h.{}.ln_2", "llama": "layers.{}.post_attention_layernorm"}


def by_hand(model: LoadedModel, layer: int) -> tuple[np.ndarray, np.ndarray]:
    """The shares of a layer, and what each token is after attention, without biases."""
    trace = trace_text(model, TEXT)
    assert trace.hidden_states is not None
    states = torch.tensor(trace.hidden_states[layer]).double()
    tokens = len(states)
    parts = torch.zeros((tokens, tokens, states.shape[1]), dtype=torch.float64)
    for head in range(model.heads):
        written: Any = written_by(model, trace, layer, head)
        weights = trace.attention(layer, head)
        for i in range(tokens):
            for j in range(tokens):
                parts[i, j] += float(weights[i, j]) * torch.tensor(written[j]).double()
    for i in range(tokens):
        parts[i, i] += states[i]
    whole = parts.sum(dim=1)
    shares = np.zeros((tokens, tokens))
    for i in range(tokens):
        for j in range(tokens):
            left = (whole[i] - parts[i, j]).abs().sum()
            near = max(float(whole[i].abs().sum() - left), 0.0)
            shares[i, j] = near
        shares[i] /= shares[i].sum()
    return shares, whole.numpy()


@pytest.mark.parametrize("name", ["gpt2", "bert", "llama", "gpt_oss"])
def test_shares_are_those_of_loops_over_tokens_and_heads(
    model_of: ModelOf, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mixing, "_MAX_NUMBERS", 1000)  # a few keys at a time
    model = model_of(name)
    found = token_mixing(model, trace_text(model, TEXT))
    assert found is not None
    np.testing.assert_allclose(found.sum(axis=-1), 1, atol=1e-5)
    for layer in (0, len(found) - 1):
        np.testing.assert_allclose(found[layer], by_hand(model, layer)[0], atol=1e-5)


@pytest.mark.parametrize("family", AFTER)
def test_the_parts_are_of_what_the_model_itself_has_after_attention(
    model_of: ModelOf, family: str
) -> None:
    model, given = model_of(family), []
    module = model.network.get_submodule(AFTER[family].format(1))
    handle = module.register_forward_pre_hook(lambda _, inputs: given.append(inputs[0][0]))
    trace_text(model, TEXT)
    handle.remove()
    biases = [p for n, p in model.network.named_parameters() if n == "h.1.attn.c_proj.bias"]
    bias: Any = sum((each.detach().numpy() for each in biases), np.zeros(1))
    whole = by_hand(model, 1)[1]
    np.testing.assert_allclose(whole + bias, given[0].numpy(), atol=1e-4)


def test_what_cannot_be_said_is_not(model_of: ModelOf) -> None:
    gemma = model_of("gemma2")  # a norm between W_O and the residual stream
    assert token_mixing(gemma, trace_text(gemma, TEXT)) is None
    bart = model_of("bart")
    assert token_mixing(bart, trace_text(bart, TEXT).of_type("cross")) is None
