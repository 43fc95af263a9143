"""Where q, k, v and W_O sit, against the modules of tiny models and of the bundled ones."""

from __future__ import annotations

from typing import Any

import pytest

from core.model.weights.structure import LinearMap, Positions, structure_of
from tests.conftest import ModelOf
from tests.model.bundled import loaded


def test_the_bundled_bert_is_described_as_its_card_has_it() -> None:
    structure = structure_of(loaded("bundled/minilm"))
    (stack,) = structure.stacks
    (attention,) = stack.attention
    shape = (stack.layers, attention.heads, attention.kv_heads, attention.dim)
    assert shape == (6, 12, 12, 32)
    assert (structure.width, stack.mlp_width, structure.vocabulary) == (384, 1536, 30522)
    assert stack.positions == Positions("learned", 512)
    layer = "encoder.layer.0.attention"
    assert attention.projections == {
        "q": LinearMap(f"{layer}.self.query", 384, 384),
        "k": LinearMap(f"{layer}.self.key", 384, 384),
        "v": LinearMap(f"{layer}.self.value", 384, 384),
        "o": LinearMap(f"{layer}.output.dense", 384, 384),
    }
    assert "(0-5): 6 x BertLayer" in structure.text


@pytest.mark.parametrize(
    "family", ["bert", "distilbert", "albert", "opt", "llama", "phi", "gemma2"]
)
def test_every_map_takes_and_gives_what_its_role_says(model_of: ModelOf, family: str) -> None:
    model = model_of(family)
    structure = structure_of(model)
    (attention,) = structure.stacks[0].attention
    sizes = {role: (each.inputs, each.outputs) for role, each in attention.projections.items()}
    queries, keys, width = model.heads * model.dim, model.kv_heads * model.dim, structure.width
    into_keys = (width, keys)
    assert sizes == {"q": (width, queries), "k": into_keys, "v": into_keys, "o": (queries, width)}


@pytest.mark.parametrize(
    ("family", "positions", "first", "cross"),
    [
        ("t5", ("relative", 32), "block.0.layer.0.SelfAttention", "block.0.layer.1.EncDec"),
        ("bart", ("learned", 66), "layers.0.self_attn", "layers.0.encoder_attn"),
    ],
)
def test_an_encoder_decoder_has_two_stacks_and_three_kinds_of_attention(
    model_of: ModelOf, family: str, positions: Any, first: str, cross: str
) -> None:
    """Both tiny networks have 2 layers of 4 heads x 8 dims, 32 numbers a token, 48 inside."""
    encoder, decoder = structure_of(model_of(family)).stacks
    assert [each.attention_type for each in encoder.attention] == ["encoder"]
    assert [each.attention_type for each in decoder.attention] == ["decoder", "cross"]
    for stack in (encoder, decoder):
        assert (stack.layers, stack.mlp_width, stack.positions) == (2, 48, Positions(*positions))
    names = f"encoder.{first}", f"decoder.{first}", f"decoder.{cross}"
    for attention, name in zip((*encoder.attention, *decoder.attention), names, strict=True):
        assert (attention.heads, attention.dim) == (4, 8)
        assert list(attention.projections) == ["q", "k", "v", "o"]
        for each in attention.projections.values():
            assert (each.inputs, each.outputs) == (32, 32)
            assert each.name.startswith(name)
