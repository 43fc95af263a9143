"""UMAP and t-SNE of a head of an atlas: slow, so of as many whole sentences as time allows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.analysis.atlas.blocks import SEED, CorpusPairs, blocks_for
from core.analysis.atlas.faithfulness import corpus_target, picture_faithfulness
from core.analysis.normalization import key_translation, normalize
from core.analysis.projections.joint_embedding import embed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from core.analysis.atlas.data import Atlas, CorpusTokens
    from core.analysis.projections.joint_embedding import Projection
    from core.analysis.query_key.clouds import Stage
    from core.analysis.query_key.faithfulness import Faithfulness
    from core.model.trace import Array

    Ints = NDArray[np.intp]

TOKENS_ALONE = 2_500  # of the head on screen: UMAP takes about ten seconds
TOKENS_OF_ALL = 500  # of every head, in the background: about two seconds each


@dataclass(frozen=True, eq=False)
class Layout:
    """Some tokens of one head, laid out.

    Attributes
    ----------
    tokens : which tokens of the corpus, ascending, (m,).
    points : float32 (2 m, 2 or 3), queries first.
    kept : what it keeps of the attention within the sentences that are in it.
    """

    tokens: Ints
    points: Array
    kept: Faithfulness


def sampled_sentences(tokens: CorpusTokens, most: int) -> Ints:
    """Random sentences (fixed seed) with at most so many tokens together, but one at least."""
    lengths = np.bincount(tokens.sentence)
    order = np.random.default_rng(SEED).permutation(lengths.size)
    fitting = int(np.searchsorted(np.cumsum(lengths[order]), most, side="right"))
    return np.sort(order[: max(1, fitting)])


def lay_out_head(
    atlas: Atlas,
    layer: int,
    head: int,
    stage: Stage,
    projection: Projection,
    dimensions: int = 2,
    most: int = TOKENS_ALONE,
) -> Layout:
    """UMAP or t-SNE of one head's queries and keys at a stage.

    Raises
    ------
    ProjectionError
        When UMAP or t-SNE fails.
    ValueError
        When the atlas has no vectors: one that was opened from a file keeps components only.
    """
    if atlas.vectors is None:
        raise ValueError("this atlas keeps no vectors")
    sentences = sampled_sentences(atlas.tokens, most)
    chosen = np.flatnonzero(np.isin(atlas.tokens.sentence, sentences))
    queries, keys = atlas.vectors.of_head(layer, head)
    a = key_translation(queries, keys)
    queries, keys = queries[chosen], keys[chosen]
    moved = queries, keys
    if stage != "raw":
        c = float(atlas.scaling.c[layer, head]) if stage == "normalized" else 1.0
        moved = normalize(queries, keys, a, c)
    picture = embed(*moved, projection, dimensions=dimensions)
    blocks = blocks_for(atlas.tokens, sentences, atlas.masks, atlas.causal)
    among = [block.among(chosen) for block in blocks]
    pairs, at = CorpusPairs(among), (layer, head)
    target = corpus_target(queries, keys, pairs, at, atlas.rules[layer])
    kept = picture_faithfulness(picture.queries, picture.keys, pairs, at, target)
    points = np.vstack([picture.queries, picture.keys]).astype(np.float32)
    return Layout(chosen, points, kept)
