"""What a head writes: its values, multiplied by its part of the output projection W_O.

A layer joins the outputs of its heads and multiplies them by W_O; some rows of W_O belong to each
head. With f(v) = v W_O, the head's output for token i is the sum over j of a_ij f(v_j) (Kobayashi
et al. 2020, section 3), so |a_ij f(v_j)| says how much of what i receives comes from j, while a_ij
only says how attention is divided. The bias of W_O belongs to no head and is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.model.refusal import refusing_to
from core.model.running.loaded import LoadedModel
from core.model.trace import Array, AttentionType, Trace
from core.model.weights.projections import layer_weights

Doubles = NDArray[np.float64]

if TYPE_CHECKING:
    import torch


@refusing_to("read")
def output_projections(
    model: LoadedModel, attention_type: AttentionType | None = None
) -> tuple[torch.Tensor, ...] | None:
    """W_O of every layer by head, (head, dim, width) each: views of the model's own weights.

    `attention_type` defaults to the model's first. None where something else, such as a gate, comes
    between heads and W_O.
    """
    weights = layer_weights(model, "o", attention_type)
    heads = model.heads_of(attention_type).heads
    if weights is None or any(weight.shape[1] % heads for weight in weights):
        return None
    return tuple(weight.T.unflatten(0, (heads, -1)) for weight in weights)  # type: ignore[no-untyped-call]


@refusing_to("read")
def value_grams(
    model: LoadedModel, attention_type: AttentionType | None = None
) -> tuple[Doubles, ...] | None:
    """W_O W_O^T of every head, float64 (head, dim, dim) per layer; None if W_O is unknown.

    This is all that the norms of transformed values need, for any number of texts: |v W|^2 is
    v (W W^T) v^T. Float64, because squares of small norms lose digits.
    """
    projections = output_projections(model, attention_type)
    if projections is None:
        return None
    doubles = (weight.double() for weight in projections)
    return tuple((each @ each.transpose(1, 2)).cpu().numpy() for each in doubles)


@refusing_to("read")
def transformed_norms(
    model: LoadedModel, trace: Trace, grams: tuple[Doubles, ...] | None = None
) -> Array | None:
    """|f(v_j)| of every head and key token, float32 (layer, head, token); None if W_O is unknown.

    Parameters
    ----------
    grams : from :func:`value_grams`, to reuse them for many texts.
    """
    import torch

    grams = value_grams(model, trace.attention_type) if grams is None else grams
    if grams is None:
        return None
    norms = np.empty((*trace.shape[:2], trace.kv_values.shape[2]), dtype=np.float32)
    for layer, gram in enumerate(grams):
        vectors = trace.kv_values[layer, :, :, : gram.shape[-1]]  # the layer's own dims
        values = torch.from_numpy(np.repeat(vectors.astype(np.float64), trace.group, axis=0))
        # By torch: to keep NumPy's BLAS from threads, on a busy server, takes longer than this.
        squares = ((values @ torch.from_numpy(gram)) * values).sum(dim=-1)
        norms[layer] = squares.clamp(min=0).sqrt().numpy()
    return norms
