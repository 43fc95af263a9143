"""Sentences of one length side by side, so that what is asked of each is asked of all at once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from core.analysis.query_key.target import MIN_KEYS, Rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from core.analysis.atlas.data import CorpusTokens, Masks
    from core.model.trace import Trace


SEED = 0


@dataclass(frozen=True, eq=False)
class Block:
    """Some sentences of the same length.

    Attributes
    ----------
    tokens : which tokens of the corpus they have, (sentence, token).
    masks : for each sentence what its layers permit, or None where that is the usual.
    """

    tokens: NDArray[np.intp]
    masks: tuple[Masks | None, ...]
    causal: bool

    def allowed(self, layer: int, head: int) -> NDArray[np.bool_]:
        """Which keys each query may see, (sentence, token, token)."""
        sentences, size = self.tokens.shape
        usual = usual_mask(size, self.causal)
        if all(mask is None for mask in self.masks):
            return np.broadcast_to(usual, (sentences, size, size))
        return np.stack([usual if mask is None else _of(mask[layer], head) for mask in self.masks])

    def among(self, chosen: NDArray[np.intp]) -> Block:
        """The same sentences by the places of their tokens among those chosen, ascending."""
        return replace(self, tokens=np.searchsorted(chosen, self.tokens))


def usual_mask(size: int, causal: bool) -> NDArray[np.bool_]:
    """All pairs, or for a causal model those of a query with no later key, (token, token)."""
    pairs = np.ones((size, size), dtype=np.bool_)
    return np.tril(pairs) if causal else pairs


def unusual_masks(trace: Trace) -> Masks | None:
    """What each layer permits, where any of them is not the usual: a sliding window, for one."""
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
    tokens: CorpusTokens, masks: Mapping[int, Masks], causal: bool, most_pairs: int
) -> list[Block]:
    """Blocks of a random sample of the sentences (fixed seed) with at most so many pairs together.

    The sample has at least one sentence. `masks` are the unusual ones, by sentence.
    """
    lengths = np.bincount(tokens.sentence)
    order = np.random.default_rng(SEED).permutation(len(lengths))
    pairs = np.cumsum(lengths[order].astype(np.int64) ** 2)
    chosen = np.sort(order[: max(1, int(np.searchsorted(pairs, most_pairs, side="right")))])
    return blocks_for(tokens, chosen, masks, causal)


def blocks_for(
    tokens: CorpusTokens,
    chosen: NDArray[np.intp],
    masks: Mapping[int, Masks],
    causal: bool,
) -> list[Block]:
    """Blocks of these sentences, ascending."""
    lengths = np.bincount(tokens.sentence)
    firsts = np.concatenate([[0], np.cumsum(lengths)])
    blocks = []
    for length in np.unique(lengths[chosen]):
        same = chosen[lengths[chosen] == length]
        places = firsts[same][:, None] + np.arange(length)
        blocks.append(Block(places, tuple(masks.get(int(one)) for one in same), causal))
    return blocks


class CorpusPairs:
    """The pairs that count of every head, block after block.

    Where nothing but the usual is masked they are the same for all heads, and made once.
    """

    def __init__(self, blocks: Sequence[Block]) -> None:
        self.blocks = blocks
        self._usual = all(mask is None for block in blocks for mask in block.masks)
        self._known: tuple[Rows, list[NDArray[np.bool_] | None]] | None = None

    def rows(self, at: tuple[int, int]) -> Rows:
        """The rows of one head, (layer, head); queries and keys are tokens of the corpus."""
        return self._of_head(at)[0]

    def products(
        self, queries: NDArray[np.float64], keys: NDArray[np.float64], at: tuple[int, int]
    ) -> NDArray[np.float64]:
        """Dot products of the pairs of one head, (pair,); arguments (token of the corpus, dim)."""
        parts = []
        for block, counted in zip(self.blocks, self._of_head(at)[1], strict=True):
            dots = queries[block.tokens] @ keys[block.tokens].swapaxes(-1, -2)
            parts.append(dots.ravel() if counted is None else dots[counted])
        return np.concatenate(parts)

    def _of_head(self, at: tuple[int, int]) -> tuple[Rows, list[NDArray[np.bool_] | None]]:
        if self._known is not None:
            return self._known
        counted = [_counted(block.allowed(*at)) for block in self.blocks]
        made = (
            _rows(self.blocks, counted),
            [None if each.all() else each for each in counted],
        )
        if self._usual:
            self._known = made
        return made


def _counted(allowed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return np.asarray(allowed & (allowed.sum(axis=-1, keepdims=True) >= MIN_KEYS))


def _rows(blocks: Sequence[Block], counted: Sequence[NDArray[np.bool_]]) -> Rows:
    counts = np.concatenate([each.sum(axis=-1).ravel() for each in counted])
    queries = np.concatenate([block.tokens.ravel() for block in blocks])
    sizes = [block.tokens.shape for block in blocks]
    length = np.concatenate([np.full(texts, size) for texts, size in sizes])
    texts = np.repeat(np.arange(length.size), length)
    keys = np.concatenate(
        [
            np.broadcast_to(block.tokens[:, None, :], each.shape)[each]
            for block, each in zip(blocks, counted, strict=True)
        ]
    )
    some = counts > 0
    counts = counts[some]
    return Rows(queries[some], texts[some], keys, np.cumsum(counts) - counts, counts)


def _of(mask: NDArray[np.bool_], head: int) -> NDArray[np.bool_]:
    return np.asarray(mask[head if len(mask) > 1 else 0])
