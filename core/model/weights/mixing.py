"""How much of each token is in another after the attention of a layer, residual stream included.

What token i is after attention is a sum over tokens: y_ij = sum over heads of a_ij f(v_j), with
f(v) = v W_O, plus its own residual stream x_i for j = i (Kobayashi et al. 2021), before the
layer norm. Biases belong to no token and are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from core.model.refusal import refusing_to
from core.model.running.loaded import LoadedModel
from core.model.trace import Array, Trace
from core.model.weights.output_projection import output_projections
from core.vocabulary import without_attention

if TYPE_CHECKING:
    import torch

_MAX_NUMBERS = 2**23  # in vectors at a time: 32 MB
_CHECKED = 8  # tokens of the pass that checks what is added to what


@refusing_to("read")
def token_mixing(model: LoadedModel, trace: Trace) -> Array | None:
    """The share of key token j in what token i is after a layer's attention.

    It is |y_i| - |y_i - y_ij|, each a sum of absolute values, or 0 where that is negative (Ferrando
    et al. 2022, equation 8): what other tokens cancel does not count. Shares are divided by their
    sum over j.

    Float32 (layer, token, token), rows summing to one. None for images and cross attention, where
    W_O or the hidden states are unknown, where something comes between W_O and the residual
    stream, and where layers without attention mix tokens too.
    """
    projections = output_projections(model, trace.attention_type)
    if projections is None or trace.hidden_states is None or trace.attention_type == "cross":
        return None
    if trace.patches is not None or without_attention(trace) or not _adds_up(model, trace):
        return None
    mixing = np.empty((len(projections), trace.shape[2], trace.shape[2]), dtype=np.float32)
    for layer, weight in enumerate(projections):
        mixing[layer] = _shares(model, trace, layer, weight)
    return mixing


def _adds_up(model: LoadedModel, trace: Trace) -> bool:
    from core.model.capture.forward import run_batch
    from core.model.capture.outputs import adds_outputs

    tokens = trace.tokens[:_CHECKED]
    ids, segments = [each.id for each in tokens], [each.segment for each in tokens]
    targets = [ids[:1]] if model.is_encoder_decoder else None
    inputs = (model.network, model.tokenizer, [ids], [segments])
    names = model.attention[trace.attention_type].outputs or ()
    return adds_outputs(
        model.network, names, lambda: run_batch(*inputs, way=model.way, targets=targets)
    )


def _shares(model: LoadedModel, trace: Trace, layer: int, weight: torch.Tensor) -> Array:
    """The shares of one layer, a few key tokens at a time; `weight` is (head, dim, width)."""
    import torch

    heads, dim, width = weight.shape
    with torch.inference_mode():
        stream = torch.tensor(cast("Array", trace.hidden_states)[layer], device=model.device)
        attention = torch.tensor(trace.attention(layer), device=model.device)
        values = torch.tensor(trace.values[layer, :, :, :dim], device=model.device)
        mixed = torch.einsum("hij,hjd->hid", attention, values)
        whole = stream + torch.einsum("hid,hdw->iw", mixed, weight.float())
        tokens = len(stream)
        sizes = torch.empty((tokens, tokens), device=model.device)
        step = max(1, _MAX_NUMBERS // ((heads + tokens) * width))
        for keys in torch.arange(tokens).split(step):
            written = torch.einsum("hjd,hdw->jhw", values[:, keys], weight.float())
            parts = torch.einsum("hij,jhw->jiw", attention[..., keys], written)
            parts[torch.arange(len(keys)), keys] += stream[keys]
            left = (whole - parts).abs().sum(-1)  # (key, token)
            sizes[:, keys] = (whole.abs().sum(-1) - left).clamp(min=0).T
        sums = sizes.sum(1, keepdim=True)
        # A token without any share counts as itself.
        itself = torch.eye(tokens, device=model.device)
        shares = torch.where(sums > 0, sizes / sums.clamp(min=torch.finfo().tiny), itself)
    numbers: Array = shares.cpu().numpy()
    return numbers
