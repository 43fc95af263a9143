"""Sentences of one length side by side, so that what is asked of each is asked of all at once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from core.analysis.atlas.data import CorpusTokens
    from core.model.trace import Trace

    Masks = tuple[NDArray[np.bool_], ...]  # a layer: (1 or head, token, token)

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


def sample_pairs(
    blocks: Sequence[Block], layer: int, head: int, most: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Permitted pairs within sentences, all or a random sample (fixed seed): queries and keys."""
    queries, keys = [], []
    for block in blocks:
        which, i, j = np.nonzero(block.allowed(layer, head))
        queries.append(block.tokens[which, i])
        keys.append(block.tokens[which, j])
    i, j = np.concatenate(queries), np.concatenate(keys)
    if i.size > most:
        kept = np.random.default_rng(SEED).choice(i.size, most, replace=False)
        i, j = i[kept], j[kept]
    return i, j


def _of(mask: NDArray[np.bool_], head: int) -> NDArray[np.bool_]:
    return np.asarray(mask[head if len(mask) > 1 else 0])
