"""UMAP and t-SNE of one head of an atlas: slow, so on as many whole sentences as time allows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.analysis.arrays import Indices
from core.analysis.normalization import normalize
from core.analysis.projections.joint_embedding import Projection, embed
from core.analysis.query_key.faithfulness import Faithfulness
from core.atlas.blocks import CorpusPairs, blocks_of
from core.atlas.data import ONE_HEAD_TOKENS, Atlas
from core.atlas.priority import tokens_within
from core.model.trace import Array
from core.vocabulary import Stage

EVERY_HEAD_TOKENS = 500  # of each head, in the background: about two seconds each


@dataclass(frozen=True, eq=False)
class Layout:
    """Some tokens of one head, laid out."""

    tokens: Indices  # which tokens of the corpus, ascending, (m,)
    points: Array  # float32 (2 m, 2), queries first
    faithfulness: Faithfulness  # of the attention within the sentences shown


def lay_out_head(
    atlas: Atlas,
    layer: int,
    head: int,
    stage: Stage,
    projection: Projection,
    max_tokens: int = ONE_HEAD_TOKENS,
) -> Layout:
    """UMAP or t-SNE of one head's queries and keys at a stage.

    Random sentences (always the same) are laid out, up to `max_tokens` tokens but at least one
    sentence. Raises `ProjectionError` if it fails; `ValueError` for an atlas opened from a file,
    which has no vectors.
    """
    if atlas.vectors is None:
        raise ValueError("this atlas has no vectors")
    sentences, sample = tokens_within(atlas.tokens.sentence, min(max_tokens, ONE_HEAD_TOKENS))
    in_sample = np.isin(atlas.vectors.tokens, sample)
    queries, keys = (vectors[in_sample] for vectors in atlas.vectors.of_head(layer, head))
    staged = queries, keys
    if stage != "raw":
        c = float(atlas.c[layer, head]) if stage == "normalized" else 1.0
        staged = normalize(queries, keys, atlas.vectors.translation(layer, head), c)
    picture = embed(*staged, projection)
    blocks = blocks_of(np.bincount(atlas.tokens.sentence), sentences, atlas.masks.get, atlas.causal)
    pairs = CorpusPairs([block.within(sample) for block in blocks])
    target = pairs.target(queries, keys, (layer, head), atlas.rules[layer])
    measured = pairs.faithfulness(picture.queries, picture.keys, (layer, head), target)
    points = np.vstack([picture.queries, picture.keys]).astype(np.float32)
    return Layout(sample, points, measured)
