"""A model's parts: its stacks, their q, k, v and o projections, and what PyTorch prints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from core.model.refusal import refusing_to
from core.model.running.loaded import LoadedModel
from core.model.text.vocabulary import input_table
from core.model.trace import AttentionType
from core.model.weights.projections import ROLES, Role, named_weights, weights_beside_output

if TYPE_CHECKING:
    import torch

# What families call the width of the feed-forward part in their settings.
_MLP_WIDTHS = ("intermediate_size", "ffn_dim", "hidden_dim", "n_inner", "d_ff")

OutputHead = Literal["none", "embeddings", "own"]


@dataclass(frozen=True)
class LinearMap:
    """One linear map of the first layer: its name in the model, and its input and output size.

    A module that makes queries, keys and values at once appears under each role, with its own size.
    """

    name: str
    inputs: int
    outputs: int


@dataclass(frozen=True)
class Positions:
    """How a stack encodes the position of a token.

    Attributes
    ----------
    way : "learned" or "fixed" vectors are added to the embeddings; "relative" distances change the
        scores; "rotary" angles turn queries and keys.
    rows : rows of the table of vectors or distances; None where there is no table.
    """

    way: Literal["learned", "fixed", "relative", "rotary"]
    rows: int | None


@dataclass(frozen=True)
class Attention:
    """The heads of one kind of attention, and the projections of its first layer where known."""

    attention_type: AttentionType
    heads: int
    kv_heads: int
    dim: int
    projections: dict[Role, LinearMap]


@dataclass(frozen=True)
class Stack:
    """Layers of the same form, one on top of another.

    Attributes
    ----------
    layers : how many, as the network counts them where it does.
    attention : per layer, in order of use: a decoder that attends to an encoder has two kinds.
    mlp_width : width inside the feed-forward part; None if the settings do not name it.
    positions : None where they are not known.
    """

    layers: int
    attention: tuple[Attention, ...]
    mlp_width: int | None
    positions: Positions | None


@dataclass(frozen=True)
class Structure:
    """The parts of a model that matter for attention.

    Attributes
    ----------
    model_class : transformers' class.
    stacks : one, or an encoder and a decoder.
    width : numbers per token between layers (the residual stream).
    vocabulary : tokens that have an embedding.
    head : whether the checkpoint has a language-model head, and whether its weights are the input
        embeddings or its own.
    text : the modules as PyTorch prints them.
    """

    model_class: str
    stacks: tuple[Stack, ...]
    width: int
    vocabulary: int
    head: OutputHead
    text: str


@refusing_to("read")
def structure_of(model: LoadedModel) -> Structure:
    """Read the structure of a loaded model without running it."""
    network = model.network
    stacks: tuple[Stack, ...]
    if model.is_encoder_decoder:
        stacks = (
            _stack(model, network.get_encoder(), "encoder", "encoder"),
            _stack(model, network.get_decoder(), "decoder", "decoder", "cross"),
        )
    else:
        stacks = (_stack(model, network, "", *list(model.attention)[:1]),)
    return Structure(
        model_class=type(network).__name__,
        stacks=stacks,
        width=int(network.config.hidden_size),
        vocabulary=int(network.get_input_embeddings().num_embeddings),
        head=_head_of(model),
        text=repr(network),
    )


def _stack(
    model: LoadedModel, part: torch.nn.Module, name: str, *attention_types: AttentionType
) -> Stack:
    settings, info = model.network.config, model.attention[attention_types[0]]
    widths = [getattr(settings, each, None) for each in (f"{name}_ffn_dim", *_MLP_WIDTHS)]
    return Stack(
        layers=info.depth or info.layers,
        attention=tuple(_attention(model, attention_type) for attention_type in attention_types),
        mlp_width=next((width for width in widths if isinstance(width, int)), None),
        positions=_positions_of(part),
    )


def _attention(model: LoadedModel, attention_type: AttentionType) -> Attention:
    info, projections = model.attention[attention_type], {}
    for role in ROLES:
        named = named_weights(model, role, attention_type) or weights_beside_output(
            model, role, attention_type
        )
        for name, weight in named[:1]:
            outputs, inputs = weight.shape
            projections[role] = LinearMap(name, int(inputs), int(outputs))
    return Attention(attention_type, info.heads, info.kv_heads, info.dim, projections)


def _positions_of(part: torch.nn.Module) -> Positions | None:
    """How positions are encoded, judging by the names of the modules."""
    for path, module in part.named_modules():
        name, rows = path.rpartition(".")[2], getattr(module, "num_embeddings", None)
        if name == "relative_attention_bias":
            return Positions("relative", rows)
        if "Sinusoidal" in type(module).__name__:
            return Positions("fixed", rows)
        if rows is not None and ("position" in name or name == "wpe"):
            return Positions("learned", rows)
        if "rotary" in name:
            return Positions("rotary", None)
    return None


def _head_of(model: LoadedModel) -> OutputHead:
    if model.language_model is None:
        return "none"
    head = model.language_model.get_output_embeddings()
    table = input_table(model.network)
    tied = head is not None and table is not None and head.weight.data_ptr() == table.data_ptr()
    return "embeddings" if tied else "own"
