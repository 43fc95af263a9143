"""What an atlas has: the tokens of a corpus, and where every head puts their queries and keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from core.analysis.arrays import Bools, Floats, Indices
from core.model.trace import Array, Layer, Token
from core.vocabulary import Stage

if TYPE_CHECKING:
    from core.atlas.pixels import CorpusImages

Ints = NDArray[np.int32]
Masks = tuple[Bools, ...]  # a layer: (1 or head, token, token)
# Settings of an atlas of some sentences of a larger one: how many tokens and sentences that has.
SAMPLED = ("corpus_tokens", "corpus_sentences")
TOKEN_COLUMNS = ("sentence", "position", "word", "special", "spans")  # of numbers
ONE_HEAD_TOKENS = 2_500  # most of a layout, and kept with vectors: UMAP takes about ten seconds
DIMENSIONS = 3  # components stored; a plane uses the first two


@dataclass(frozen=True, eq=False)
class CorpusTokens:
    """The tokens of an atlas in columns, sentence after sentence, one entry per token."""

    texts: tuple[str, ...]  # as the tokenizer gives them, e.g. ``"##y"``
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
class CorpusTexts:
    """Some whole sentences of a corpus, in the order of their numbers in it.

    Attributes
    ----------
    tokens : their tokens; ``tokens.sentence`` has the numbers, ascending, with gaps perhaps.
    sentences, labels : of each sentence with a token here, in this order; no label at all without.
    """

    tokens: CorpusTokens
    sentences: tuple[str, ...]
    labels: tuple[str, ...]

    @property
    def numbers(self) -> NDArray[np.int64]:
        """The number in the corpus of each sentence, ascending, (sentence,)."""
        return np.unique(self.tokens.sentence).astype(np.int64)


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
class SampledVectors(CorpusVectors):
    """Those of some tokens of an atlas, all that a layout takes.

    Attributes
    ----------
    tokens : which of the atlas's, ascending.
    q_mean, k_mean : of all its queries and keys, float64 (layer, head, dim), keys' heads as theirs.
    """

    tokens: Indices
    q_mean: Floats
    k_mean: Floats

    def translation(self, layer: int, head: int) -> Floats:
        """As :func:`core.analysis.normalization.key_translation` of all the atlas's tokens."""
        group = self.q_mean.shape[1] // self.k_mean.shape[1]
        return np.asarray(self.q_mean[layer, head] - self.k_mean[layer, head // group])


@dataclass(frozen=True, eq=False)
class ModelFaithfulness:
    """What distances in the plane keep of every head's attention, float64 (layer, head) each.

    As in :class:`core.analysis.query_key.faithfulness.Faithfulness`; NaN where it is not defined.
    """

    correlation: Floats  # within rows, over the permitted pairs of all sentences
    top1: Floats  # among the keys of the query's sentence


@dataclass(frozen=True, eq=False)
class Measured:
    """What faithfulness was measured on."""

    tokens: int  # how many of the corpus
    top1: Floats  # the uniform baseline, (layer, head): what random points keep


@dataclass(frozen=True, eq=False, kw_only=True)
class HeadFigures:
    """What is chosen and measured of every head over all tokens of a corpus."""

    shares: Mapping[Stage, Floats]  # of the variance, by component, (layer, head, 3)
    c: Floats  # what scales queries and keys when they are normalized, (layer, head)
    faithfulness: Mapping[Stage, ModelFaithfulness]
    measured: Measured


@dataclass(frozen=True, eq=False, kw_only=True)
class Measures(HeadFigures):
    """What an atlas knows of a model and of its heads over all tokens of a corpus."""

    model: str  # the name it was loaded by
    causal: bool  # whether no token attends to a later one
    settings: Mapping[str, str | int] = field(default_factory=dict)  # how it was built, to show
    layer_numbers: tuple[int, ...] = ()  # the model's own, from 1, where some do not attend
    depth: int | None = None  # layers of the model, those that do not attend included
    images: CorpusImages | None = None  # of an atlas of images; their names are its sentences

    @property
    def layer_labels(self) -> tuple[int, ...]:
        """The number of each layer, as people read it."""
        return self.layer_numbers or tuple(range(1, self.heads[0] + 1))

    @property
    def heads(self) -> tuple[int, int]:
        """(layers, heads of each)."""
        layers, heads = self.c.shape
        return layers, heads


@dataclass(frozen=True, eq=False, kw_only=True)
class Atlas(CorpusTexts, Measures):
    """Every head's queries and keys over a corpus; its sentences are numbered without gaps."""

    # Principal components of queries and keys together, queries first, (layer, head, 2 token, 3)
    points: Mapping[Stage, Array]
    norms: Array  # lengths of the vectors before projection, (layer, head, 2 token)
    masks: Mapping[int, Masks] = field(default_factory=dict)  # of sentences with unusual ones
    rules: tuple[Layer, ...] = ()  # without masks; empty for an atlas opened from a file
    vectors: SampledVectors | None = None  # None for an atlas opened from a file

    @property
    def shape(self) -> tuple[int, int, int]:
        """(layers, heads, tokens)."""
        layers, heads, points, _ = self.points["raw"].shape
        return layers, heads, points // 2


@dataclass(frozen=True, eq=False, kw_only=True)
class AtlasFacts(Measures):
    """All of an atlas that does not grow with its tokens; `images` only of one in one file.

    Attributes
    ----------
    tokens, sentences : how many the corpus has.
    labelled : whether its sentences have labels.
    """

    tokens: int
    sentences: int
    labelled: bool


@dataclass(frozen=True, eq=False)
class ProjectedPart(CorpusTexts):
    """Some whole sentences of an atlas, with where every head puts their tokens.

    Attributes
    ----------
    index : of the part; parts in order of their index have sentences in order of their numbers.
    points : by stage, float32 (layer, head, 2 token, 3), queries first.
    norms : float32 (layer, head, 2 token).
    layer_labels : as of :class:`Atlas`.
    """

    index: int
    points: Mapping[Stage, Array]
    norms: Array
    layer_labels: tuple[int, ...]


def values_of(kind: type[HeadFigures], record: HeadFigures) -> dict[str, Any]:
    """The fields that a record shares with others of this kind, by name."""
    return {each.name: getattr(record, each.name) for each in fields(kind)}


def facts_of(atlas: Atlas) -> AtlasFacts:
    """What of an atlas does not grow with its tokens."""
    return AtlasFacts(
        tokens=len(atlas.tokens),
        sentences=len(atlas.sentences),
        labelled=bool(atlas.labels),
        **values_of(Measures, atlas),
    )


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


def join_texts(parts: Sequence[CorpusTexts]) -> CorpusTexts:
    """The sentences of all parts, one after the other."""
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(part.tokens, name) for part in parts])
        for name in TOKEN_COLUMNS
    }
    for name in ("texts", "displays"):
        columns[name] = tuple(text for part in parts for text in getattr(part.tokens, name))
    return CorpusTexts(
        CorpusTokens(**columns),
        tuple(text for part in parts for text in part.sentences),
        tuple(label for part in parts for label in part.labels),
    )


def pick_texts(part: CorpusTexts, numbers: NDArray[np.integer]) -> CorpusTexts:
    """Those of these sentences that are in a part, perhaps none."""
    inside, wanted = np.isin(part.tokens.sentence, numbers), np.isin(part.numbers, numbers)
    columns: dict[str, Any] = {name: getattr(part.tokens, name)[inside] for name in TOKEN_COLUMNS}
    for name in ("texts", "displays"):
        columns[name] = tuple(compress(getattr(part.tokens, name), inside))
    return CorpusTexts(
        CorpusTokens(**columns),
        tuple(compress(part.sentences, wanted)),
        tuple(compress(part.labels, wanted)),
    )
