"""How much of a head's attention over a corpus its picture keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from core.analysis.normalization import pearson

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from core.analysis.atlas.blocks import Block

    Floats = NDArray[np.float64]

MOST_PAIRS = 300_000  # of a head; longer corpora are measured on a sample of their sentences
_SHARES = (1, 3)


class Kept(NamedTuple):
    """What one picture keeps, as :class:`core.analysis.faithfulness.Faithfulness` has it."""

    correlation: float
    top1: float
    top3: float


def picture_trust(
    queries: Floats,
    keys: Floats,
    pictures: Sequence[tuple[Floats, Floats]],
    blocks: Sequence[Block],
    at: tuple[int, int],
) -> list[Kept]:
    """Compare pictures of one head with its dot products, sentence by sentence.

    Parameters
    ----------
    queries, keys : the full vectors, (token of the corpus, dim).
    pictures : points of queries and keys, each (token of the corpus, 2 or 3).
    blocks : the sentences that are measured.
    at : (layer, head), which decides what is permitted.
    """
    distances: list[list[Floats]] = [[] for _ in pictures]
    shares: list[list[Floats]] = [[] for _ in pictures]
    products = []
    for block in blocks:
        allowed = block.allowed(*at)
        dots = queries[block.tokens] @ keys[block.tokens].swapaxes(-1, -2)
        products.append(dots[allowed])
        strongest = _first(dots, allowed)
        for index, (q, k) in enumerate(pictures):
            apart = _distances(q[block.tokens], k[block.tokens])
            distances[index].append(apart[allowed])
            shares[index].append(_shared(strongest, _first(-apart, allowed), allowed))
    everything = np.concatenate(products)
    return [
        Kept(
            pearson(np.concatenate(apart), everything),
            *(float(value) for value in np.concatenate(share, axis=1).mean(axis=1)),
        )
        for apart, share in zip(distances, shares, strict=True)
    ]


def random_trust(blocks: Sequence[Block]) -> tuple[float, float]:
    """What random points reach on average, (top1, top3), by the first layer's permitted pairs."""
    counts = np.concatenate([block.allowed(0, 0).sum(axis=-1).ravel() for block in blocks])
    first, third = (float((np.minimum(k, counts) / counts).mean()) for k in _SHARES)
    return first, third


def _distances(queries: Floats, keys: Floats) -> Floats:
    """Of every query to every key of its sentence, (sentence, token, token)."""
    squares = sum(
        (queries[:, :, None, axis] - keys[:, None, :, axis]) ** 2
        for axis in range(queries.shape[-1])
    )
    return np.sqrt(squares)


def _first(values: Floats, allowed: NDArray[np.bool_]) -> NDArray[np.intp]:
    """The three largest permitted keys of each query, (sentence, token, at most 3).

    Of equals the earlier key comes first.
    """
    shown = np.where(allowed, values, -np.inf)
    return np.argsort(-shown, axis=-1, kind="stable")[..., : max(_SHARES)]


def _shared(one: NDArray[np.intp], other: NDArray[np.intp], allowed: NDArray[np.bool_]) -> Floats:
    """For k = 1 and 3, the share of `one`'s first k that are among the `other`'s, (2, query)."""
    counts = allowed.sum(axis=-1)
    shares = []
    for k in _SHARES:
        most = np.minimum(k, counts)
        ranks = np.arange(min(k, one.shape[-1])) < most[..., None]  # a query may have fewer keys
        same = one[..., : ranks.shape[-1], None] == other[..., None, : ranks.shape[-1]]
        both = ranks[..., :, None] & ranks[..., None, :]
        shares.append(((same & both).sum(axis=(-1, -2)) / most).ravel())
    return np.stack(shares)
