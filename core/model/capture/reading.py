"""From the recorded calls of a batch to the arrays of one text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from core.model.capture.numbers import own_numbers
from core.model.trace import Array, Layer

if TYPE_CHECKING:
    import torch

    from core.model.capture.calls import Call


def read_calls(
    calls: list[Call], row: int, queries: int, keys: int
) -> tuple[Array, Array, Array, tuple[Layer, ...]]:
    """Queries, keys, values and rules of every layer for one text in the batch.

    Parameters
    ----------
    calls : the recorded calls, one per layer.
    row : which text in the batch.
    queries, keys : how many of its tokens attend and are attended to; padding follows them.

    Returns
    -------
    Float32 arrays (layer, head, token, dim) and twice (layer, key-value head, token, dim), then
    the rule of each layer. Layers with the same mask share one array. Where layers differ, narrow
    vectors are filled with zeros, which changes neither products nor distances, and key heads are
    repeated to the query heads.

    Raises
    ------
    ValueError
        When layers differ in their number of heads or tokens.
    """
    rules: dict[tuple[int, bool, int], Array | None] = {}
    layers = []
    numbers = own_numbers([call.number for call in calls])
    for call, number in zip(calls, numbers, strict=True):
        key = (id(call.mask), call.causal, id(call.bias))
        if key not in rules:
            rules[key] = _mask_of_text(call, row, queries, keys)
        sink = None if call.sink is None else call.sink.float().cpu().numpy()
        layers.append(Layer(call.scaling, rules[key], call.softcap, sink, number))
    all_queries = _stack([_of_text(call.query, row, queries) for call in calls])
    all_keys, values = (
        _stack([_of_text(each, row, keys) for each in tensors], all_queries.shape[1])
        for tensors in ([call.key for call in calls], [call.value for call in calls])
    )
    return all_queries, all_keys, values, tuple(layers)


def additive_mask(call: Call) -> torch.Tensor | None:
    """Everything added to the scores, -inf where attention is not permitted."""
    import torch

    parts = []
    if call.causal:
        length = call.query.shape[2]
        visible = torch.ones(length, call.key.shape[2], dtype=torch.bool, device=call.query.device)
        parts.append(_to_additive(visible.tril()))
    if call.mask is not None:
        parts.append(_to_additive(call.mask))
    if call.bias is not None:
        parts.append(call.bias)
    return sum(parts[1:], start=parts[0]) if parts else None


def _to_additive(mask: torch.Tensor) -> torch.Tensor:
    import torch

    if mask.dtype == torch.bool:
        zeros = torch.zeros(mask.shape, dtype=torch.float32, device=mask.device)
        return zeros.masked_fill(~mask, -torch.inf)
    # Models write the lowest number of the type instead of -inf.
    lowest = torch.finfo(mask.dtype).min / 2
    return mask.float().masked_fill(mask <= lowest, -torch.inf)


def _of_text(tensor: torch.Tensor, row: int, length: int) -> Array:
    array: Array = tensor[row, :, :length].float().cpu().numpy()
    return array


def _stack(layers: list[Array], heads: int = 0) -> Array:
    """One array of (head, token, dim) each; `heads` is given for what query heads may share."""
    if heads and len({len(each) for each in layers}) > 1:
        layers = [np.repeat(each, heads // len(each), axis=0) for each in layers]
    if len({len(each) for each in layers}) > 1:
        raise ValueError("layers differ in their number of heads")
    if len({each.shape[1] for each in layers}) > 1:
        raise ValueError("layers attend to different numbers of tokens")
    dim = max(each.shape[2] for each in layers)
    return np.stack(
        [
            each
            if each.shape[2] == dim
            else np.pad(each, ((0, 0), (0, 0), (0, dim - each.shape[2])))
            for each in layers
        ]
    )


def _mask_of_text(call: Call, row: int, queries: int, keys: int) -> Array | None:
    """Additive mask of one text, (query, key) or (head, query, key), or None."""
    batch_mask = additive_mask(call)
    if batch_mask is None:
        return None
    while batch_mask.dim() < 4:
        batch_mask = batch_mask.unsqueeze(0)
    mask = batch_mask[row if batch_mask.shape[0] > 1 else 0].float().cpu().numpy()
    mask = np.broadcast_to(mask, (mask.shape[0], call.query.shape[2], call.key.shape[2]))
    mask = mask[:, :queries, :keys]  # (1 or head, query, key)
    if not mask.any():
        return None
    mask = (mask[0] if mask.shape[0] == 1 else mask).copy()
    mask.setflags(write=False)
    return mask
