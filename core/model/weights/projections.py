"""The modules that make queries, keys and values, and W_O, which multiplies heads' outputs.

W_O is found while a model loads (:mod:`core.model.capture.outputs`); the others come from the only
table of families in the project.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from core.model.trace import AttentionType

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedConfig

    from core.model.running.loaded import LoadedModel

    Weights = list[torch.Tensor]

Role = Literal["q", "k", "v", "o"]
ROLES: tuple[Role, ...] = ("q", "k", "v", "o")
_SELF_ATTENTION = (".self_attn.q_proj", ".self_attn.k_proj", ".self_attn.v_proj")
# Families, and how their module names for q, k and v end; one module may make all three.
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
    model: LoadedModel, role: Role, attention_type: AttentionType | None = None
) -> list[tuple[str, torch.Tensor]]:
    """Name and weight, (outputs, inputs), of the modules that make `role`; empty if unknown.

    `attention_type` matters only for W_O; by default it is the model's first.
    """
    network = model.network
    if role == "o":
        names = model.heads_of(attention_type).outputs or ()
        return [(name, _weight(network.get_submodule(name))) for name in names]
    endings = _ENDINGS.get(network.config.model_type)
    if endings is None:
        return []
    ending = endings[ROLES.index(role)]
    modules = [(n, each) for n, each in network.named_modules() if f".{n}".endswith(ending)]
    return [(name, _weight(module)) for name, module in modules]


def weights_beside_output(
    model: LoadedModel, role: Role, attention_type: AttentionType
) -> list[tuple[str, torch.Tensor]]:
    """Name and weight of the module for `role` next to W_O, in each layer.

    Most families use the same names; empty where W_O or the module is not known.
    """
    network, named = model.network, []
    for output in model.heads_of(attention_type).outputs or ():
        parent = output.rpartition(".")[0]
        module = network.get_submodule(parent)
        name = next((each for each in (f"{role}_proj", role) if hasattr(module, each)), None)
        if name is not None:
            named.append((f"{parent}.{name}", _weight(getattr(module, name))))
    return named


def _weight(module: Any) -> torch.Tensor:  # noqa: ANN401 - a linear map of one kind or another
    from transformers.pytorch_utils import Conv1D

    weight: torch.Tensor = module.weight.detach()
    return weight.T if isinstance(module, Conv1D) else weight


def layer_weights(
    model: LoadedModel, role: Role, attention_type: AttentionType | None = None
) -> Weights | None:
    """The weight, (outputs, inputs), that makes `role` in each layer; None if unknown."""
    weights = [weight for _, weight in named_weights(model, role, attention_type)]
    if role != "o" and weights and model.network.config.model_type == "albert":
        weights = _repeat_groups(weights, model.network.config)
    return weights if len(weights) == model.heads_of(attention_type).layers else None


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
