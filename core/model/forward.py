"""One forward pass of a batch of token ids, recorded."""

from __future__ import annotations

import contextlib
import inspect
from typing import TYPE_CHECKING, Literal

from core.model.capture import recording

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerFast

    from core.model.capture import Recorder
    from core.model.capture.calls import Check

    Ids = Sequence[list[int]]

# The model's own attention function, PyTorch's faster one, or whatever the network does, watched.
Way = Literal["exact", "fast", "watched"]


def run_batch(
    network: PreTrainedModel,
    tokenizer: PreTrainedTokenizerFast,
    ids: Ids,
    segments: Ids,
    *,
    way: Way,
    check: Check | None = None,
) -> tuple[Recorder, tuple[torch.Tensor, ...] | None]:
    """Run texts together, shorter ones padded on the right.

    Parameters
    ----------
    ids, segments : of each text, of one length.
    way : how attention is computed and recorded.
    check : as in :class:`core.model.capture.Recorder`.

    Returns
    -------
    What was recorded, and the hidden states, (batch, token, width) each, if the network has any.
    """
    import torch

    inputs = inputs_of(network, tokenizer, ids, segments)
    with (
        torch.inference_mode(),
        recording(exact=way != "fast", check=check) as recorder,
        _watching(way, recorder, ids),
    ):
        output = network(**inputs, output_hidden_states=True)
    return recorder, getattr(output, "hidden_states", None)


def inputs_of(
    network: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, ids: Ids, segments: Ids
) -> dict[str, torch.Tensor]:
    """What the network gets: (text, token) each, with segments only if it reads them."""
    import torch

    length = max(map(len, ids))
    rows = {
        "input_ids": _padded(ids, length, tokenizer.pad_token_id or 0),
        "attention_mask": _padded([[1] * len(each) for each in ids], length, 0),
    }
    accepted = inspect.signature(network.forward).parameters
    if "token_type_ids" in accepted and "token_type_ids" in tokenizer.model_input_names:
        rows["token_type_ids"] = _padded(segments, length, 0)
    return {name: torch.tensor(each, device=network.device) for name, each in rows.items()}


def _watching(way: Way, recorder: Recorder, ids: Ids) -> contextlib.AbstractContextManager[object]:
    if way != "watched":
        return contextlib.nullcontext()
    from core.model.capture.watching import Watch

    return Watch(recorder, len(ids), max(map(len, ids)))


def _padded(rows: Ids, length: int, filler: int) -> list[list[int]]:
    return [row + [filler] * (length - len(row)) for row in rows]
