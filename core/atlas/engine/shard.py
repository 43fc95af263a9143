"""A part of a corpus: its tokens, their vectors, and the sums over them."""

from __future__ import annotations

import contextlib
import ctypes
import math
import mmap
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from core.analysis.arrays import Floats
from core.atlas.blocks import unusual_masks
from core.atlas.data import (
    CorpusTexts,
    CorpusTokens,
    CorpusVectors,
    Masks,
    join_texts,
    token_columns,
)
from core.atlas.engine.sums import Moments, Sums, first_candidates, merge, moments_of
from core.model.trace import Patches, Token, Trace

ShardTexts = Sequence[str] | Mapping[int, str]
_FREE_EVERY = 2**24  # bytes of vectors, after which memory is returned to the system


@dataclass(frozen=True, eq=False)
class Shard:
    """Some sentences of a corpus; each text ends where the model stopped reading.

    Attributes
    ----------
    texts : its sentences and their tokens.
    vectors : queries and keys of the tokens.
    masks : of the sentences with unusual masks, by number.
    patches : of images, by number.
    sums : over all of its tokens.
    """

    texts: CorpusTexts
    vectors: CorpusVectors
    masks: Mapping[int, Masks]
    patches: Mapping[int, Patches]
    sums: Sums


class _Kept(NamedTuple):
    """What is kept of one trace."""

    tokens: tuple[Token, ...]
    masks: Masks | None  # if they are unusual
    patches: Patches | None
    dropped: int
    cut_characters: int


class ShardBuilder:
    """A part that is being traced, its sentences in any order."""

    def __init__(self) -> None:
        self.count = 0  # tokens so far
        self._kept: dict[int, _Kept] = {}  # by the sentence's number
        self._vectors: dict[int, CorpusVectors] = {}
        self._of_model: dict[str, Any] = {}

    def add(self, number: int, trace: Trace) -> None:
        """Add the trace of the sentence with this number."""
        if not self._of_model:
            self._of_model = {
                "model": trace.model,
                "causal": trace.causal,
                "rules": tuple(replace(rule, mask=None) for rule in trace.layers),
                "layer_numbers": trace.layer_labels,
                "depth": max(trace.depth or 0, trace.layer_labels[-1]),
            }
        self._vectors[number] = CorpusVectors(trace.queries, trace.kv_keys)
        self._kept[number] = _Kept(
            trace.tokens,
            unusual_masks(trace),
            trace.patches,
            trace.dropped,
            trace.cut_characters,
        )
        self.count += len(trace.tokens)

    def finish(self, texts: ShardTexts = (), labels: ShardTexts = ()) -> Shard | None:
        """The part; its vectors are moved out of the builder. None if there is no sentence."""
        if not self._kept:
            return None
        numbers = sorted(self._kept)
        vectors = join_vectors([self._vectors.pop(number) for number in numbers])
        moments = moments_of(vectors.queries), moments_of(vectors.kv_keys)
        vectors.give_back()
        kept = {number: self._kept[number] for number in numbers}
        # Only images have pixels to keep.
        patches = {n: each.patches for n, each in kept.items() if each.patches is not None}
        given = [texts[number] for number in numbers] if texts else []
        if patches and not given:
            given = [f"image {number + 1}" for number in numbers]
        read, tokens = _read_texts(
            token_columns([each.tokens for each in kept.values()]), given, whole=bool(patches)
        )
        return Shard(
            texts=CorpusTexts(
                replace(tokens, sentence=np.array(numbers, dtype=np.int32)[tokens.sentence]),
                read,
                tuple(labels[number] for number in numbers) if labels else (),
            ),
            vectors=vectors,
            masks={n: each.masks for n, each in kept.items() if each.masks is not None},
            patches=patches,
            sums=self._sums(kept, *moments),
        )

    def _sums(self, kept: Mapping[int, _Kept], queries: Moments, keys: Moments) -> Sums:
        lengths = np.array([len(each.tokens) for each in kept.values()])
        return Sums(
            **self._of_model,
            tokens=self.count,
            sentences=len(kept),
            dropped=sum(each.dropped for each in kept.values()),
            cut_characters=sum(each.cut_characters for each in kept.values()),
            queries=queries,
            keys=keys,
            candidates=first_candidates(np.array(list(kept)), lengths),
        )


