"""All heads at once: every attention map as a small tile of bytes, and its strongest pairs exactly.

A tile on the screen is some 80 pixels wide, its enlargement some 300: one byte a weight, and at
most 128 x 128 of them, is all that can be seen. What people read as a number stays a float.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from core.analysis.pairs import permitted_pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from core.model.trace import Array, Token, Trace

    Bytes = NDArray[np.uint8]

PairFilter = Literal["all", "aa", "ab", "ba", "bb"]  # which sentence attends, to which
PAIR_FILTERS: tuple[PairFilter, ...] = ("all", "aa", "ab", "ba", "bb")
MAX_CELLS = 128  # cells along a side of a tile: more are not seen in its enlargement
MAX_BYTES = 4_000_000  # of all tiles; models of many heads get smaller ones
STRONGEST = 3  # pairs a head whose weights are kept exactly


@dataclass(frozen=True, eq=False)
class ModelMap:
    """The tiles of all heads, and their strongest pairs.

    Attributes
    ----------
    tiles : uint8 (layer, head, row, column), from :func:`to_bytes`. A cell is one weight, or the
        largest of a block of `block` weights.
    block : tokens a cell stands for, down and across.
    rows, columns : positions of the tokens shown, of those that attend and those attended to.
    strongest : float32 (layer, head, 3), the largest weights shown, largest first; nan where a head
        has fewer. Tokens that may see only one key have no choice and are passed over.
    pairs : (layer, head, 3, 2), their row and column; -1 where there is none.
    """

    tiles: Bytes
    block: tuple[int, int]
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    strongest: Array
    pairs: NDArray[np.int64]


def model_map(
    trace: Trace,
    *,
    pairs: PairFilter = "all",
    hide_special: bool = False,
    renormalise: bool = False,
) -> ModelMap | None:
    """Every head's attention, quantised, and downsampled where it is larger than a tile shows.

    Parameters
    ----------
    pairs : "ab" is the first sentence's tokens attending to the second's, and so on.
    hide_special : leave out the tokens that the tokenizer added.
    renormalise : divide each row by what is left of it.

    Returns
    -------
    None when no token is left. One layer's attention is in memory at a time.
    """
    from threadpoolctl import threadpool_limits

    rows, columns = shown_positions(trace.tokens, pairs, hide_special)
    if not rows or not columns:
        return None
    layers, heads = trace.shape[:2]
    most = max_cells(layers * heads)
    block = (-(-len(rows) // most), -(-len(columns) // most))
    tiles, strongest, found = [], [], []
    # Matrices this small gain nothing from threads, which wait for each other on a busy server.
    with threadpool_limits(1, user_api="blas"):
        for layer in range(layers):
            shown = _shown(trace.attention(layer), rows, columns)
            shown = _rows_of_one(shown) if renormalise else shown
            tiles.append(to_bytes(largest_of_blocks(shown, block)))
            allowed = permitted_pairs(trace, layer)[:, rows]
            choice = (allowed[..., columns] if renormalise else allowed).sum(axis=-1) > 1
            values, where = strongest_pairs(shown if choice.all() else shown * choice[..., None])
            strongest.append(values)
            found.append(where)
    return ModelMap(np.stack(tiles), block, rows, columns, np.stack(strongest), np.stack(found))


def shown_positions(
    tokens: tuple[Token, ...], pairs: PairFilter, hide_special: bool
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Positions of the tokens that attend, and of those that are attended to."""
    segments = {"a": {0}, "b": {1}}

    def of(sentence: str) -> tuple[int, ...]:
        return tuple(
            token.position
            for token in tokens
            if token.segment in segments.get(sentence, {0, 1})
            and not (hide_special and token.special)
        )

    return (of(""), of("")) if pairs == "all" else (of(pairs[0]), of(pairs[1]))


def max_cells(heads: int) -> int:
    """Cells along a side of a tile so that the tiles of `heads` heads fit `MAX_BYTES`."""
    return min(MAX_CELLS, int((MAX_BYTES / heads) ** 0.5))


def to_bytes(weights: Array) -> Bytes:
    """The square root of each weight (0 to 1) in 255 steps.

    Half of all weights of a text of 64 tokens are under 1/64: as steps of the weight itself they
    would be four shades; of its root they are 32.
    """
    return np.rint(255 * np.sqrt(weights.clip(0, 1))).astype(np.uint8)


def largest_of_blocks(weights: Array, block: tuple[int, int]) -> Array:
    """The maximum over blocks of `block` rows and columns, the last ones perhaps smaller.

    (head, row, column) in, float32 (head, block, block) out.
    """
    heads, rows, columns = weights.shape
    down, across = block
    if block == (1, 1):
        return weights
    fill = ((0, 0), (0, -rows % down), (0, -columns % across))
    whole = np.pad(weights, fill)  # zeros are never the largest
    blocks = whole.reshape(heads, whole.shape[1] // down, down, -1, across)
    return np.asarray(blocks.max(axis=2).max(axis=-1))


def strongest_pairs(weights: Array) -> tuple[Array, NDArray[np.int64]]:
    """The three largest weights of each head, and where they are.

    Parameters
    ----------
    weights : (head, row, column), none negative; zeros are passed over.

    Returns
    -------
    float32 (head, 3), largest first, and their row and column (head, 3, 2). Equal weights are taken
    in the order of the text; where there are fewer, nan and -1.
    """
    heads, _, columns = weights.shape
    # A weight among the three largest stands in one of the three rows with the largest maximum.
    best = np.argsort(-weights.max(axis=-1), axis=-1, kind="stable")[:, :STRONGEST]
    best.sort(axis=-1)
    candidates = np.take_along_axis(weights, best[..., None], axis=1).reshape(heads, -1)
    order = np.argsort(-candidates, axis=-1, kind="stable")[:, :STRONGEST]
    found = np.zeros((heads, STRONGEST), dtype=np.float32)
    where = np.zeros((heads, STRONGEST, 2), dtype=np.int64)
    count = order.shape[1]
    found[:, :count] = np.take_along_axis(candidates, order, axis=-1)
    where[:, :count, 0] = np.take_along_axis(best, order // columns, axis=-1)
    where[:, :count, 1] = order % columns
    missing = found == 0
    found[missing] = np.nan
    where[missing] = -1
    return found, where


def _shown(weights: Array, rows: tuple[int, ...], columns: tuple[int, ...]) -> Array:
    """(head, row, column) of what is shown; the attention itself where that is all of it."""
    size = weights.shape[-1]
    if len(rows) == size and len(columns) == size:
        return weights
    return weights[:, rows][..., columns]


def _rows_of_one(weights: Array) -> Array:
    """Each row divided by its sum; a row with nothing left stays zero."""
    sums = weights.sum(axis=-1, keepdims=True)
    return np.divide(weights, sums, out=np.zeros_like(weights), where=sums > 0)
