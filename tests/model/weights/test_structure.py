"""Where q, k, v and W_O sit, against the modules of tiny models and of the bundled ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from core.model import load
from core.model.weights.structure import Projection, structure_of
from tests.model.language.checkpoints import build_with_head

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import ModelOf


def test_the_bundled_bert_is_described_as_its_card_has_it() -> None:
    structure = structure_of(load("bundled/minilm"))
    shape = (structure.layers, structure.heads, structure.kv_heads, structure.dim)
    assert shape == (6, 12, 12, 32)
    assert (structure.width, structure.mlp_width, structure.vocabulary) == (384, 1536, 30522)
    layer = "encoder.layer.0.attention"
    assert structure.projections == {
        "q": Projection(f"{layer}.self.query", 384, 384),
        "k": Projection(f"{layer}.self.key", 384, 384),
        "v": Projection(f"{layer}.self.value", 384, 384),
        "o": Projection(f"{layer}.output.dense", 384, 384),
    }
    assert "(0-5): 6 x BertLayer" in structure.text


def test_gpt2_makes_queries_keys_and_values_in_one_module() -> None:
    projections = structure_of(load("bundled/gpt2-novels")).projections
    assert projections["q"] == projections["k"] == projections["v"]
    assert projections["q"] == Projection("h.0.attn.c_attn", 128, 3 * 128)
    assert projections["o"] == Projection("h.0.attn.c_proj", 128, 128)


@pytest.mark.parametrize(
    "family", ["bert", "distilbert", "albert", "opt", "llama", "phi", "gemma2"]
)
def test_every_map_takes_and_gives_what_its_role_says(model_of: ModelOf, family: str) -> None:
    model = model_of(family)
    structure = structure_of(model)
    sizes = {role: (each.inputs, each.outputs) for role, each in structure.projections.items()}
    queries, keys = model.heads * model.dim, model.kv_heads * model.dim
    width = structure.width
    assert sizes == {
        "q": (width, queries),
        "k": (width, keys),
        "v": (width, keys),
        "o": (queries, width),
    }


def test_a_head_is_none_the_embeddings_or_its_own(tmp_path: Path) -> None:
    assert structure_of(load("bundled/minilm")).head == "none"
    assert structure_of(load("bundled/gpt2-novels")).head == "embeddings"
    build_with_head("gpt_neox", "GPTNeoXForCausalLM", tmp_path)
    assert structure_of(load(str(tmp_path))).head == "own"
