"""Sentences of the same length in blocks, so that each computation runs on all of them at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.analysis.arrays import Bools, Floats, Indices
from core.analysis.query_key.correlation import pair_distances
from core.analysis.query_key.faithfulness import (
    MIN_KEYS,
    Faithfulness,
    QueryRows,
    Target,
    compare,
    target_of,
)
from core.model.trace import Layer, Trace

if TYPE_CHECKING:
    from core.atlas.data import Masks

MAX_PAIRS = 300_000  # measured per head; longer corpora are measured on a sample of sentences


@dataclass(frozen=True, eq=False)
class Block:
    """Some sentences of the same length."""

    tokens: Indices  # their tokens, as indices into the corpus, (sentence, token)
    masks: tuple[Masks | None, ...]  # what each sentence's layers permit; None for the usual mask
    causal: bool

    def counted(self, layer: int, head: int) -> Bools:
        """The counted pairs: permitted, of queries with enough keys, (sentence, token, token)."""
        sentences, size = self.tokens.shape
        usual = usual_mask(size, self.causal)
        if any(mask is not None for mask in self.masks):
            of_layer = [usual[None] if mask is None else mask[layer] for mask in self.masks]
            permitted = np.stack([mask[head if len(mask) > 1 else 0] for mask in of_layer])
        else:
            permitted = np.broadcast_to(usual, (sentences, size, size))
        return np.asarray(permitted & (permitted.sum(axis=-1, keepdims=True) >= MIN_KEYS))

    def within(self, sample: Indices) -> Block:
        """The same sentences, with tokens as indices into an ascending sample of the corpus."""
        return replace(self, tokens=np.searchsorted(sample, self.tokens))


def usual_mask(size: int, causal: bool) -> Bools:
    """All pairs; for a causal model, only those with no later key; (token, token)."""
    pairs = np.ones((size, size), dtype=np.bool_)
    return np.tril(pairs) if causal else pairs


def unusual_masks(trace: Trace) -> Masks | None:
    """What each layer permits, if any of them differs from the usual, e.g. sliding windows."""
    size = trace.shape[2]
    usual = usual_mask(size, trace.causal)
    if all(rule.mask is None for rule in trace.layers) and not trace.causal:
        return None
    masks = tuple(
        usual[None] | True if rule.mask is None else np.isfinite(rule.mask).reshape(-1, size, size)
        for rule in trace.layers
    )
    return None if all((mask == usual).all() for mask in masks) else masks


def blocks_of(
    lengths: NDArray[np.integer],
    sentences: Indices,
    masks: Callable[[int], Masks | None],
    causal: bool,
) -> list[Block]:
    """Blocks of these sentences, ascending, given the token count of each corpus sentence.

    `masks` returns the unusual masks of a sentence.
    """
    firsts = np.concatenate([[0], np.cumsum(lengths)])
    blocks = []
    for length in np.unique(lengths[sentences]):
        same = sentences[lengths[sentences] == length]
        indices = firsts[same][:, None] + np.arange(length)
        blocks.append(Block(indices, tuple(masks(int(one)) for one in same), causal))
    return blocks


class CorpusPairs:
    """The counted pairs of every head, block by block.

    With only the usual masks they are the same for all heads, and computed only once.
    """

    def __init__(self, blocks: Sequence[Block]) -> None:
        self.blocks = blocks
        self._same_for_all = all(mask is None for block in blocks for mask in block.masks)
        self._cached: tuple[QueryRows, list[Bools | None]] | None = None

    def rows(self, head: tuple[int, int]) -> QueryRows:
        """The rows of one head, (layer, head); queries and keys are tokens of the corpus."""
        return self._of_head(head)[0]

    def products(self, queries: Floats, keys: Floats, head: tuple[int, int]) -> Floats:
        """Dot products of the pairs of one head, (pair,); vectors: (token of the corpus, dim)."""
        parts = []
        for block, counted in zip(self.blocks, self._of_head(head)[1], strict=True):
            dots = queries[block.tokens] @ keys[block.tokens].swapaxes(-1, -2)
            parts.append(dots.ravel() if counted is None else dots[counted])
        return np.concatenate(parts)

    def target(self, queries: Floats, keys: Floats, head: tuple[int, int], rule: Layer) -> Target:
        """What pictures of one head are compared with.

        `queries`, `keys`: the head's own vectors, (token of the corpus, dim). `rule`: how the layer
        scales and caps its scores, without a mask.
        """
        return target_of(rule.logits(self.products(queries, keys, head)), self.rows(head))

    def faithfulness(
        self, queries: Floats, keys: Floats, head: tuple[int, int], target: Target
    ) -> Faithfulness:
        """How faithful the distances between these points, (token of the corpus, dim), are."""
        rows = target.rows
        products = self.products(queries, keys, head)
        q_squares = rows.spread(np.einsum("td,td->t", queries, queries)[rows.queries])
        k_squares = np.einsum("td,td->t", keys, keys)[rows.keys]
        return compare(target, pair_distances(products, q_squares, k_squares, "euclidean"))

    def _of_head(self, head: tuple[int, int]) -> tuple[QueryRows, list[Bools | None]]:
        """The rows, and which pairs of each block are counted; None for all."""
        if self._cached is not None:
            return self._cached
        counted = [block.counted(*head) for block in self.blocks]
        result = _rows(self.blocks, counted), [None if each.all() else each for each in counted]
        if self._same_for_all:
            self._cached = result
        return result


def _rows(blocks: Sequence[Block], counted: Sequence[Bools]) -> QueryRows:
    counts = np.concatenate([each.sum(axis=-1).ravel() for each in counted])
    queries = np.concatenate([block.tokens.ravel() for block in blocks])
    keys = np.concatenate(
        [
            np.broadcast_to(block.tokens[:, None, :], each.shape)[each]
            for block, each in zip(blocks, counted, strict=True)
        ]
    )
    some = counts > 0
    counts = counts[some]
    return QueryRows(queries[some], keys, np.cumsum(counts) - counts, counts)
