"""A loaded and checked model, from which every trace is made."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerFast

    from core.model.forward import Way

# What a language-model head was trained for: the next word, words behind a mask, or an answer.
Task = Literal["next", "masked", "answer"]


@dataclass(frozen=True, eq=False)
class LoadedModel:
    """A network and its tokenizer; what is recorded is proven to be the model's own attention.

    Attributes
    ----------
    name : the name it was loaded by.
    tokenizer, network : transformers' own objects; the network never changes after loading.
    device : "cuda", "mps" or "cpu".
    layers, heads, kv_heads, dim : as recorded; `layers` are those that attend, `dim` is the length
        of a query.
    depth : layers of the network, of which some may not attend.
    numbers : of the layers that attend, from 1, as the network counts; empty if it does not say.
    parameters : number of weights.
    max_tokens : longest input, in tokens.
    causal : whether no token attends to a later one.
    probe_error : largest difference between recomputed attention and the model's own, see
        :mod:`core.model.probe`.
    way : how attention is computed and recorded, see :data:`core.model.forward.Way`.
    batches : texts may run in padded batches; else one by one.
    pairs : a second text may be given.
    checked_tokens : of the longest text that the check at load ran.
    outputs : names of the modules that are W_O, one per layer, None where that is not known.
    language_model : the network with the language-model head of the checkpoint, around the very
        weights of `network`; None without one, see :mod:`core.model.language.head`.
    task : what that head was trained for.
    tokenizer_lock : fast tokenizers must not be called by two threads at once.
    """

    name: str
    tokenizer: PreTrainedTokenizerFast
    network: PreTrainedModel
    device: str
    layers: int
    heads: int
    kv_heads: int
    dim: int
    parameters: int
    max_tokens: int
    causal: bool
    probe_error: float
    way: Way = "exact"
    batches: bool = True
    pairs: bool = True
    checked_tokens: int = 0
    outputs: tuple[str, ...] | None = None
    depth: int | None = None
    language_model: PreTrainedModel | None = None
    task: Task | None = None
    numbers: tuple[int, ...] = ()
    tokenizer_lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