def _read_texts(
    tokens: CorpusTokens, given: Sequence[str], *, whole: bool
) -> tuple[tuple[str, ...], CorpusTokens]:
    """One text per sentence, numbered from 0, and the tokens with their spans in it.

    Each of the `given` texts ends with the last token that the model read, unless `whole`.
    """
    if not given:
        return _from_tokens(tokens)
    if whole:
        return tuple(given), tokens
    ends = np.zeros(len(given), dtype=np.int64)
    np.maximum.at(ends, tokens.sentence, tokens.spans[:, 1])
    return tuple(text[:end] for text, end in zip(given, ends, strict=True)), tokens


def _from_tokens(tokens: CorpusTokens) -> tuple[tuple[str, ...], CorpusTokens]:
    """Sentences put together from their tokens, and the columns with the spans in them."""
    texts = [""] * (int(tokens.sentence[-1]) + 1)
    spans = np.zeros_like(tokens.spans)
    word_before = -1
    for index, (sentence, display) in enumerate(zip(tokens.sentence, tokens.displays, strict=True)):
        if tokens.special[index]:
            continue
        start = texts[sentence]
        same_word = bool(start) and tokens.word[index] == word_before
        chunk = (display.removeprefix("##") if same_word else display).strip()
        if start and not same_word:
            start += " "
        spans[index] = len(start), len(start) + len(chunk)
        texts[sentence] = start + chunk
        word_before = tokens.word[index]
    return tuple(texts), replace(tokens, spans=spans)


def join_shards(parts: list[Shard]) -> Shard:
    """Several parts as one, in order; the list is emptied so that no vector is held twice."""
    texts = join_texts([part.texts for part in parts])
    masks: dict[int, Masks] = {}
    patches: dict[int, Patches] = {}
    for part in parts:
        masks |= part.masks
        patches |= part.patches
    sums = merge(part.sums for part in parts)
    vectors = [part.vectors for part in parts]
    parts.clear()
    return Shard(texts, join_vectors(vectors), masks, patches, sums)


@dataclass(frozen=True, eq=False)
class JoinedVectors(CorpusVectors):
    """Vectors in temporary files, if there is room: memory is returned once it is read."""

    memory: tuple[mmap.mmap, mmap.mmap]

    def of_head(self, layer: int, head: int) -> tuple[Floats, Floats]:
        """As in the base class."""
        vectors = super().of_head(layer, head)
        self.give_back()
        return vectors

    def give_back(self) -> None:
        """Leave the vectors to their files until they are read again."""
        with contextlib.suppress(AttributeError):  # not on Windows
            for each in self.memory:
                each.madvise(mmap.MADV_DONTNEED)


def join_vectors(parts: list[CorpusVectors]) -> JoinedVectors:
    """Joined along the tokens; the list is emptied so that nothing is held twice.

    They do not get NumPy's huge pages either, which the first few texts would fill completely.
    """
    shapes = [(each.queries.shape, each.kv_keys.shape) for each in parts]
    total = sum(queries[2] for queries, _ in shapes)
    whole = [(layers, heads, total, dim) for layers, heads, _, dim in shapes[0]]
    buffer, key_buffer = (_in_a_file(4 * math.prod(shape)) for shape in whole)
    queries = np.ndarray(whole[0], np.float32, buffer)
    kv_keys = np.ndarray(whole[1], np.float32, key_buffer)
    joined = JoinedVectors(queries, kv_keys, (buffer, key_buffer))
    end = freed = 0
    parts.reverse()
    while parts:
        part = parts.pop()
        start, end = end, end + part.queries.shape[2]
        queries[:, :, start:end] = part.queries
        kv_keys[:, :, start:end] = part.kv_keys
        freed += part.queries.nbytes + part.kv_keys.nbytes
        del part
        if freed > _FREE_EVERY:
            freed = 0
            joined.give_back()
            with contextlib.suppress(OSError, AttributeError, TypeError):  # only glibc hoards
                ctypes.CDLL(None).malloc_trim(0)
    for array in (queries, kv_keys):
        array.setflags(write=False)
    return joined


def _in_a_file(size: int) -> mmap.mmap:
    """Memory that the system may move to a temporary file; plain memory if there is no room."""
    with contextlib.suppress(OSError, AttributeError), tempfile.TemporaryFile() as file:
        os.posix_fallocate(file.fileno(), 0, size)  # or a full disk would end the process later
        return mmap.mmap(file.fileno(), size)
    return mmap.mmap(-1, size)
