"""What one forward pass recorded: tokens, queries, keys, values. Immutable; imports only NumPy.

Attention maps (token x token, per head) are not stored: they are recomputed from the queries and
keys for the layer or head that is asked for, so a trace grows with the length of the text and not
with its square.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal

import numpy as np

from core.model.errors import TraceFileError
from core.model.trace.input import Input, input_of
from core.model.trace.parts import (
    Array,
    AttentionType,
    Layer,
    Patches,
    Token,
)
from core.model.trace.stored import read_record, write_record

# Above what any network computes (float16 ends at 65,504); the scores of such queries and keys, and
# their squares, fit float32.
_MOST = 1e12
_MOST_SCALING = 1e3


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
    others : of an encoder's trace, those of the decoder and of cross attention in the same pass.
    depth : layers of the network, those that do not attend included; None if it names none.
    patches : of an image, its pixels and its grid; None for a text.
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

    @classmethod
    def open(cls, path: str | Path) -> Trace:
        """The trace that :meth:`save` wrote, with those of its pass; neither needs the model.

        Raises
        ------
        TraceFileError
            When the file is no such trace, or its parts do not fit together: why, in a sentence.
        """
        trace = read_record(cls, path)
        trace.check()
        return trace

    def save(self, path: str | Path, **notes: str) -> None:
        """Write one safetensors file with everything that is here, and `notes` beside it.

        It holds the text, as tokens. Of an encoder's trace the decoder's and that of cross
        attention go with it.

        Raises
        ------
        TraceFileError
            For a trace that could not be opened again: one of a corpus, without values, or with
            numbers that are not finite.
        """
        self.check()
        write_record(self, path, notes)

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """(layers, heads, tokens, dim of a query)."""
        layers, heads, tokens, dim = self.queries.shape
        return layers, heads, tokens, dim

    @property
    def key_tokens(self) -> tuple[Token, ...]:
        """The tokens attended to, one per key: `tokens` themselves except in cross attention."""
        return self.tokens if self.source is None else self.source

    @property
    def input(self) -> Input:
        """What the tokens were made of: what they are called, and which of them are neighbours."""
        return input_of(self.tokens, self.source, self.attention_type, self.patches)

    @property
    def attention_types(self) -> tuple[AttentionType, ...]:
        """The kinds of attention that this trace gives."""
        return (self.attention_type, *(each.attention_type for each in self.others))

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
        own = [layer.number for layer in self.layers]
        return tuple(place + 1 if each is None else each + 1 for place, each in enumerate(own))

    @property
    def typed_specials(self) -> tuple[Token, ...]:
        """The special tokens that were typed in the text; those of the template have no span."""
        return tuple(each for each in self.tokens if each.special and each.span[0] < each.span[1])

    @property
    def unknown_tokens(self) -> tuple[Token, ...]:
        """The tokens that stand for what the vocabulary lacks."""
        return tuple(each for each in self.tokens if each.unknown)

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

    def _per_query_head(self, array: Array) -> Array:
        if self.group == 1:
            return array
        repeated = np.repeat(array, self.group, axis=1)
        repeated.setflags(write=False)
        return repeated

    def check(self) -> None:
        """Raise `TraceFileError` where parts do not fit together, as those of a pass do."""
        attention_types = [each.attention_type for each in (self, *self.others)]
        if len({*attention_types}) < len(attention_types) or any(
            each.others for each in self.others
        ):
            raise TraceFileError("The kinds of attention are not those of one pass.")
        for each in (self, *self.others):
            _check_parts(each)

    def _check(self, layer: int, head: int | None) -> None:
        layers, heads = self.queries.shape[:2]
        if not 0 <= layer < layers:
            raise IndexError(f"layer {layer} of a model with layers 0 to {layers - 1}")
        if head is not None and not 0 <= head < heads:
            raise IndexError(f"head {head} of a model with heads 0 to {heads - 1}")


def _check_parts(trace: Trace) -> None:
    """Raise `TraceFileError` for the first part that no forward pass gives with the others."""
    _check_shapes(trace)
    if not all(map(_is_usual, (trace.queries, trace.kv_keys, trace.kv_values))):
        raise TraceFileError("Queries, keys or values are no numbers that a network computes.")
    if any(after <= before for before, after in pairwise((0, *trace.layer_labels))):
        raise TraceFileError("The numbers of the layers do not ascend.")
    states, layers, tokens = trace.hidden_states, len(trace.layers), len(trace.tokens)
    if states is not None and (states.ndim != 3 or states.shape[:2] != (layers + 1, tokens)):
        raise TraceFileError("The hidden states are not those of the layers and tokens.")
    if states is not None and not _is_usual(states):
        raise TraceFileError("The hidden states are no numbers that a network computes.")
    if min(trace.dropped, trace.cut_characters) < 0 or (
        trace.depth is not None and trace.depth < 1
    ):
        raise TraceFileError("A number of tokens, characters or layers is none that a pass counts.")
    for layer in trace.layers:
        _check_layer(layer, trace.queries.shape[1], tokens, len(trace.key_tokens))
    for each in (trace.tokens, trace.key_tokens):
        _check_tokens(each)
    if trace.patches is not None:
        _check_patches(trace.patches, tokens)


def _is_usual(array: Array) -> bool:
    """Whether these are numbers that a network computes; none is infinite, or NaN."""
    return bool((np.abs(array) < _MOST).all())


def _check_shapes(trace: Trace) -> None:
    queries, keys, values = trace.queries, trace.kv_keys, trace.kv_values
    if queries.ndim != 4 or 0 in queries.shape:
        raise TraceFileError("The queries are not numbers of layers, heads, tokens and dimensions.")
    layer_count, heads, query_count, dim = queries.shape
    key_heads = keys.shape[1] if keys.ndim == 4 else 0
    if not key_heads or heads % key_heads:
        raise TraceFileError(f"The keys are not those of {heads} heads.")
    shape = (layer_count, key_heads, len(trace.key_tokens))
    if keys.shape != (*shape, dim) or values.shape[:-1] != shape or not values.shape[-1]:
        raise TraceFileError(
            "The keys and values do not belong to the queries, or a corpus was read, of which"
            " values are not kept."
        )
    if len(trace.tokens) != query_count or len(trace.layers) != layer_count:
        raise TraceFileError("The tokens or the layers are not those of the queries.")


def _check_layer(layer: Layer, heads: int, queries: int, keys: int) -> None:
    mask, sink = layer.mask, layer.sink
    if mask is not None:
        if mask.shape not in {(queries, keys), (heads, queries, keys)}:
            raise TraceFileError("A mask is not one number for each query and key.")
        if not (mask < _MOST).all():  # nor NaN
            raise TraceFileError("A mask adds something that is no number of a network.")
        if sink is None and not (mask > -np.inf).any(axis=-1).all():
            raise TraceFileError("A mask permits a query to attend to nothing.")
    if not 0 < layer.scaling <= _MOST_SCALING or (layer.softcap is not None and layer.softcap <= 0):
        raise TraceFileError("Scores are scaled or capped by a number that no model has.")
    if sink is not None and (sink.shape != (heads,) or not _is_usual(sink)):
        raise TraceFileError("A sink is not one number for each head.")


def _check_tokens(tokens: Sequence[Token]) -> None:
    for place, token in enumerate(tokens):
        first, end = token.span
        if token.position != place or token.segment not in (0, 1) or not 0 <= first <= end:
            raise TraceFileError(f"Token {place + 1} says that it stands elsewhere.")
        if not (-1 <= token.word <= place and token.id >= -1):  # images have no vocabulary
            raise TraceFileError(f"Token {place + 1} has a number that no text gives it.")


def _check_patches(patches: Patches, tokens: int) -> None:
    rows, columns, size, first = patches.rows, patches.columns, patches.size, patches.first
    if min(rows, columns, size, *patches.given, *(patches.seen or ())) < 1 or first < 0:
        raise TraceFileError("The image has no patches.")
    if patches.pixels.shape != (rows * size, columns * size, 3) or patches.tokens.stop > tokens:
        raise TraceFileError("The pixels of the image are not those of its patches.")
