"""Do a tokenizer and a network belong together? An id without a vector must not reach the network.

On the processor torch raises an error for it; on a graphics card it ends all that runs there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.model.errors import UnsupportedModelError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from transformers import PreTrainedModel

_WAY_OUT = "Save the model's own tokenizer into its folder, or pick another model."


def check_ids(
    name: str, network: PreTrainedModel, ids: Sequence[int], segments: Sequence[int] = ()
) -> None:
    """Refuse ids for which the network has no vector.

    Parameters
    ----------
    ids, segments : token ids and segment ids of one text.

    Raises
    ------
    UnsupportedModelError
        With the id and the number of vectors.
    """
    vectors = _number_of_vectors(network)
    if vectors is not None and ids and not 0 <= min(ids) <= max(ids) < vectors:
        raise UnsupportedModelError(
            name,
            f"The tokenizer of {{name}} does not belong to the model: it gives a token the id"
            f" {max(ids):,}, and the model has {vectors:,} vectors.",
            _WAY_OUT,
        )
    kinds = getattr(network.config, "type_vocab_size", None)
    if isinstance(kinds, int) and kinds > 0 and segments and max(segments) >= kinds:
        raise UnsupportedModelError(
            name,
            "The tokenizer of {name} does not belong to the model: it numbers"
            f" {max(segments) + 1} segments, and the model knows {kinds}.",
            _WAY_OUT,
        )


def _number_of_vectors(network: PreTrainedModel) -> int | None:
    """Rows of the table that turns ids into vectors; None where a network has none."""
    try:
        table = network.get_input_embeddings()
    except (NotImplementedError, AttributeError):
        return None
    size = getattr(getattr(table, "weight", None), "shape", None)
    return int(size[0]) if size else None
