"""Do tokenizer and network belong together? The network must never get an id without a vector.

On the processor torch raises an error; on a graphics card it takes down everything that runs there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.model.errors import UnsupportedModelError

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel

_ADVICE = "Save the model's own tokenizer into its folder, or pick another model."


def check_ids(network: PreTrainedModel, ids: Sequence[int], segments: Sequence[int] = ()) -> None:
    """Refuse token ids or segment ids that the network has no vector for.

    Raises
    ------
    UnsupportedModelError
        With the largest id and the number of vectors.
    """
    table = input_table(network)
    vectors = len(table) if table is not None and table.ndim else None
    if vectors is not None and ids and not 0 <= min(ids) <= max(ids) < vectors:
        raise UnsupportedModelError(
            "The tokenizer of {name} does not belong to the model: it gives a token the id"
            f" {max(ids):,}, and the model has {vectors:,} vectors.",
            _ADVICE,
        )
    kinds = getattr(network.config, "type_vocab_size", None)
    if isinstance(kinds, int) and kinds > 0 and segments and max(segments) >= kinds:
        raise UnsupportedModelError(
            "The tokenizer of {name} does not belong to the model: it numbers"
            f" {max(segments) + 1} segments, and the model knows {kinds}.",
            _ADVICE,
        )


def input_table(network: PreTrainedModel) -> torch.Tensor | None:
    """The weights that turn ids into vectors, one row per id; None if the network has none.

    transformers raises NotImplementedError for a network that names no such table, and
    AttributeError for one that names a table it does not have.
    """
    try:
        weight = getattr(network.get_input_embeddings(), "weight", None)
    except (NotImplementedError, AttributeError):
        return None
    return None if weight is None else weight.detach()
