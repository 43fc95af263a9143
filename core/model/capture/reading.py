"""From the recorded calls of a batch to the arrays of one text."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from core.model.capture.numbers import own_numbers
from core.model.trace import Array, Layer

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch

    from core.model.capture.calls import Call

    Recorded = tuple[Array, Array, Array, tuple[Layer, ...]]
    Reader = Callable[[int, int, int], Recorded]  # of row, queries and keys


def read_calls(calls: list[Call], row: int, queries: int, keys: int) -> Recorded:
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
    all_queries = _stack([_of_text(call.query, row, queries) for call in calls])
    all_keys, values = (
        _stack([_of_text(each, row, keys) for each in tensors], all_queries.shape[1])
        for tensors in ([call.key for call in calls], [call.value for call in calls])
    )
    return all_queries, all_keys, values, _rules(calls, row, queries, keys)


def reader_of_vectors(calls: list[Call]) -> Reader:
    """A function as :func:`read_calls` of one batch, whose values have no token.

    The queries and keys of all texts are copied at once, and each text gets a view of them.
    """
    if any(len({getattr(call, side).shape for call in calls}) > 1 for side in ("query", "key")):

        def read_apart(row: int, queries: int, keys: int) -> Recorded:
            all_queries, all_keys, values, rules = read_calls(calls, row, queries, keys)
            return all_queries, all_keys, values[:, :, :0], rules

        return read_apart
    of_texts = _join([call.query for call in calls]), _join([call.key for call in calls])

    def read(row: int, queries: int, keys: int) -> Recorded:
        of_row = of_texts[0][:, row, :, :queries], of_texts[1][:, row, :, :keys]
        return *of_row, of_row[1][:, :, :0], _rules(calls, row, queries, keys)

    return read


def _rules(calls: list[Call], row: int, queries: int, keys: int) -> tuple[Layer, ...]:
    """The rule of each layer for one text."""
    masks: dict[tuple[int, bool, int], Array | None] = {}
    layers = []
    numbers = own_numbers([call.number for call in calls])
    for call, number in zip(calls, numbers, strict=True):
        key = (id(call.mask), call.causal, id(call.bias))
        if key not in masks:
            masks[key] = _mask_of_text(call, row, queries, keys)
        sink = None if call.sink is None else call.sink.float().cpu().numpy()
        layers.append(Layer(call.scaling, masks[key], call.softcap, sink, number))
    return tuple(layers)


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


def _join(layers: list[torch.Tensor]) -> Array:
    """(layer, text, head, token, dim) of tensors that are alike."""
    import torch

    array: Array = torch.stack(layers).float().cpu().numpy()
    return array


def _of_row(tensor: torch.Tensor | None, row: int) -> torch.Tensor | None:
    """What is added to the scores of one text, (1 or head, token, token), or fewer axes."""
    if tensor is None or tensor.dim() < 4:
        return tensor
    return tensor[row if tensor.shape[0] > 1 else 0]


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
    own = replace(call, mask=_of_row(call.mask, row), bias=_of_row(call.bias, row))
    added = additive_mask(own)
    if added is None:
        return None
    mask = added.reshape(-1, *added.shape[-2:]).float().cpu().numpy()
    mask = np.broadcast_to(mask, (mask.shape[0], call.query.shape[2], call.key.shape[2]))
    mask = mask[:, :queries, :keys]  # (1 or head, query, key)
    if not mask.any():
        return None
    mask = (mask[0] if mask.shape[0] == 1 else mask).copy()
    mask.setflags(write=False)
    return mask
