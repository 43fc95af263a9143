"""What a model is made of: the structure PyTorch prints, and its q, k, v and o projections."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from core.model.checks.vocabulary import input_table
from core.model.refusal import refusing_to
from core.model.weights.projections import ROLES, Role, named_weights

if TYPE_CHECKING:
    from core.model.loaded import LoadedModel

# What families call the width of the feed-forward part in their settings.
_MLP_WIDTHS = ("intermediate_size", "ffn_dim", "hidden_dim", "n_inner")

Head = Literal["none", "embeddings", "own"]


@dataclass(frozen=True)
class Projection:
    """One linear map of the first layer: its name in the model, and its input and output size.

    A module that makes queries, keys and values at once appears under each role, with its own size.
    """

    name: str
    inputs: int
    outputs: int


@dataclass(frozen=True)
class Structure:
    """The parts of a model that attention goes through.

    Attributes
    ----------
    name, model_class : the name it was loaded by, and transformers' class.
    layers, heads, kv_heads, dim : as recorded.
    width : numbers per token between layers (the residual stream).
    mlp_width : width inside the feed-forward part; None if the settings do not name it.
    vocabulary : tokens that have an embedding.
    projections : of the first layer, by role, as far as the family is known.
    head : whether the checkpoint has a language-model head, and whether its weights are the input
        embeddings or its own.
    text : the modules as PyTorch prints them.
    """

    name: str
    model_class: str
    layers: int
    heads: int
    kv_heads: int
    dim: int
    width: int
    mlp_width: int | None
    vocabulary: int
    projections: dict[Role, Projection]
    head: Head
    text: str


@refusing_to("read")
def structure_of(model: LoadedModel) -> Structure:
    """Read the structure of a loaded model without running it."""
    network = model.network
    settings = network.config
    widths = [getattr(settings, name, None) for name in _MLP_WIDTHS]
    projections = {}
    for role in ROLES:
        for name, weight in named_weights(model, role)[:1]:
            outputs, inputs = weight.shape
            projections[role] = Projection(name, int(inputs), int(outputs))
    return Structure(
        name=model.name,
        model_class=type(network).__name__,
        layers=model.layers,
        heads=model.heads,
        kv_heads=model.kv_heads,
        dim=model.dim,
        width=int(settings.hidden_size),
        mlp_width=next((width for width in widths if isinstance(width, int)), None),
        vocabulary=int(network.get_input_embeddings().num_embeddings),
        projections=projections,
        head=_head_of(model),
        text=repr(network),
    )


def _head_of(model: LoadedModel) -> Head:
    if model.language_model is None:
        return "none"
    head = model.language_model.get_output_embeddings()
    table = input_table(model.network)
    tied = head is not None and table is not None and head.weight.data_ptr() == table.data_ptr()
    return "embeddings" if tied else "own"
