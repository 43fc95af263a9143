"""What the heads write adds up to what the model's attention block gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch

from core.model import load, trace_text
from core.model.weights.output_projection import (
    output_projections,
    transformed_norms,
    transformed_values,
)
from tests.model.families import SENTENCES

if TYPE_CHECKING:
    from core.model.loaded import LoadedModel
    from tests.model.conftest import ModelOf

# The attention block's module in each family, one of its layers, and whether its output is W_O's
# own (others add the residual before they return).
BLOCKS = {
    "bert": "encoder.layer.1.attention.output.dense",
    "roberta": "encoder.layer.1.attention.output.dense",
    "xlm-roberta": "encoder.layer.1.attention.output.dense",
    "electra": "encoder.layer.1.attention.output.dense",
    "distilbert": "transformer.layer.1.attention",
    "albert": "encoder.albert_layer_groups.0.albert_layers.0.attention.dense",
    "modernbert": "layers.1.attn",
    "gpt2": "h.1.attn",
    "gpt2 scaled by layer": "h.1.attn",
    "gpt_neox": "layers.1.attention",
    "opt": "decoder.layers.1.self_attn",
    "llama": "layers.1.self_attn",
    "qwen2": "layers.1.self_attn",
    "qwen3": "layers.1.self_attn",
    "mistral": "layers.1.self_attn",
    "gemma2": "layers.1.self_attn",
    "phi": "layers.1.self_attn",
}
LAYER = 1


def outputs_of(model: LoadedModel, name: str, text: str) -> list[torch.Tensor]:
    """What the module gave, (token, width), each time it was called."""
    given: list[torch.Tensor] = []

    def keep(_module: Any, _inputs: Any, output: Any) -> None:
        given.append((output[0] if isinstance(output, tuple) else output)[0].detach())

    module = model.network.get_submodule(name)
    handle = module.register_forward_hook(keep)
    trace_text(model, text)
    handle.remove()
    return given


def bias_of(model: LoadedModel, name: str) -> torch.Tensor | float:
    module = model.network.get_submodule(name)
    for ending in ("", "out_lin", "Wo", "c_proj", "dense", "out_proj", "o_proj"):
        try:
            inner = module.get_submodule(ending)
        except AttributeError:
            continue
        if isinstance(getattr(inner, "weight", None), torch.Tensor):
            return inner.bias if inner.bias is not None else 0.0  # type: ignore[return-value]
    raise AssertionError(f"no output projection in {name}")


@pytest.mark.parametrize("family", BLOCKS)
def test_contributions_of_all_heads_and_tokens_add_up_to_the_blocks_output(
    model_of: ModelOf, family: str
) -> None:
    model, text = model_of(family), SENTENCES[0]
    trace = trace_text(model, text)
    outputs = outputs_of(model, BLOCKS[family], text)
    expected = outputs[LAYER if len(outputs) > 1 else 0]
    total = torch.zeros_like(expected)
    for head in range(model.heads):
        written = transformed_values(model, trace, LAYER, head)
        assert written is not None
        total += torch.from_numpy(trace.attention(LAYER, head) @ written)
    total += bias_of(model, BLOCKS[family])
    np.testing.assert_allclose(total.numpy(), expected.numpy(), atol=1e-5)


@pytest.mark.parametrize("family", ["bert", "gpt2", "llama", "albert", "gemma2"])
def test_norms_are_those_of_the_transformed_values(model_of: ModelOf, family: str) -> None:
    model = model_of(family)
    trace = trace_text(model, SENTENCES[1])
    norms = transformed_norms(model, trace)
    assert norms is not None
    assert norms.shape == trace.shape[:3]
    for layer, head in np.ndindex(*trace.shape[:2]):
        written = transformed_values(model, trace, layer, head)
        assert written is not None
        np.testing.assert_allclose(
            norms[layer, head], np.linalg.norm(written, axis=1), rtol=1e-5, atol=1e-7
        )


def test_the_bundled_model_is_known() -> None:
    model = load("bundled/minilm")
    projections = output_projections(model)
    assert projections is not None
    assert [tuple(each.shape) for each in projections] == [(12, 32, 384)] * 6
    weight = model.network.get_submodule("encoder.layer.0.attention.output.dense").weight
    assert projections[0].untyped_storage().data_ptr() == weight.untyped_storage().data_ptr()  # type: ignore[operator, union-attr]


def test_an_unknown_family_has_no_projection(model_of: ModelOf) -> None:
    model = model_of("bert")
    kind = model.network.config.model_type
    try:
        model.network.config.model_type = "unheard of"
        assert output_projections(model) is None
        assert transformed_norms(model, trace_text(model, SENTENCES[0])) is None
    finally:
        model.network.config.model_type = kind
