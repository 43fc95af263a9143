"""What a head writes: its values through its part of the layer's output projection W_O.

A layer joins the outputs of its heads and multiplies them by W_O; the rows of W_O that belong to a
head are that head's own. With f(v) = v W_O, the head's output for token i is the sum over j of
a_ij f(v_j) (Kobayashi et al. 2020, section 3), so |a_ij f(v_j)| says how much of what i receives
comes from j, where a_ij alone says only how it was shared out. The bias of W_O belongs to no head
and is left out.

The attention interface does not show W_O, so this is the one place with a table of families.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from core.model.refusal import refusing_to

if TYPE_CHECKING:
    import torch
    from numpy.typing import NDArray
    from transformers import PreTrainedConfig

    from core.model.loaded import LoadedModel
    from core.model.trace import Array, Trace

    Doubles = NDArray[np.float64]

# How the module of W_O is called in each family, from the end of its name.
_MODULES = {
    ".attention.output.dense": ("bert", "roberta", "electra", "xlm-roberta"),
    ".attention.out_lin": ("distilbert",),
    ".attention.dense": ("albert", "gpt_neox"),
    ".attn.Wo": ("modernbert",),
    ".attn.c_proj": ("gpt2",),
    ".self_attn.out_proj": ("opt",),
    ".self_attn.o_proj": ("llama", "qwen2", "qwen3", "mistral", "gemma2"),
    ".self_attn.dense": ("phi",),
    ".attention.o_proj": ("vit", "dinov2"),
}
_ENDINGS = {family: ending for ending, families in _MODULES.items() for family in families}


def output_module_ending(family: str) -> str | None:
    """How the name of the module that holds W_O ends in this family; None where it is not known."""
    return _ENDINGS.get(family)


@refusing_to("read")
def output_projections(model: LoadedModel) -> tuple[torch.Tensor, ...] | None:
    """W_O of every layer by head, (head, dim, width) each: views of the model's own weights.

    None where the family is not known, or its modules are not as expected.
    """
    ending = _ENDINGS.get(model.network.config.model_type)
    if ending is None:
        return None
    modules = [
        module for name, module in model.network.named_modules() if f".{name}".endswith(ending)
    ]
    if model.network.config.model_type == "albert":
        modules = _in_turns(modules, model.network.config)
    weights = tuple(_by_head(module, model.heads) for module in modules)
    if len(weights) != model.layers or None in weights:
        return None
    return weights  # type: ignore[return-value]


def _in_turns(modules: list[torch.nn.Module], config: PreTrainedConfig) -> list[torch.nn.Module]:
    """ALBERT's modules as often as they are used: its groups of layers share weights over turns.

    Which group a turn takes is counted as the model's own forward pass counts it.
    """
    turns, groups, inner = (
        config.num_hidden_layers,
        config.num_hidden_groups,
        config.inner_group_num,
    )
    order = [int(turn / (turns / groups)) for turn in range(turns)]
    return [modules[group * inner + layer] for group in order for layer in range(inner)]


def _by_head(module: torch.nn.Module, heads: int) -> torch.Tensor | None:
    from transformers.pytorch_utils import Conv1D

    weight = module.weight.detach()
    rows = weight if isinstance(module, Conv1D) else weight.T  # (head x dim, width)
    if rows.shape[0] % heads:
        return None
    return rows.unflatten(0, (heads, -1))  # type: ignore[no-untyped-call, no-any-return]


@refusing_to("read")
def transformed_values(model: LoadedModel, trace: Trace, layer: int, head: int) -> Array | None:
    """f(v_j) of one head: what it would write if it attended to token j alone.

    Float32 (token, width); None where W_O is not known.
    """
    import torch

    projections = output_projections(model)
    if projections is None:
        return None
    with torch.inference_mode():
        values = _values(model, trace, layer)[head]
        written: Array = (values @ projections[layer][head]).cpu().numpy()
    return written


@refusing_to("read")
def value_grams(model: LoadedModel) -> tuple[Doubles, ...] | None:
    """W_O W_O^T of every head, float64 (head, dim, dim) a layer; None where W_O is unknown.

    All that the lengths of transformed values need, for any number of texts: |v W|^2 is
    v (W W^T) v^T. Float64, as squares of small norms lose digits.
    """
    projections = output_projections(model)
    if projections is None:
        return None
    doubles = (weight.double() for weight in projections)
    return tuple((each @ each.transpose(1, 2)).cpu().numpy() for each in doubles)


@refusing_to("read")
def transformed_norms(
    model: LoadedModel, trace: Trace, grams: tuple[Doubles, ...] | None = None
) -> Array | None:
    """|f(v_j)| of every head and token, float32 (layer, head, token); None where W_O is unknown.

    Parameters
    ----------
    grams : from :func:`value_grams`, to spare them for many texts; made here when None.
    """
    from threadpoolctl import threadpool_limits

    grams = value_grams(model) if grams is None else grams
    if grams is None:
        return None
    norms = np.empty(trace.shape[:3], dtype=np.float32)
    # Matrices this small gain nothing from threads, which wait for each other on a busy server.
    with threadpool_limits(1, user_api="blas"):
        for layer, gram in enumerate(grams):
            values = np.repeat(trace.kv_values[layer].astype(np.float64), trace.group, axis=0)
            squares = ((values @ gram) * values).sum(axis=-1)
            norms[layer] = np.sqrt(np.maximum(squares, 0))
    return norms


def _values(model: LoadedModel, trace: Trace, layer: int) -> torch.Tensor:
    """The layer's values, repeated to the query heads: (head, token, dim), where the model is."""
    import torch

    values = torch.from_numpy(trace.kv_values[layer].copy()).to(model.device)
    return values.repeat_interleave(trace.group, dim=0)
