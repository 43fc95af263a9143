"""What an atlas has: the tokens of a corpus, and where every head puts their queries and keys."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from core.analysis.arrays import Bools, Floats, Indices
    from core.analysis.head_patterns.similarity import Distances
    from core.analysis.projections.joint_embedding import Metric
    from core.analysis.query_key.clouds import Stage
    from core.analysis.query_key.scaling import ModelScaling
    from core.model.trace import Array, Layer, Token

    Ints = NDArray[np.int32]

    Masks = tuple[Bools, ...]  # a layer: (1 or head, token, token)


METRICS: tuple[Metric, ...] = ("euclidean", "cosine")
DIMENSIONS = 3  # components stored; a plane uses the first two


@dataclass(frozen=True, eq=False)
class CorpusTokens:
    """The tokens of an atlas in columns, sentence after sentence, one entry per token."""

    texts: tuple[str, ...]  # as the tokenizer gives them, e.g. ``"##y"``.
    displays: tuple[str, ...]  # what people read
    sentence: Ints  # index into the atlas's sentences, ascending
    position: Ints  # as in :class:`core.model.trace.Token`
    word: Ints  # as in :class:`core.model.trace.Token`
    special: Bools  # added by the tokenizer's template
    spans: Ints  # first character in the sentence, and last + 1, (token, 2)

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def lengths(self) -> Ints:
        """The number of tokens in each token's sentence, (token,)."""
        return np.bincount(self.sentence)[self.sentence].astype(np.int32)

    def of_sentence(self, sentence: int) -> Indices:
        """Indices of a sentence's tokens, in order."""
        first, last = np.searchsorted(self.sentence, [sentence, sentence + 1])
        return np.arange(first, last)


@dataclass(frozen=True, eq=False)
class CorpusVectors:
    """Queries float32 (layer, head, token, dim) and keys (layer, key-value head, token, dim)."""

    queries: Array
    kv_keys: Array

    def of_head(self, layer: int, head: int) -> tuple[Floats, Floats]:
        """Queries and keys of one head, float64 (token, dim) each."""
        group = self.queries.shape[1] // self.kv_keys.shape[1]
        return (
            self.queries[layer, head].astype(np.float64),
            self.kv_keys[layer, head // group].astype(np.float64),
        )


@dataclass(frozen=True, eq=False)
class ModelFaithfulness:
    """What distances keep of every head's attention, float64 (layer, head) each.

    As in :class:`core.analysis.query_key.faithfulness.Faithfulness`; NaN where it is not defined,
    or was not measured by the version that wrote the file.
    """

    # Within rows, of distance with scores, over the permitted pairs of all sentences
    correlation: Floats
    # top1, top3: the share of each query's first one or three keys that are also its nearest, among
    # the keys of its sentence
    top1: Floats
    top3: Floats
    low: Floats  # the ends of the correlation's 95 % interval
    high: Floats  # the ends of the correlation's 95 % interval
    per_sentence: Floats  # mean of the correlations within each sentence alone


@dataclass(frozen=True, eq=False)
class Measured:
    """What faithfulness was measured on, the same for full space and plane."""

    tokens: int  # how many of the corpus
    sentences: int  # how many of the corpus
    # Permitted pairs of queries with more than one permitted key, int64 (layer, head)
    pairs: NDArray[np.int64]
    top1: Floats  # the uniform baseline, float64 (layer, head): what random points keep
    top3: Floats  # the uniform baseline, float64 (layer, head): what random points keep


@dataclass(frozen=True, eq=False)
class Positions:
    """Attention by position, summed over sentences.

    `sums` is float64 (layer, head, query position, key position); `counts` is the number of
    sentences that have both positions, (query position, key position).
    """

    sums: Floats
    counts: Floats

    @property
    def mean(self) -> Floats:
        """Mean attention over the sentences that have both positions; 0 where none has."""
        return self.sums / np.maximum(self.counts, 1)


@dataclass(frozen=True, eq=False)
class Atlas:
    """Every head's queries and keys over a corpus."""

    model: str  # the name it was loaded by
    causal: bool  # whether no token attends to a later one
    sentences: tuple[str, ...]  # the texts, up to where the model read them
    labels: tuple[str, ...]  # the reader's own, one per sentence, or none at all
    tokens: CorpusTokens
    # For each stage, float32 (layer, head, 2 token, 3): principal components of queries and keys
    # together, queries first
    points: Mapping[Stage, Array]
    # For each stage, each component's share of the variance, (layer, head, 3)
    shares: Mapping[Stage, Floats]
    norms: Array  # lengths of the vectors before projection, float32 (layer, head, 2 token)
    # The constant c of every head, and what full space keeps before and after
    scaling: ModelScaling
    # For each stage, what Euclidean distance in the plane keeps
    faithfulness: Mapping[Stage, ModelFaithfulness]
    # For each distance and stage, what it keeps in full space
    full: Mapping[Metric, Mapping[Stage, ModelFaithfulness]]
    measured: Measured  # what both were measured on, and what random points would keep
    distances: Distances  # how differently heads attend
    positions: Positions  # attention by position
    # What layers permit, for the sentences where that is not the usual
    masks: Mapping[int, Masks] = field(default_factory=dict)
    # How each layer scales and caps its scores; empty for an atlas opened from a file
    rules: tuple[Layer, ...] = ()
    vectors: CorpusVectors | None = None  # the full vectors; None for an atlas opened from a file
    # Facts about how it was built, to show: "tokens_left_out" and the like
    settings: Mapping[str, str | int] = field(default_factory=dict)

    @property
    def shape(self) -> tuple[int, int, int]:
        """(layers, heads, tokens)."""
        layers, heads, points, _ = self.points["raw"].shape
        return layers, heads, points // 2


def token_columns(parts: Sequence[tuple[Token, ...]]) -> CorpusTokens:
    """The columns of the tokens of several sentences, numbered in this order."""
    tokens = [token for part in parts for token in part]
    return CorpusTokens(
        texts=tuple(token.text for token in tokens),
        displays=tuple(token.display for token in tokens),
        sentence=np.repeat(np.arange(len(parts)), [len(part) for part in parts]).astype(np.int32),
        position=np.array([token.position for token in tokens], dtype=np.int32),
        word=np.array([token.word for token in tokens], dtype=np.int32),
        special=np.array([token.special for token in tokens], dtype=np.bool_),
        spans=np.array([token.span for token in tokens], dtype=np.int32).reshape(-1, 2),
    )
