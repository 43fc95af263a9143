"""What one forward pass recorded: tokens, queries, keys, values. Immutable; imports only NumPy.

Attention maps (token x token, per head) are not stored: they are recomputed from the queries and
keys for the layer or head that is asked for, so a trace grows with the length of the text and not
with its square.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
Kind = Literal["self", "encoder", "decoder", "cross"]
Floats = TypeVar("Floats", NDArray[np.float32], NDArray[np.float64])


@dataclass(frozen=True)
class Token:
    """One token, as the model gets it and as people read it.

    Attributes
    ----------
    text : as ``tokenizer.convert_ids_to_tokens`` returns it, e.g. ``"##y"`` or ``"Ġbook"``.
    display : what people read: byte-level marks decoded, unknown tokens shown as typed.
    id : number in the vocabulary.
    special : whether it is one of the tokenizer's own (``[CLS]``, ``</s>``, ...), added by its
        template or typed; the model cannot tell these apart.
    segment : 0 for the first sentence, 1 for the second.
    position : index in the sequence, from 0.
    word : index of its word, counted over the whole sequence; -1 for special tokens.
    span : first character and the one after the last, in its own sentence as typed.
    unknown : whether the vocabulary lacks what was typed here, so that the model gets `text`, such
        as ``"[UNK]"``, in its place.
    row, column : of an image's patch, its place in the grid, from 0; -1 for any other token.
    """

    text: str
    display: str
    id: int
    special: bool
    segment: int
    position: int
    word: int
    span: tuple[int, int] = (0, 0)
    unknown: bool = False
    row: int = -1
    column: int = -1


@dataclass(frozen=True, eq=False)
class Patches:
    """The image of a trace, as the model got it: a grid of square patches.

    Attributes
    ----------
    pixels : uint8 (height, width, 3), sRGB, read-only: what the processor made of the image, before
        it was normalised.
    rows, columns : of the grid. Patch (row, column) is token ``first + row * columns + column``.
    size : side of a patch in pixels of `pixels`.
    first : the first patch's place among the tokens, after [CLS] and the registers if there are.
    given : (height, width) of the image before the processor resized or cropped it.
    """

    pixels: NDArray[np.uint8]
    rows: int
    columns: int
    size: int
    first: int
    given: tuple[int, int]

    def __post_init__(self) -> None:
        self.pixels.setflags(write=False)

    @property
    def count(self) -> int:
        """How many patches there are."""
        return self.rows * self.columns

    @property
    def tokens(self) -> slice:
        """Their places among the tokens."""
        return slice(self.first, self.first + self.count)

    @property
    def cells(self) -> NDArray[np.uint8]:
        """The pixels of each patch: uint8 (patch, size, size, 3)."""
        grid = self.pixels.reshape(self.rows, self.size, self.columns, self.size, 3)
        return grid.swapaxes(1, 2).reshape(self.count, self.size, self.size, 3)

    @property
    def colours(self) -> Array:
        """The mean sRGB of each patch: float32 (patch, 3), 0 to 1."""
        colours: Array = self.cells.mean(axis=(1, 2), dtype=np.float32) / np.float32(255)
        return colours


@dataclass(frozen=True)
class Layer:
    """How one layer turns queries and keys into scores.

    Attributes
    ----------
    scaling : factor of the dot product, usually ``1 / sqrt(dim)``.
    mask : additive, (token, token) or (head, token, token), ``-inf`` where attention is not
        permitted; None where everything is permitted.
    softcap : scores are bounded as ``softcap * tanh(scores / softcap)`` (Gemma 2), unless None.
    sink : (head,), the score of a learned key that belongs to no token (gpt-oss): it takes its
        share of every row, so that the weights of the tokens add up to less than one.
    number : the model's own number of the layer, from 0; None where the model says none, or it can
        be no number of a layer. Then the place in the trace counts.
    """

    scaling: float
    mask: Array | None
    softcap: float | None = None
    sink: Array | None = None
    number: int | None = None

    def logits(self, products: Floats, head: int | None = None) -> Floats:
        """The scores for softmax: scaled, soft-capped and masked, in the type of `products`.

        Parameters
        ----------
        products : <q_i, k_j>, (token, token) for one `head`, (head, token, token) for all heads,
            or any other shape that the mask broadcasts to. The array is overwritten.
        """
        products *= self.scaling
        if self.softcap is not None:
            products = self.softcap * np.tanh(products / self.softcap)
        if self.mask is not None:
            products += self.mask if head is None or self.mask.ndim < 3 else self.mask[head]
        return products

    @property
    def biased(self) -> bool:
        """Whether something is added to permitted scores: ALiBi, relative positions."""
        return self.mask is not None and bool((self.mask[np.isfinite(self.mask)] != 0).any())

    def weights(self, scores: Floats, head: int | None = None, out: Floats | None = None) -> Floats:
        """Attention from what :meth:`logits` returned, for the same `head`; `out` as in softmax."""
        if self.sink is None:
            return softmax(scores, out)
        sink = self.sink[:, None, None] if head is None else self.sink[head]
        return softmax(scores, out, sink)


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
    kind : "self" unless the network has an encoder and a decoder: then whether the encoder's tokens
        attend to one another, the decoder's do, or the decoder's attend to the encoder's ("cross").
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
    kind: Kind = "self"
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
    def key_tokens(self) -> tuple[Token, ...]:
        """The tokens attended to, one per key: `tokens` themselves except in cross attention."""
        return self.tokens if self.source is None else self.source

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of attention that this trace gives."""
        return (self.kind, *(each.kind for each in self.others))

    def of_kind(self, kind: Kind) -> Trace:
        """The trace of another kind of attention in the same pass.

        Raises
        ------
        KeyError
            When there is none.
        """
        return {each.kind: each for each in (self, *self.others)}[kind]

    @property
    def numbers(self) -> tuple[int, ...]:
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
        """Attention weights: softmax of the scores over the keys; every row sums to one.

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

    def _check(self, layer: int, head: int | None) -> None:
        layers, heads = self.queries.shape[:2]
        if not 0 <= layer < layers:
            raise IndexError(f"layer {layer} of a model with layers 0 to {layers - 1}")
        if head is not None and not 0 <= head < heads:
            raise IndexError(f"head {head} of a model with heads 0 to {heads - 1}")


def softmax(
    scores: Floats, out: Floats | None = None, sink: Array | np.float32 | None = None
) -> Floats:
    """Softmax over the last axis; ``-inf`` becomes exactly 0. Same shape and type as `scores`.

    Parameters
    ----------
    out : receives the result and may be `scores`, which saves memory for long texts.
    sink : score of one more key, whose weight is not returned; its last axis has length 1.
    """
    largest = scores.max(axis=-1, keepdims=True)
    if sink is not None:
        largest = np.maximum(largest, sink)
    shifted: Floats = np.subtract(scores, largest, out=out)
    np.exp(shifted, out=shifted)
    total = shifted.sum(axis=-1, keepdims=True)
    shifted /= total if sink is None else total + np.exp(sink - largest)
    return shifted


def default_scaling(dim: int) -> float:
    """1 / sqrt(dim), the scaling unless a model sets its own (Vaswani et al. 2017, eq. 1)."""
    return 1.0 / math.sqrt(dim)
