"""The modules that make queries, keys and values, and W_O, which takes what heads give.

W_O is found while a model loads (:mod:`core.model.capture.outputs`); the others come from the only
table of families in the project.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedConfig

    from core.model.loaded import LoadedModel
    from core.model.trace import Kind

    Weights = list[torch.Tensor]

Role = Literal["q", "k", "v", "o"]
ROLES: tuple[Role, ...] = ("q", "k", "v", "o")
_SELF_ATTENTION = (".self_attn.q_proj", ".self_attn.k_proj", ".self_attn.v_proj")
# Families, and how their module names for q, k and v end; one module may make all of them.
_FAMILIES: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (
        ("bert", "roberta", "electra", "xlm-roberta"),
        (".attention.self.query", ".attention.self.key", ".attention.self.value"),
    ),
    (("distilbert",), (".attention.q_lin", ".attention.k_lin", ".attention.v_lin")),
    (("albert",), (".attention.query", ".attention.key", ".attention.value")),
    (("opt", "llama", "qwen2", "qwen3", "mistral", "gemma2", "phi"), _SELF_ATTENTION),
    (("gpt2",), (".attn.c_attn",) * 3),
    (("modernbert",), (".attn.Wqkv",) * 3),
    (("gpt_neox",), (".attention.query_key_value",) * 3),
)
_ENDINGS = {family: endings for families, endings in _FAMILIES for family in families}


def named_weights(
    model: LoadedModel, role: Role, kind: Kind | None = None
) -> list[tuple[str, torch.Tensor]]:
    """Name and weight, (outputs, inputs), of the modules that make `role`; empty if unknown.

    `kind` of attention is for W_O alone; without it, of the model's first.
    """
    network = model.network
    if role == "o":
        return [(name, _weight(network.get_submodule(name))) for name in _outputs(model, kind)]
    endings = _ENDINGS.get(network.config.model_type)
    if endings is None:
        return []
    ending = endings[ROLES.index(role)]
    modules = [(n, each) for n, each in network.named_modules() if f".{n}".endswith(ending)]
    return [(name, _weight(module)) for name, module in modules]


def _outputs(model: LoadedModel, kind: Kind | None) -> tuple[str, ...]:
    return (model.outputs if kind is None else model.attention[kind].outputs) or ()


def _weight(module: Any) -> torch.Tensor:  # noqa: ANN401 - a linear map of one kind or another
    from transformers.pytorch_utils import Conv1D

    weight: torch.Tensor = module.weight.detach()
    return weight.T if isinstance(module, Conv1D) else weight


def layer_weights(model: LoadedModel, role: Role, kind: Kind | None = None) -> Weights | None:
    """The weight, (outputs, inputs), that makes `role` in each layer; None if unknown."""
    weights = [weight for _, weight in named_weights(model, role, kind)]
    if role != "o" and weights and model.network.config.model_type == "albert":
        weights = _repeat_groups(weights, model.network.config)
    layers = model.layers if kind is None else model.attention[kind].layers
    return weights if len(weights) == layers else None


def is_fused(model: LoadedModel) -> bool:
    """Whether one module makes queries, keys and values."""
    endings = _ENDINGS.get(model.network.config.model_type, ("", "k"))
    return endings[0] == endings[1]


def _repeat_groups(weights: Weights, config: PreTrainedConfig) -> Weights:
    """ALBERT's weights in the order of use: its layers share the weights of a few groups.

    Groups are assigned to layers as in the model's own forward pass.
    """
    layers, groups = config.num_hidden_layers, config.num_hidden_groups
    order = [int(layer / (layers / groups)) for layer in range(layers)]
    inner = range(config.inner_group_num)
    return [weights[group * len(inner) + each] for group in order for each in inner]
