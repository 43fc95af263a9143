"""All heads at once: every attention map as a small tile of bytes, its strongest pairs exactly.

A tile is about 80 pixels wide on the screen and about 300 enlarged: one byte per weight, and at
most 128 x 128 of them, is all that can be seen. What people read as a number stays a float.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from core.analysis.arrays import one_thread
from core.analysis.pairs import permitted_pairs
from core.model.trace import Array, Token, Trace, kept

Bytes = NDArray[np.uint8]

PairFilter = Literal["all", "aa", "ab", "ba", "bb"]  # which sentence attends, to which
PAIR_FILTERS: tuple[PairFilter, ...] = ("all", "aa", "ab", "ba", "bb")
MAX_CELLS = 128  # cells along a side of a tile; its enlargement shows no more
MAX_BYTES = 4_000_000  # of all tiles; models with many heads get smaller ones
STRONGEST = 3  # pairs per head whose weights are kept exactly


@dataclass(frozen=True, eq=False)
class ModelMap:
    """The tiles of all heads, and their strongest pairs."""

    tiles: Bytes  # (layer, head, row, column), from :func:`to_bytes`: each block's largest weight
    block: tuple[int, int]  # tokens a cell stands for, down and across
    rows: tuple[int, ...]  # positions of the query tokens shown
    columns: tuple[int, ...]  # and of the key tokens
    # The largest weights shown, float32 (layer, head, 3), largest first; nan where a head has
    # fewer. Query tokens that see only one key have no choice and are left out.
    strongest: Array
    pairs: NDArray[np.int64]  # (layer, head, 3, 2), their row and column; -1 where there is none


@kept
def model_map(
    trace: Trace,
    *,
    pairs: PairFilter = "all",
    hide_special: bool = False,
) -> ModelMap | None:
    """Every head's attention as bytes, reduced if it is larger than a tile can show.

    With `pairs` "ab", the first sentence's tokens attend to the second's, and so on;
    `hide_special` leaves out the tokens that the tokenizer added. None if no token is left. Holds
    one layer's attention in memory at a time.
    """
    rows, columns = shown_positions(trace.tokens, pairs, hide_special, trace.source)
    if not rows or not columns:
        return None
    layers, heads = trace.shape[:2]
    cells = max_cells(layers * heads)
    block = (-(-len(rows) // cells), -(-len(columns) // cells))
    tiles, strongest, places = [], [], []
    with one_thread():
        for layer in range(layers):
            weights = trace.attention(layer)
            if len(rows) < len(trace.tokens) or len(columns) < len(trace.key_tokens):
                weights = weights[:, rows][..., columns]
            tiles.append(to_bytes(largest_of_blocks(weights, block)))
            allowed = permitted_pairs(trace, layer)[:, rows]
            choices = allowed.sum(axis=-1, keepdims=True)
            if not (choices > 1).all():
                weights = weights * (choices > 1)
            values, where = strongest_pairs(weights)
            strongest.append(values)
            places.append(where)
    return ModelMap(np.stack(tiles), block, rows, columns, np.stack(strongest), np.stack(places))


def shown_positions(
    tokens: tuple[Token, ...],
    pairs: PairFilter,
    hide_special: bool,
    source: tuple[Token, ...] | None = None,
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Positions of the query tokens and of the key tokens that are shown.

    `source` are the tokens that cross attention goes to, as in a trace.
    """
    both = {0, 1}
    segments = (both, both) if pairs == "all" else tuple({"ab".index(side)} for side in pairs)
    sides = (tokens, source or tokens)
    queries, keys = (
        tuple(
            token.position
            for token in side
            if token.segment in shown and not (hide_special and token.special)
        )
        for side, shown in zip(sides, segments, strict=True)
    )
    return queries, keys


def max_cells(heads: int) -> int:
    """Cells along a side of a tile such that the tiles of `heads` heads fit in `MAX_BYTES`."""
    return min(MAX_CELLS, int((MAX_BYTES / heads) ** 0.5))


def to_bytes(weights: Array) -> Bytes:
    """The square root of each weight (0 to 1) in 255 steps.

    In a text of 64 tokens, half of the weights are below 1/64: only four shades in linear steps, 32
    with the square root.
    """
    return np.rint(255 * np.sqrt(weights.clip(0, 1))).astype(np.uint8)


def largest_of_blocks(weights: Array, block: tuple[int, int]) -> Array:
    """The maximum over blocks of `block` rows and columns, smaller ones at the end included.

    (head, row, column) -> float32 (head, row of blocks, column of blocks).
    """
    if block == (1, 1):
        return weights
    for axis, step in enumerate(block, start=1):
        starts = np.arange(0, weights.shape[axis], step)
        weights = np.maximum.reduceat(weights, starts, axis=axis)
    return weights


def strongest_pairs(weights: Array) -> tuple[Array, NDArray[np.int64]]:
    """The three largest weights of each head (head, row, column), and where they are.

    Float32 (head, 3), largest first, and their row and column (head, 3, 2). Ties are in the order
    of the text. Zeros are left out: if there are fewer than three, nan and -1.
    """
    heads, _, columns = weights.shape
    # A weight among the three largest is in one of the three rows with the largest maxima.
    rows = np.argsort(-weights.max(axis=-1), axis=-1, kind="stable")[:, :STRONGEST]
    rows.sort(axis=-1)
    candidates = np.take_along_axis(weights, rows[..., None], axis=1).reshape(heads, -1)
    order = np.argsort(-candidates, axis=-1, kind="stable")[:, :STRONGEST]
    values = np.full((heads, STRONGEST), np.nan, dtype=np.float32)
    places = np.full((heads, STRONGEST, 2), -1)
    count = order.shape[1]
    values[:, :count] = np.take_along_axis(candidates, order, axis=-1)
    places[:, :count, 0] = np.take_along_axis(rows, order // columns, axis=-1)
    places[:, :count, 1] = order % columns
    missing = values == 0
    values[missing] = np.nan
    places[missing] = -1
    return values, places
