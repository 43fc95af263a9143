"""What an atlas holds: the tokens of a corpus, and where each head puts their queries and keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from core.analysis.arrays import Bools, Floats, Indices
from core.atlas.pixels import CorpusImages
from core.model.trace import Array, Layer, Token
from core.records import Shape
from core.vocabulary import Stage

Ints = NDArray[np.int32]
Masks = tuple[Bools, ...]  # a layer: (1 or head, token, token)
# Settings of an atlas of a sample: how many tokens and sentences the whole corpus has.
SAMPLED = ("corpus_tokens", "corpus_sentences")
TOKEN_COLUMNS = ("sentence", "position", "word", "special", "spans")  # numeric columns
ONE_HEAD_TOKENS = 2_500  # most of a layout, and kept with vectors: UMAP takes about ten seconds
DIMENSIONS = 3  # components stored; a plane uses the first two

Sentences = Annotated[tuple[str, ...], Shape("sentence")]
TokenTexts = Annotated[tuple[str, ...], Shape("token")]
TokenNumbers = Annotated[Ints, Shape("token", 0)]
# Principal components of queries and keys together, queries first
Points = Annotated[Array, Shape("layer head 2*token 3")]
Norms = Annotated[Array, Shape("layer head 2*token", 0)]  # of vectors before projection
Share = Annotated[Floats, Shape("layer head", -1e-9, 1 + 1e-9, nan=True)]


@dataclass(frozen=True, eq=False)
class CorpusTokens:
    """The tokens of an atlas in columns, sentence after sentence, one entry per token."""

    texts: TokenTexts  # as the tokenizer gives them, e.g. ``"##y"``
    displays: TokenTexts  # as people read them
    sentence: TokenNumbers  # index into the atlas's sentences, ascending
    position: TokenNumbers  # as in :class:`core.model.trace.Token`
    word: Annotated[Ints, Shape("token", -1)]  # as in :class:`core.model.trace.Token`
    special: Annotated[Bools, Shape("token")]  # added by the tokenizer's template
    spans: Annotated[Ints, Shape("token 2", 0)]  # first character in the sentence, and last + 1

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

    def which(self, chosen: Bools) -> CorpusTokens:
        """Only the tokens that are `chosen`, (token,)."""
        return CorpusTokens(
            tuple(compress(self.texts, chosen)),
            tuple(compress(self.displays, chosen)),
            *(getattr(self, name)[chosen] for name in TOKEN_COLUMNS),
        )


@dataclass(frozen=True, eq=False)
class CorpusTexts:
    """Some whole sentences of a corpus, in the order of their numbers in it.

    Attributes
    ----------
    tokens : their tokens; ``tokens.sentence`` has the numbers, ascending, possibly with gaps.
    sentences, labels : one per sentence with a token here, in this order; labels may be empty.
    """

    tokens: CorpusTokens
    sentences: Sentences
    labels: tuple[str, ...] = ()

    @property
    def numbers(self) -> NDArray[np.int64]:
        """The number in the corpus of each sentence, ascending, (sentence,)."""
        return np.unique(self.tokens.sentence).astype(np.int64)

    def which(self, numbers: NDArray[np.integer]) -> CorpusTexts:
        """The sentences among `numbers` that are here, possibly none."""
        wanted = np.isin(self.numbers, numbers)
        return CorpusTexts(
            self.tokens.which(np.isin(self.tokens.sentence, numbers)),
            tuple(compress(self.sentences, wanted)),
            tuple(compress(self.labels, wanted)),
        )


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
    """The vectors of some tokens of an atlas, as many as a layout uses.

    Attributes
    ----------
    tokens : which of the atlas's tokens, ascending.
    q_mean, k_mean : of all its queries and keys, float64 (layer, head or key-value head, dim).
    """

    tokens: Indices
    q_mean: Floats
    k_mean: Floats

    def translation(self, layer: int, head: int) -> Floats:
        """As :func:`core.analysis.normalization.key_translation` over all tokens of the atlas."""
        group = self.q_mean.shape[1] // self.k_mean.shape[1]
        return np.asarray(self.q_mean[layer, head] - self.k_mean[layer, head // group])


@dataclass(frozen=True, eq=False)
class ModelFaithfulness:
    """How faithful distances in the plane are for every head, float64 (layer, head) each.

    As in :class:`core.analysis.query_key.faithfulness.Faithfulness`; NaN if undefined.
    """

    # Within rows, over the permitted pairs of all sentences
    correlation: Annotated[Floats, Shape("layer head", -1 - 1e-9, 1 + 1e-9, nan=True)]
    top1: Share  # among the keys of the query's sentence


@dataclass(frozen=True, eq=False)
class Measured:
    """What faithfulness was measured on."""

    tokens: int  # how many tokens of the corpus
    top1: Share  # the uniform baseline, (layer, head): what random points reach


@dataclass(frozen=True, eq=False)
class ProjectedPart:
    """Where every head puts the tokens of some whole sentences of an atlas."""

    sentence: TokenNumbers  # in the corpus
    position: TokenNumbers
    points: Mapping[Stage, Points]
    norms: Norms


@dataclass(frozen=True, eq=False, kw_only=True)
class Atlas:
    """Every head's queries and keys over a corpus, or over a sample of one, renumbered."""

    model: str  # the name it was loaded by
    causal: bool  # whether no token attends to a later one
    tokens: CorpusTokens
    sentences: Sentences
    labels: tuple[str, ...] = ()
    points: Mapping[Stage, Points]
    norms: Norms
    # Share of the variance, by component
    shares: Mapping[Stage, Annotated[Floats, Shape("layer head 3", -1e-4, 1 + 1e-4)]]
    c: Annotated[Floats, Shape("layer head", 1e-300)]  # scales queries and keys when normalized
    faithfulness: Mapping[Stage, ModelFaithfulness]
    measured: Measured
    settings: Mapping[str, str | int] = field(default_factory=dict)  # how it was built, to show
    layer_numbers: tuple[int, ...] = ()  # the model's own, from 1, if some do not attend
    depth: int | None = None  # layers of the model, including those that do not attend
    images: CorpusImages | None = None  # for an atlas of images; its sentences are their names
    masks: Mapping[int, Masks] = field(default_factory=dict)  # for sentences with unusual masks
    rules: tuple[Layer, ...] = ()  # without masks; empty for an atlas opened from a file
    vectors: SampledVectors | None = None  # None for an atlas opened from a file

    @property
    def shape(self) -> tuple[int, int, int]:
        """(layers, heads, tokens)."""
        layers, heads, points, _ = self.points["raw"].shape
        return layers, heads, points // 2

    @property
    def layer_labels(self) -> tuple[int, ...]:
        """The number of each layer, as people read it."""
        return self.layer_numbers or tuple(range(1, len(self.c) + 1))

    @property
    def texts(self) -> CorpusTexts:
        """The atlas's tokens and sentences."""
        return CorpusTexts(self.tokens, self.sentences, self.labels)

    @property
    def corpus_size(self) -> tuple[int, int]:
        """How many tokens and sentences the corpus has, from the settings if this is a sample."""
        size = len(self.tokens), len(self.sentences)
        tokens, sentences = (self.settings.get(*each) for each in zip(SAMPLED, size, strict=True))
        return int(tokens), int(sentences)


def token_columns(parts: Sequence[tuple[Token, ...]]) -> CorpusTokens:
    """The columns for the tokens of several sentences, numbered in this order."""
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
    """The sentences of all parts, one part after the other."""
    tokens = [part.tokens for part in parts]
    numbers: list[Any] = [
        np.concatenate([getattr(each, name) for each in tokens]) for name in TOKEN_COLUMNS
    ]
    return CorpusTexts(
        CorpusTokens(
            tuple(text for each in tokens for text in each.texts),
            tuple(text for each in tokens for text in each.displays),
            *numbers,
        ),
        tuple(text for part in parts for text in part.sentences),
        tuple(label for part in parts for label in part.labels),
    )
