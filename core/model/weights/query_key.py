"""How alike a head's query and key weights are: W_Q and W_K, as the family names them.

AttentionViz reports that W_Q and W_K of a vision transformer's early heads correlate at 0.94 (Yeh
et al. 2023): queries and keys are then made alike, and scores say how alike two tokens are in what
the head reads of them. The attention interface shows no weights, so this is a table of families.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from core.model.refusal import refusing_to

if TYPE_CHECKING:
    import torch

    from core.model.loaded import LoadedModel
    from core.model.trace import Array

# How the modules of W_Q and W_K are called in each family, from the ends of their names.
_SEPARATE = {
    (".attention.self.query", ".attention.self.key"): ("bert", "roberta", "electra", "xlm-roberta"),
    (".attention.q_lin", ".attention.k_lin"): ("distilbert",),
    (".attention.query", ".attention.key"): ("albert",),
    (".self_attn.q_proj", ".self_attn.k_proj"): (
        *("opt", "llama", "qwen2", "qwen3", "mistral", "gemma2", "phi"),
    ),
}
# One module holds all three; its outputs are q, k, v of all heads, or q, k, v head by head.
_FUSED = {
    "gpt2": (".attn.c_attn", "by kind"),
    "modernbert": (".attn.Wqkv", "by kind"),
    "gpt_neox": (".attention.query_key_value", "by head"),
}
_NAMES = {family: names for names, families in _SEPARATE.items() for family in families}


def projection_endings(family: str) -> dict[Literal["q", "k", "v"], str]:
    """How the names of the modules that make q, k and v end in this family; empty if not known."""
    if family in _FUSED:
        return dict.fromkeys(("q", "k", "v"), _FUSED[family][0])
    if family not in _NAMES:
        return {}
    query, key = _NAMES[family]
    # Values are named as keys are: ".key" and ".value", "k_proj" and "v_proj", "k_lin" and "v_lin".
    value = key.replace(".key", ".value").replace(".k_", ".v_")
    return {"q": query, "k": key, "v": value}


@refusing_to("read")
def query_key_weights(model: LoadedModel) -> list[tuple[torch.Tensor, torch.Tensor]] | None:
    """W_Q and W_K of every layer, (head, dim, width) and (key-value head, dim, width), no biases.

    None where the family is not known, or its modules are not as expected.
    """
    family = model.network.config.model_type
    if family in _FUSED:
        ending, order = _FUSED[family]
        fused = _weights(model, ending)
        found = [_split(weight, model, order) for weight in fused]
    elif family in _NAMES:
        queries, keys = (_weights(model, ending) for ending in _NAMES[family])
        if len(queries) != len(keys):
            return None
        found = [
            (_by_head(query, model.heads), _by_head(key, model.kv_heads))
            for query, key in zip(queries, keys, strict=True)
        ]
    else:
        return None
    # ALBERT uses one module for several layers in a row.
    if not found or model.layers % len(found):
        return None
    return [pair for pair in found for _ in range(model.layers // len(found))]


@refusing_to("read")
def weight_similarity(model: LoadedModel) -> Array | None:
    """Pearson's correlation of the entries of W_Q and W_K of each head, float32 (layer, head).

    Heads that share a key head are each compared with it. None where W_Q and W_K are not known,
    or differ in shape; 0 where one of them is constant.
    """
    import torch

    pairs = query_key_weights(model)
    if pairs is None:
        return None
    rows = []
    with torch.inference_mode():
        for queries, keys in pairs:
            if queries.shape[1:] != keys.shape[1:]:
                return None
            shared = keys.repeat_interleave(model.heads // model.kv_heads, dim=0)
            a, b = (each.double().flatten(1) for each in (queries, shared))
            a, b = a - a.mean(dim=1, keepdim=True), b - b.mean(dim=1, keepdim=True)
            lengths = (a.norm(dim=1) * b.norm(dim=1)).clamp(min=1e-30)
            rows.append(((a * b).sum(dim=1) / lengths).float().cpu().numpy())
    return np.stack(rows)


def _weights(model: LoadedModel, ending: str) -> list[torch.Tensor]:
    """The weights of the modules whose name has this ending, in order, each (out, width)."""
    from transformers.pytorch_utils import Conv1D

    found = []
    for name, module in model.network.named_modules():
        if f".{name}".endswith(ending):
            weight = module.weight.detach()
            found.append(weight.T if isinstance(module, Conv1D) else weight)
    return found


def _split(
    weight: torch.Tensor, model: LoadedModel, order: str
) -> tuple[torch.Tensor, torch.Tensor]:
    if order == "by head":
        parts = weight.unflatten(0, (model.heads, 3, -1))  # type: ignore[no-untyped-call]
        return parts[:, 0], parts[:, 1]
    kinds = weight.unflatten(0, (3, model.heads, -1))  # type: ignore[no-untyped-call]
    return kinds[0], kinds[1]


def _by_head(weight: torch.Tensor, heads: int) -> torch.Tensor:
    return weight.unflatten(0, (heads, -1))  # type: ignore[no-untyped-call, no-any-return]
