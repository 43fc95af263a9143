"""Record the queries, keys and values of every attention call in a forward pass.

transformers lets a model's attention be replaced by name. The function registered here records
its arguments and calls the stock scaled-dot-product attention, so the model computes what it always
does. The recorder lives in a context variable of the call, never on the module: several threads may
run the same model at once, each with its own recorder or none.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from core.model.trace import Array, Layer, default_scaling

if TYPE_CHECKING:
    from collections.abc import Iterator

    import torch

IMPLEMENTATION = "headscope"

Positions = NDArray[np.intp]


@dataclass(frozen=True)
class Call:
    """One attention call as the model made it, for a whole batch.

    `query` is (batch, head, token, dim), `key` and `value` (batch, key-value head, token, dim),
    `mask` broadcasts to (batch, head, token, token), boolean (True is permitted) or additive.
    """

    query: torch.Tensor
    key: torch.Tensor
    value: torch.Tensor
    mask: torch.Tensor | None
    bias: torch.Tensor | None
    causal: bool
    scaling: float
    softcap: float | None


_calls: ContextVar[list[Call] | None] = ContextVar("headscope_calls", default=None)


def register() -> None:
    """Register ``attn_implementation=IMPLEMENTATION`` with transformers. Safe to repeat."""
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import sdpa_mask

    AttentionInterface.register(IMPLEMENTATION, _attend)
    AttentionMaskInterface.register(IMPLEMENTATION, sdpa_mask)


@contextmanager
def recording() -> Iterator[list[Call]]:
    """Collect the attention calls this thread makes in the block, in layer order."""
    calls: list[Call] = []
    token = _calls.set(calls)
    try:
        yield calls
    finally:
        _calls.reset(token)


def _attend(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    is_causal: bool | None = None,
    position_bias: torch.Tensor | None = None,
    softcap: float | None = None,
    **kwargs: Any,  # noqa: ANN401 - whatever a model passes is passed on
) -> tuple[torch.Tensor, None]:
    """Record the call, then compute it as transformers' own SDPA function does."""
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    # As in sdpa_attention_forward, the flag decides on causality only if there is no mask.
    flag = is_causal if is_causal is not None else getattr(module, "is_causal", True)
    causal = bool(flag) and attention_mask is None and query.shape[2] > 1
    factor = default_scaling(query.shape[-1]) if scaling is None else float(scaling)
    call = Call(query, key, value, attention_mask, position_bias, causal, factor, softcap)
    if (calls := _calls.get()) is not None:
        calls.append(call)
    if softcap is not None:
        return _attend_softcapped(call), None
    output, _ = sdpa_attention_forward(
        module,
        query,
        key,
        value,
        attention_mask,
        scaling=scaling,
        is_causal=is_causal,
        position_bias=position_bias,
        **kwargs,
    )
    return output, None


def _attend_softcapped(call: Call) -> torch.Tensor:
    """Soft-capped attention (Gemma 2), which the stock SDPA function refuses.

    Returns (batch, token, head, dim).
    """
    import torch

    group = call.query.shape[1] // call.key.shape[1]
    key = call.key.repeat_interleave(group, dim=1)
    value = call.value.repeat_interleave(group, dim=1)
    scores = torch.tanh(call.query @ key.transpose(2, 3) * call.scaling / call.softcap)
    scores = scores * call.softcap
    mask = _additive_mask(call)
    if mask is not None:
        scores = scores + mask
    # A padding position may see no key at all: its row is 0/0, made 0 as in the stock function.
    weights = torch.softmax(scores, dim=-1, dtype=torch.float32).nan_to_num().to(value.dtype)
    return (weights @ value).transpose(1, 2).contiguous()


def _additive_mask(call: Call) -> torch.Tensor | None:
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
    # Older models write the lowest number of the type instead of -inf.
    lowest = torch.finfo(mask.dtype).min / 2
    return mask.float().masked_fill(mask <= lowest, -torch.inf)


def stack_call_arrays(calls: list[Call], row: int, keep: Positions) -> tuple[Array, Array, Array]:
    """Queries, keys and values of one text in the batch.

    Parameters
    ----------
    calls : the recorded calls, one per layer.
    row : which text in the batch.
    keep : the positions that are not padding, in order.

    Returns
    -------
    Float32 arrays (layer, head, token, dim), (layer, key-value head, token, dim) twice.

    Raises
    ------
    ValueError
        When layers differ in their number of heads or dims.
    """
    import torch

    whole = len(keep) == calls[0].query.shape[2]
    arrays = []
    for part in ("query", "key", "value"):
        tensors = [getattr(call, part)[row] for call in calls]
        if len({tensor.shape for tensor in tensors}) > 1:
            raise ValueError(f"layers differ in the shape of their {part}")
        stacked = torch.stack(tensors).float().cpu().numpy()
        arrays.append(stacked if whole else np.ascontiguousarray(stacked[:, :, keep]))
    return arrays[0], arrays[1], arrays[2]


def layer_rules(calls: list[Call], row: int, keep: Positions) -> tuple[Layer, ...]:
    """Scaling, additive mask and soft cap of every layer for one text in the batch.

    Layers with the same mask share one array.
    """
    masks: dict[tuple[int, bool, int], Array | None] = {}
    rules = []
    for call in calls:
        key = (id(call.mask), call.causal, id(call.bias))
        if key not in masks:
            masks[key] = _mask_of_text(call, row, keep)
        rules.append(Layer(call.scaling, masks[key], call.softcap))
    return tuple(rules)


def _mask_of_text(call: Call, row: int, keep: Positions) -> Array | None:
    """Additive mask of one text, (token, token) or (head, token, token), or None."""
    batch_mask = _additive_mask(call)
    if batch_mask is None:
        return None
    while batch_mask.dim() < 4:
        batch_mask = batch_mask.unsqueeze(0)
    mask = batch_mask[row if batch_mask.shape[0] > 1 else 0].float().cpu().numpy()
    mask = np.broadcast_to(mask, (mask.shape[0], call.query.shape[2], call.key.shape[2]))
    mask = mask[:, keep][:, :, keep]  # (1 or head, token, token)
    if not mask.any():
        return None
    mask = np.ascontiguousarray(mask[0] if mask.shape[0] == 1 else mask)
    mask.setflags(write=False)
    return mask
