"""How similar a head's query and key weights are: W_Q and W_K.

AttentionViz reports that W_Q and W_K of a vision transformer's early heads correlate at 0.94 (Yeh
et al. 2023): queries and keys are then computed alike, and scores say how similar two tokens are in
what the head reads from them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from core.model.refusal import refusing_to
from core.model.running.loaded import LoadedModel
from core.model.trace import Array
from core.model.weights.projections import is_fused, layer_weights

if TYPE_CHECKING:
    import torch


@refusing_to("read")
def query_key_weights(model: LoadedModel) -> list[tuple[torch.Tensor, torch.Tensor]] | None:
    """W_Q and W_K of every layer, (head, dim, width) and (key-value head, dim, width), no biases.

    None if the family is unknown, or its modules are not as expected.
    """
    queries, keys = layer_weights(model, "q"), layer_weights(model, "k")
    if queries is None or keys is None:
        return None
    if is_fused(model):
        return [_split(weight, model) for weight in queries]
    return [
        (query.unflatten(0, (model.heads, -1)), key.unflatten(0, (model.kv_heads, -1)))  # type: ignore[no-untyped-call]
        for query, key in zip(queries, keys, strict=True)
    ]


@refusing_to("read")
def weight_similarity(model: LoadedModel) -> Array | None:
    """Pearson correlation between the entries of each head's W_Q and W_K, float32 (layer, head).

    Heads that share a key head are each compared with it. None if W_Q and W_K are unknown or differ
    in shape; 0 if one of them is constant.
    """
    import torch

    pairs = query_key_weights(model)
    if pairs is None or any(query.shape[1:] != key.shape[1:] for query, key in pairs):
        return None
    rows = []
    with torch.inference_mode():
        for queries, keys in pairs:
            shared = keys.repeat_interleave(model.heads // model.kv_heads, dim=0)
            a, b = (each.double().flatten(1) for each in (queries, shared))
            a, b = a - a.mean(dim=1, keepdim=True), b - b.mean(dim=1, keepdim=True)
            norms = (a.norm(dim=1) * b.norm(dim=1)).clamp(min=1e-30)
            rows.append(((a * b).sum(dim=1) / norms).float().cpu().numpy())
    return np.stack(rows)


def _split(weight: torch.Tensor, model: LoadedModel) -> tuple[torch.Tensor, torch.Tensor]:
    """W_Q and W_K from a fused weight: q, k, v head by head in GPT-NeoX, elsewhere one by one."""
    if model.network.config.model_type == "gpt_neox":
        parts = weight.unflatten(0, (model.heads, 3, -1))  # type: ignore[no-untyped-call]
        return parts[:, 0], parts[:, 1]
    parts = weight.unflatten(0, (3, model.heads, -1))  # type: ignore[no-untyped-call]
    return parts[0], parts[1]
