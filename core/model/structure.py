"""What a model is made of: its own printed structure, and where one layer's q, k, v and W_O sit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from core.model.refusal import refusing_to
from core.model.weights.output_projection import output_module_ending
from core.model.weights.query_key import projection_endings

if TYPE_CHECKING:
    import torch

    from core.model.loaded import LoadedModel

Role = Literal["q", "k", "v", "o"]
# Names that families give to the width of the feed-forward part, in their settings.
_MLP_WIDTHS = ("intermediate_size", "ffn_dim", "hidden_dim", "n_inner")


@dataclass(frozen=True)
class Projection:
    """One linear map of the first layer: its name in the model, and how many numbers go in and out.

    A module that makes queries, keys and values at once stands for each of them, with its own size.
    """

    name: str
    inputs: int
    outputs: int


@dataclass(frozen=True)
class Structure:
    """The parts of a model that attention goes through.

    Attributes
    ----------
    name, model_class : as it was loaded by, and transformers' class.
    layers, heads, kv_heads, dim : as recorded.
    width : numbers a token has between layers (the residual stream).
    mlp_width : width inside the feed-forward part; None where the settings do not name it.
    vocabulary : tokens that have an embedding.
    projections : of the first layer by role; without those that this family's names do not tell.
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
    text: str


@refusing_to("read")
def structure_of(model: LoadedModel) -> Structure:
    """Read the structure of a loaded model; nothing is run."""
    network = model.network
    embeddings = network.get_input_embeddings()
    settings = network.config
    widths = [getattr(settings, name, None) for name in _MLP_WIDTHS]
    return Structure(
        name=model.name,
        model_class=type(network).__name__,
        layers=model.layers,
        heads=model.heads,
        kv_heads=model.kv_heads,
        dim=model.dim,
        width=int(settings.hidden_size),
        mlp_width=next((width for width in widths if isinstance(width, int)), None),
        vocabulary=int(embeddings.num_embeddings),
        projections=_projections(network),
        text=repr(network),
    )


def _projections(network: torch.nn.Module) -> dict[Role, Projection]:
    family = str(network.config.model_type)
    made = projection_endings(family)
    endings: dict[Role, str | None] = {
        "q": made.get("q"),
        "k": made.get("k"),
        "v": made.get("v"),
        "o": output_module_ending(family),
    }
    return {
        role: found
        for role, ending in endings.items()
        if ending is not None and (found := _first(network, ending)) is not None
    }


def _first(network: torch.nn.Module, ending: str) -> Projection | None:
    """The first module with that ending of its name, as a map of vectors."""
    from transformers.pytorch_utils import Conv1D

    for name, module in network.named_modules():
        if f".{name}".endswith(ending):
            outputs, inputs = module.weight.shape
            if isinstance(module, Conv1D):  # which keeps its weight transposed
                outputs, inputs = inputs, outputs
            return Projection(name, int(inputs), int(outputs))
    return None
