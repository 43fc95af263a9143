"""Whether the parts of a trace fit together, for those that come from a file."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from core.model.errors import TraceFileError
from core.model.trace.parts import Array, Layer, Patches, Token


def check_parts(
    tokens: Sequence[Token],
    key_tokens: Sequence[Token],
    queries: Array,
    keys: Array,
    values: Array,
    layers: Sequence[Layer],
    layer_labels: Sequence[int],
    hidden_states: Array | None,
    patches: Patches | None,
) -> None:
    """Refuse parts that no forward pass gives together.

    Parameters
    ----------
    tokens, key_tokens : those that attend, and those that are attended to.
    queries, keys, values : (layer, head, token, dim); keys and values may have fewer heads.
    layer_labels : of the layers, from 1.

    Raises
    ------
    TraceFileError
        With the first part that does not fit.
    """
    _check_shapes(tokens, key_tokens, queries, keys, values, layers)
    if not all(np.isfinite(each).all() for each in (queries, keys, values)):
        raise TraceFileError("Queries, keys or values are not finite numbers.")
    if any(after <= before for before, after in pairwise((0, *layer_labels))):
        raise TraceFileError("The numbers of the layers do not ascend.")
    if hidden_states is not None and (
        hidden_states.ndim != 3 or hidden_states.shape[:2] != (len(layers) + 1, len(tokens))
    ):
        raise TraceFileError("The hidden states are not those of the layers and tokens.")
    for layer in layers:
        _check_layer(layer, queries.shape[1], len(tokens), len(key_tokens))
    for each in (tokens, key_tokens):
        _check_tokens(each)
    if patches is not None:
        _check_patches(patches, len(tokens))


def _check_shapes(
    tokens: Sequence[Token],
    key_tokens: Sequence[Token],
    queries: Array,
    keys: Array,
    values: Array,
    layers: Sequence[Layer],
) -> None:
    if queries.ndim != 4 or 0 in queries.shape:
        raise TraceFileError("The queries are not numbers of layers, heads, tokens and dimensions.")
    layer_count, heads, query_count, dim = queries.shape
    key_heads = keys.shape[1] if keys.ndim == 4 else 0
    if not key_heads or heads % key_heads:
        raise TraceFileError(f"The keys are not those of {heads} heads.")
    shape = (layer_count, key_heads, len(key_tokens))
    if keys.shape != (*shape, dim) or values.shape[:-1] != shape or not values.shape[-1]:
        raise TraceFileError(
            "The keys and values do not belong to the queries, or a corpus was read, of which"
            " values are not kept."
        )
    if len(tokens) != query_count or len(layers) != layer_count:
        raise TraceFileError("The tokens or the layers are not those of the queries.")


def _check_layer(layer: Layer, heads: int, queries: int, keys: int) -> None:
    mask, sink = layer.mask, layer.sink
    if mask is not None:
        if mask.shape not in {(queries, keys), (heads, queries, keys)}:
            raise TraceFileError("A mask is not one number for each query and key.")
        if not (mask < np.inf).all():  # nor NaN
            raise TraceFileError("A mask adds what is no number, or infinity.")
    if sink is not None and (sink.shape != (heads,) or not np.isfinite(sink).all()):
        raise TraceFileError("A sink is not one number for each head.")


def _check_tokens(tokens: Sequence[Token]) -> None:
    for place, token in enumerate(tokens):
        first, end = token.span
        if token.position != place or token.segment not in (0, 1) or not 0 <= first <= end:
            raise TraceFileError(f"Token {place + 1} says that it stands elsewhere.")


def _check_patches(patches: Patches, tokens: int) -> None:
    rows, columns, size, first = patches.rows, patches.columns, patches.size, patches.first
    if min(rows, columns, size, *patches.given, *(patches.seen or ())) < 1 or first < 0:
        raise TraceFileError("The image has no patches.")
    if patches.pixels.shape != (rows * size, columns * size, 3) or patches.tokens.stop > tokens:
        raise TraceFileError("The pixels of the image are not those of its patches.")
