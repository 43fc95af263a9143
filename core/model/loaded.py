"""A loaded and checked model, from which every trace is made."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from transformers import PreTrainedModel, PreTrainedTokenizerFast

    from core.model.forward import Way
    from core.model.trace import Kind


@dataclass(frozen=True)
class Heads:
    """The heads of one kind of attention; the fields are as in :class:`LoadedModel`."""

    layers: int
    heads: int
    kv_heads: int
    dim: int
    causal: bool
    outputs: tuple[str, ...] | None = None


@dataclass(frozen=True, eq=False)
class LoadedModel:
    """A network and its tokenizer; what is recorded is proven to be the model's own attention.

    Attributes
    ----------
    name : the name it was loaded by.
    tokenizer, network : transformers' own objects; the network never changes after loading.
    device : "cuda", "mps" or "cpu".
    layers, heads, kv_heads, dim : as recorded; `layers` are those that attend, `dim` is the length
        of a query. Of an encoder-decoder, they are its encoder's.
    depth : layers of the network, of which some may not attend.
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
    order : the kind of each attention call of a pass, in an encoder-decoder.
    others : the heads of its decoder and of cross attention.
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
    order: tuple[Kind, ...] = ()
    others: Mapping[Kind, Heads] = field(default_factory=dict)
    tokenizer_lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of attention it has, each in its own heads."""
        return tuple(dict.fromkeys(self.order)) or ("self",)

    def of_kind(self, kind: Kind) -> Heads:
        """The heads of one of its kinds of attention."""
        if kind in self.others:
            return self.others[kind]
        sizes = self.layers, self.heads, self.kv_heads, self.dim
        return Heads(*sizes, self.causal, self.outputs)
