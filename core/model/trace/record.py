"""What one forward pass recorded: tokens, queries, keys, values. Immutable; imports only NumPy.

Attention maps (token x token, per head) are not stored: they are recomputed from the queries and
keys for the layer or head that is asked for, so a trace grows with the length of the text and not
with its square.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from importlib import import_module
from threading import RLock
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from core.model.trace.input import Input, input_of
from core.model.trace.parts import Array, AttentionType, Layer, Patches, Token

_Rest = ParamSpec("_Rest")
_Answer = TypeVar("_Answer")


@dataclass(frozen=True, eq=False)
class Trace:
    """One forward pass of one text or image.

    Attributes
    ----------
    model : the name the model was loaded by.
    tokens : one per query.
    queries : float32 (layer, head, token, dim), read-only, rotary positions already applied.
    kv_keys, kv_values : float32 (layer, key-value head, key token, dim), read-only, as the model
        computed them. Grouped-query models have fewer of them than query heads.
    layers : scaling, mask and soft cap of each layer.
    causal : whether no token of this model attends to a later one.
    dropped : number of tokens cut off because the text is longer than the model takes; a minimum
        if characters were cut as well.
    hidden_states : float32 (layer + 1, token, width), read-only: what entered each layer, and what
        left the network; None if the model does not return them.
    cut_characters : characters at the end of a very long text that the tokenizer never saw.
    attention_type : "self" unless the network has an encoder and a decoder: then whether the
        encoder's tokens attend to one another, the decoder's do, or the decoder's attend to the
        encoder's ("cross").
    source : the tokens that cross attention goes to; None where `tokens` attend to one another.
    origin : whose words a decoder read: "given", the model's own "answer", or none but its "start".
    others : with an encoder's trace, those of the decoder and cross attention in the same pass.
    depth : layers of the network, including those that do not attend; None if unknown.
    patches : for an image, its pixels and its grid; None for a text.
    """

    model: str
    tokens: tuple[Token, ...]
    queries: Array
    kv_keys: Array
    kv_values: Array
    layers: tuple[Layer, ...]
    causal: bool
    dropped: int = 0
    hidden_states: Array | None = None
    cut_characters: int = 0
    attention_type: AttentionType = "self"
    source: tuple[Token, ...] | None = None
    origin: Literal["given", "answer", "start"] = "given"
    others: tuple[Trace, ...] = ()
    depth: int | None = None
    patches: Patches | None = None

    def __post_init__(self) -> None:
        for array in (self.queries, self.kv_keys, self.kv_values, self.hidden_states):
            if array is not None:
                array.setflags(write=False)

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """(layers, heads, tokens, dim of a query)."""
        layers, heads, tokens, dim = self.queries.shape
        return layers, heads, tokens, dim

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays, with those of the other types of attention."""
        masks = {id(layer.mask): layer.mask for layer in self.layers}.values()  # most have one
        arrays = (self.queries, self.kv_keys, self.kv_values, self.hidden_states)
        return sum(each.nbytes for each in (*arrays, *masks, *self.others) if each is not None)

    @property
    def key_tokens(self) -> tuple[Token, ...]:
        """The tokens attended to, one per key: `tokens` themselves except in cross attention."""
        return self.tokens if self.source is None else self.source

    @property
    def input(self) -> Input:
        """The input of the pass: what its tokens are called, and which of them are neighbours."""
        return input_of(self.tokens, self.source, self.attention_type, self.patches)

    def of_type(self, attention_type: AttentionType) -> Trace:
        """The trace of another kind of attention in the same pass.

        Raises
        ------
        KeyError
            When there is none.
        """
        return {each.attention_type: each for each in (self, *self.others)}[attention_type]

    @property
    def layer_labels(self) -> tuple[int, ...]:
        """The number of each layer as people read it: the model's own, from 1.

        In hybrids only some layers attend, so 3 and 6 may be all there are.
        """
        numbers = [layer.number for layer in self.layers]
        return tuple(place + 1 if each is None else each + 1 for place, each in enumerate(numbers))

    @property
    def group(self) -> int:
        """Number of query heads that share a key-value head (1 unless the model groups queries)."""
        return self.queries.shape[1] // self.kv_keys.shape[1]

    @property
    def keys(self) -> Array:
        """Keys, float32 (layer, head, key token, dim), repeated to the query heads."""
        return self._per_query_head(self.kv_keys)

    @property
    def values(self) -> Array:
        """Values, float32 (layer, head, key token, dim), repeated to the query heads."""
        return self._per_query_head(self.kv_values)

    def scores(self, layer: int, head: int | None = None) -> Array:
        """Scores before softmax: scaled, soft-capped if the model does that, and masked.

        Returns float32 (token, key token), or (head, token, key token) without `head`; ``-inf``
        where the query (row) may not attend to the key (column).
        """
        self._check(layer, head)
        heads = slice(None) if head is None else slice(head, head + 1)
        queries = self.queries[layer, heads]  # (head, token, dim)
        groups = np.arange(self.queries.shape[1])[heads] // self.group
        products = queries @ self.kv_keys[layer, groups].swapaxes(-1, -2)  # (head, token, key)
        scores = self.layers[layer].logits(products, head)
        return scores if head is None else scores[0]

    def attention(self, layer: int | None = None, head: int | None = None) -> Array:
        """Attention weights: softmax of the scores over the keys. Every row sums to one, or,
        where a head has a learned sink, to less by what the sink takes.

        Returns float32 (layer, head, token, key token) without the axes that are given. A full
        array takes 4 bytes x layers x heads x tokens squared.
        """
        if layer is None:
            return np.stack([self.attention(each, head) for each in range(len(self.layers))])
        scores = self.scores(layer, head)
        return self.layers[layer].weights(scores, head, out=scores)

    def _repr_html_(self) -> str:
        """The head view, in a notebook; imported by name, since it is on a higher floor."""
        return str(import_module("core.notebook").view_of(self)._repr_html_())

    def _per_query_head(self, array: Array) -> Array:
        if self.group == 1:
            return array
        repeated = np.repeat(array, self.group, axis=1)
        repeated.setflags(write=False)
        return repeated

    def _check(self, layer: int, head: int | None) -> None:
        layers, heads = self.queries.shape[:2]
        if not 0 <= layer < layers:
            raise IndexError(f"layer {layer} of a model with layers 0 to {layers - 1}")
        if head is not None and not 0 <= head < heads:
            raise IndexError(f"head {head} of a model with heads 0 to {heads - 1}")


def kept(
    function: Callable[Concatenate[Trace, _Rest], _Answer],
) -> Callable[Concatenate[Trace, _Rest], _Answer]:
    """Keep what a function says of a trace for as long as there is the trace, for all visitors.

    The answer must neither hold the trace, which would then never go, nor be changed.
    """
    answers: WeakKeyDictionary[Trace, dict[Any, _Answer]] = WeakKeyDictionary()
    lock = RLock()

    @wraps(function)
    def find(trace: Trace, /, *args: _Rest.args, **options: _Rest.kwargs) -> _Answer:
        known, question = answers.setdefault(trace, {}), (args, *sorted(options.items()))
        if question not in known:
            with lock:  # of those who ask at once, one computes
                if question not in known:
                    known[question] = function(trace, *args, **options)
        return known[question]

    return find
