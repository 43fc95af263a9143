"""W_O where a network cannot be loaded by name: groups of ALBERT, and models of pictures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import transformers
from numpy.testing import assert_allclose
from transformers import AlbertConfig, AlbertModel

from core.model.capture import IMPLEMENTATION, layer_rules, recording, register, stack_call_arrays
from core.model.loaded import LoadedModel
from core.model.trace import Trace
from core.model.weights.output_projection import output_projections, transformed_norms
from tests.model.families import HEADS, HIDDEN, SPREAD


def written(network: Any, trace: Trace, layers: int) -> np.ndarray:
    """The sum over heads and keys of a_ij v_j W_O in every layer, float64 (layer, token, width)."""
    weights = output_projections(assembled(network, layers))
    assert weights is not None
    assert len(weights) == layers
    given: np.ndarray = np.stack(
        [
            np.einsum("hij,hjd,hdw->iw", trace.attention(layer), trace.values[layer], weight)
            for layer, weight in enumerate(weights)
        ]
    )
    return given


def assembled(network: transformers.PreTrainedModel, layers: int) -> LoadedModel:
    """A network as `load` would hold it, for those that have no tokenizer."""
    return LoadedModel(
        name="assembled",
        tokenizer=None,  # type: ignore[arg-type]
        network=network,
        device="cpu",
        layers=layers,
        heads=HEADS,
        kv_heads=HEADS,
        dim=HIDDEN // HEADS,
        parameters=0,
        max_tokens=64,
        causal=False,
        probe_error=0.0,
    )


def blocks_and_trace(
    network: transformers.PreTrainedModel, ending: str, **inputs: torch.Tensor
) -> tuple[list[np.ndarray], Trace]:
    """What the attention blocks gave, each (token, width), and the trace of the same pass."""
    seen: list[np.ndarray] = []
    for key, part in network.named_modules():
        if key.endswith(ending):
            part.register_forward_hook(lambda _m, _i, out: seen.append(out[0].numpy()))
    with torch.inference_mode(), recording() as calls:
        network(**inputs)
    keep = np.arange(calls[0].query.shape[2])
    arrays = stack_call_arrays(calls, 0, keep)
    return seen, Trace("assembled", (), *arrays, layer_rules(calls, 0, keep), causal=False)


def without_bias(network: Any) -> Any:
    """The network with its output biases at zero and everything else drawn."""
    torch.manual_seed(1)
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            drawn = torch.randn_like(parameter) * SPREAD
            parameter.copy_(torch.zeros_like(parameter) if name.endswith(".bias") else drawn)
    return network.eval().requires_grad_(requires_grad=False)


def test_alberts_groups_take_their_turns_as_in_its_forward_pass() -> None:
    register()
    config = AlbertConfig(
        vocab_size=50,
        embedding_size=16,
        hidden_size=HIDDEN,
        num_hidden_layers=4,
        num_hidden_groups=2,
        inner_group_num=2,
        num_attention_heads=HEADS,
        intermediate_size=48,
        attn_implementation=IMPLEMENTATION,
    )
    network = without_bias(AlbertModel(config))
    blocks, trace = blocks_and_trace(
        network, "attention.dense", input_ids=torch.arange(10)[None] + 3
    )
    given = written(network, trace, layers=8)
    assert len(blocks) == len(given)
    assert_allclose(given, blocks, atol=1e-5)


@pytest.mark.parametrize("kind", ["ViTConfig", "Dinov2Config"])
def test_image_models_have_their_heads_put_together_alike(kind: str) -> None:
    register()
    config = getattr(transformers, kind)(
        hidden_size=HIDDEN,
        num_hidden_layers=2,
        num_attention_heads=HEADS,
        intermediate_size=48,
        image_size=16,
        patch_size=4,
        attn_implementation=IMPLEMENTATION,
    )
    network = without_bias(transformers.AutoModel.from_config(config))
    torch.manual_seed(2)
    blocks, trace = blocks_and_trace(
        network, "attention.o_proj", pixel_values=torch.randn(1, 3, 16, 16)
    )
    assert_allclose(written(network, trace, layers=2), blocks, atol=1e-5)
    norms = transformed_norms(assembled(network, layers=2), trace)
    weights = output_projections(assembled(network, layers=2))
    assert norms is not None
    assert weights is not None
    expected = np.linalg.norm(np.einsum("htd,hdw->htw", trace.values[1], weights[1]), axis=-1)
    assert_allclose(norms[1], expected, rtol=1e-4, atol=1e-5)
