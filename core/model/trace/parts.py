"""What a trace is made of: tokens, patches, and how each layer turns scores into weights."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
AttentionType = Literal["self", "encoder", "decoder", "cross"]
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
    row, column : for an image's patch, its place in the grid, from 0; -1 for any other token.
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
    first : the index of the first patch among the tokens, after [CLS] and registers, if any.
    given : (height, width) of the image before the processor resized or cropped it.
    seen : (height, width) of the part of it, around its middle, that became `pixels`; `given` where
        nothing was cut off, None where that is not known.
    would_squash : whether the model's own processor would have squeezed all of the image into
        `pixels`; then its middle was cut out first, so that a circle stays a circle.
    """

    pixels: NDArray[np.uint8]
    rows: int
    columns: int
    size: int
    first: int
    given: tuple[int, int]
    seen: tuple[int, int] | None = None
    would_squash: bool = False

    def __post_init__(self) -> None:
        self.pixels.setflags(write=False)

    @property
    def count(self) -> int:
        """How many patches there are."""
        return self.rows * self.columns

    @property
    def tokens(self) -> slice:
        """The patches' places among the tokens."""
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
    number : the model's own number of the layer, from 0; None where the model gives none, or one
        that cannot be a layer's. Then its place in the trace counts.
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
