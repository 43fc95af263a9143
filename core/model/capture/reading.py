"""From the recorded calls of a batch to the arrays of one text."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from core.model.capture.calls import Call, own_numbers
from core.model.trace import Array, Layer

if TYPE_CHECKING:
    import torch

    Recorded = tuple[Array, Array, Array, tuple[Layer, ...]]
    Reader = Callable[[int, int, int], Recorded]  # of row, queries and keys
    _Masked = tuple[int, bool, int]


def reader_of(calls: list[Call], *, whole: bool = True) -> Reader:
    """A function that reads one text of a batch: queries, keys, values and rules of every layer.

    It takes the text's index in the batch, and how many of its tokens attend and are attended to;
    padding follows them. It returns float32 arrays, (layer, head, token, dim) and twice (layer,
    key-value head, token, dim), then the rule of each layer. Layers with the same mask share one
    array. Where layers differ, shorter vectors are padded with zeros, which changes neither
    products nor distances, and key heads are repeated for the query heads. It raises a ValueError
    when layers differ in their number of heads or tokens.

    Parameters
    ----------
    calls : the recorded calls, one per layer.
    whole : False returns no values (zero tokens of them). Queries and keys of all texts are then
        copied at once, and each text gets views of them.
    """
    import torch

    masks: dict[_Masked, Array | None] = {}
    stacked: list[Array] = []  # queries and keys, (layer, text, head, token, dim)
    sides = [[getattr(call, side) for call in calls] for side in ("query", "key")]
    if not whole and all(len({each.shape for each in tensors}) == 1 for tensors in sides):
        stacked = [torch.stack(tensors).float().cpu().numpy() for tensors in sides]

    def mask_of(call: Call, row: int, queries: int, keys: int) -> Array | None:
        key = _masked(call)
        if key not in masks:
            masks[key] = _to_numpy(additive_mask(call))
        of_texts = masks[key] if call.query.shape[0] > 1 else masks.pop(key)  # large where biased
        if of_texts is None:
            return None
        own = of_texts if of_texts.ndim < 4 else of_texts[row if len(of_texts) > 1 else 0]
        return _cut(own, call, queries, keys)

    def read(row: int, queries: int, keys: int) -> Recorded:
        rules = _rules(calls, lambda call: mask_of(call, row, queries, keys))
        if stacked:
            own_queries, own_keys = stacked[0][:, row, :, :queries], stacked[1][:, row, :, :keys]
            return own_queries, own_keys, own_keys[:, :, :0], rules
        own_queries = _stack([_of_text(call.query, row, queries) for call in calls])
        own_keys, values = (
            _stack([_of_text(each, row, keys) for each in tensors], own_queries.shape[1])
            for tensors in ([call.key for call in calls], [call.value for call in calls])
        )
        return own_queries, own_keys, values if whole else values[:, :, :0], rules

    return read


def _masked(call: Call) -> _Masked:
    """A key: calls of one batch that share it have the same mask."""
    return id(call.mask), call.causal, id(call.bias)


def _rules(calls: list[Call], mask_of: Callable[[Call], Array | None]) -> tuple[Layer, ...]:
    """The rule of each layer for one text; `mask_of` gives its mask in a call."""
    masks: dict[_Masked, Array | None] = {}
    layers = []
    numbers = own_numbers([call.number for call in calls])
    for call, number in zip(calls, numbers, strict=True):
        key = _masked(call)
        if key not in masks:
            masks[key] = mask_of(call)
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


def _of_text(tensor: torch.Tensor, row: int, length: int) -> torch.Tensor:
    return tensor[row, :, :length].float().cpu()


def _stack(layers: list[torch.Tensor], heads: int = 0) -> Array:
    """Stack (head, token, dim) of each layer; `heads` repeats shared heads where layers differ.

    PyTorch copies with all its threads, NumPy with one.
    """
    import torch

    if heads and len({len(each) for each in layers}) > 1:
        layers = [each.repeat_interleave(heads // len(each), dim=0) for each in layers]
    if len({len(each) for each in layers}) > 1:
        raise ValueError("layers differ in their number of heads")
    if len({each.shape[1] for each in layers}) > 1:
        raise ValueError("layers attend to different numbers of tokens")
    dim = max(each.shape[2] for each in layers)
    if any(each.shape[2] < dim for each in layers):
        layers = [torch.nn.functional.pad(each, (0, dim - each.shape[2])) for each in layers]
    stacked: Array = torch.stack(layers).numpy()
    return stacked


def _to_numpy(tensor: torch.Tensor | None) -> Array | None:
    return None if tensor is None else tensor.float().cpu().numpy()


def _cut(mask: Array, call: Call, queries: int, keys: int) -> Array | None:
    """A copy of one text's mask without the padding; None where it adds nothing."""
    mask = mask.reshape(-1, *mask.shape[-2:])
    mask = np.broadcast_to(mask, (mask.shape[0], call.query.shape[2], call.key.shape[2]))
    mask = mask[:, :queries, :keys]  # (1 or head, query, key)
    if not mask.any():
        return None
    mask = (mask[0] if mask.shape[0] == 1 else mask).copy()
    mask.setflags(write=False)
    return mask
