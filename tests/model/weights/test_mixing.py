"""The share of each token in another after attention, against loops over tokens and heads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch

from core.model import trace_text
from core.model.weights import mixing
from core.model.weights.mixing import token_mixing
from tests.model.families import SENTENCES
from tests.model.weights.test_projections import written_by

if TYPE_CHECKING:
    from core.model.running.loaded import LoadedModel
    from tests.conftest import ModelOf

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
