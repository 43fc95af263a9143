"""One forward pass of a batch of token ids, recorded."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from core.model.capture.calls import Change, Check, Recorder, recording
from core.model.trace import AttentionType

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerFast

    Ids = Sequence[list[int]]

# The model's own attention function, PyTorch's faster one, or whatever the network does, watched.
AttentionMode = Literal["exact", "fast", "watched"]
# What networks call their hidden states; an encoder may run by itself.
_HIDDEN_STATES: dict[AttentionType, tuple[str, ...]] = {
    "self": ("hidden_states",),
    "encoder": ("encoder_hidden_states", "hidden_states"),
    "decoder": ("decoder_hidden_states",),
    "cross": (),
}


def run_batch(
    network: PreTrainedModel,
    tokenizer: PreTrainedTokenizerFast,
    ids: Ids,
    segments: Ids,
    *,
    way: AttentionMode,
    check: Check | None = None,
    change: Change | None = None,
    targets: Ids | None = None,
) -> tuple[Recorder, Any]:
    """Run texts together, shorter ones padded on the right.

    Parameters
    ----------
    ids, segments : for each text, equally long.
    way : how attention is computed and recorded.
    check, change : as in :class:`core.model.capture.calls.Recorder`.
    targets : for each text, what the decoder of an encoder-decoder reads.

    Returns
    -------
    What was recorded, and the network's output with its hidden states.
    """
    inputs = inputs_of(network, tokenizer, ids, segments, targets)
    lengths = {max(map(len, each)) for each in (ids, targets) if each is not None}
    return run_inputs(network, inputs, len(ids), lengths, way=way, check=check, change=change)


def run_inputs(
    network: PreTrainedModel,
    inputs: dict[str, Any],
    count: int,
    lengths: set[int],
    *,
    way: AttentionMode,
    check: Check | None = None,
    change: Change | None = None,
) -> tuple[Recorder, Any]:
    """Run any inputs of a network and record the pass, as :func:`run_batch` does for texts.

    Parameters
    ----------
    inputs : by the network's argument names.
    count : texts or images in the batch.
    lengths : tokens of the longest of them, and of a decoder's longest text.
    """
    import torch

    with (
        torch.inference_mode(),
        recorded(way, count, lengths, check=check, change=change) as recorder,
    ):
        output = network(**inputs, output_hidden_states=True)
    return recorder, output


@contextlib.contextmanager
def recorded(
    way: AttentionMode,
    count: int,
    lengths: set[int],
    *,
    check: Check | None = None,
    change: Change | None = None,
    keeps: bool = True,
) -> Iterator[Recorder]:
    """Record, and change, the passes of a network that this thread makes in the block.

    `count` and `lengths` are as for :func:`run_inputs`, the other parameters as in
    :class:`core.model.capture.calls.Recorder`.
    """
    with recording(Recorder(way != "fast", check, change, keeps)) as recorder:
        if way != "watched":
            yield recorder
            return
        from core.model.capture.watching import AttentionTracer

        with AttentionTracer(recorder, count, lengths):
            yield recorder


def hidden_states(output: object, attention_type: AttentionType) -> tuple[torch.Tensor, ...] | None:
    """What each layer of the encoder or the decoder received, and the last one returned.

    (batch, token, width) each; None where the network returns none, and for cross attention, whose
    queries come from inside a layer.
    """
    candidates = (getattr(output, name, None) for name in _HIDDEN_STATES[attention_type])
    return next((states for states in candidates if states is not None), None)


def inputs_of(
    network: PreTrainedModel,
    tokenizer: PreTrainedTokenizerFast,
    ids: Ids,
    segments: Ids,
    targets: Ids | None = None,
) -> dict[str, Any]:
    """The network's inputs, each (text, token); segments only if it reads them."""
    import torch

    filler = tokenizer.pad_token_id or 0
    rows = {"input_ids": _padded(ids, filler), "attention_mask": _mask(ids)}
    if targets is not None:
        rows["decoder_input_ids"] = _padded(targets, filler)
        rows["decoder_attention_mask"] = _mask(targets)
    if "token_type_ids" in tokenizer.model_input_names and _reads_segments(type(network).forward):
        rows["token_type_ids"] = _padded(segments, 0)
    device = next(network.parameters()).device
    inputs = {name: torch.tensor(each, device=device) for name, each in rows.items()}
    return inputs if targets is None else inputs | {"use_cache": False}


@cache
def _reads_segments(forward: Callable[..., object]) -> bool:
    return "token_type_ids" in inspect.signature(forward).parameters


def _mask(rows: Ids) -> list[list[int]]:
    return _padded([[1] * len(row) for row in rows], 0)


def _padded(rows: Ids, filler: int) -> list[list[int]]:
    length = max(map(len, rows))
    return [row + [filler] * (length - len(row)) for row in rows]
