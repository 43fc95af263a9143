"""From a corpus to an atlas: cut into parts, trace each into a store, build the atlas from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.analysis.arrays import Floats
from core.atlas.data import ONE_HEAD_TOKENS, Atlas, Ints, SampledVectors
from core.atlas.engine.constants import assemble, find_constants, project_part
from core.atlas.engine.folder import FolderStore
from core.atlas.engine.shard import Shard, ShardBuilder, join_shards
from core.atlas.engine.sums import Sums, VectorSample, merge, sampled_numbers
from core.atlas.pixels import join_images
from core.atlas.priority import tokens_within
from core.model.trace import Trace


class MemoryStore:
    """Finished parts in memory."""

    def __init__(self) -> None:
        self.parts: dict[int, Shard | None] = {}

    def finished(self, index: int) -> bool:
        """Whether the part is there and complete; a part without a sentence counts, too."""
        return index in self.parts

    def put(self, index: int, part: Shard | None) -> None:
        """Store a finished part, replacing any other with its index."""
        self.parts[index] = part

    def sums(self, index: int) -> Sums | None:
        """The sums of a finished part; None if it has no sentence."""
        part = self.parts[index]
        return None if part is None else part.sums


def build_atlas(
    traces: Iterable[Trace] | Iterable[tuple[int, Trace]],
    sentences: Sequence[str] = (),
    labels: Sequence[str] = (),
) -> Atlas:
    """Every head's queries and keys over a corpus, projected, with the projections' faithfulness.

    `traces` are from ``trace_corpus``, or from ``trace_by_length`` with the number of each
    sentence; by default the traced `sentences` are put together from their tokens; `labels` are
    the reader's own, one per sentence. Raises `ValueError` if there is no trace.
    """
    store, builder = MemoryStore(), ShardBuilder()
    for index, item in enumerate(traces):
        builder.add(*(item if isinstance(item, tuple) else (index, item)))
    store.put(0, builder.finish(sentences, labels))
    return atlas_of(store)


def atlas_of(store: MemoryStore) -> Atlas:
    """The atlas of everything in a store, whose vectors are moved out of it.

    Raises `ValueError` for a store without a sentence, or with images of several sizes.
    """
    part = _join(store)
    images = join_images(list(part.patches.values())) if part.patches else None
    constants = find_constants(part.sums, sample_of(part, sampled_numbers(part.sums.candidates)))
    projected = project_part(part.texts.tokens, part.vectors.of_head, constants)
    atlas = assemble(part.sums, constants, part.texts, projected)
    return replace(
        atlas,
        images=images,
        masks={
            place: part.masks[n] for place, n in enumerate(part.texts.numbers) if n in part.masks
        },
        rules=part.sums.rules,
        vectors=_sampled(part, atlas.tokens.sentence),
    )


def _sampled(part: Shard, sentence: Ints) -> SampledVectors:
    """The vectors of as many tokens as a layout can use; `sentence` is that of each token."""
    _, tokens = tokens_within(sentence, ONE_HEAD_TOKENS)
    queries, kv_keys = part.vectors.queries, part.vectors.kv_keys
    if tokens.size < sentence.size:
        queries, kv_keys = queries[:, :, tokens], kv_keys[:, :, tokens]
    return SampledVectors(queries, kv_keys, tokens, part.sums.queries.mean, part.sums.keys.mean)


def _join(store: MemoryStore) -> Shard:
    """All parts as one; they are removed from the store."""
    parts = [part for index in sorted(store.parts) if (part := store.parts[index]) is not None]
    store.parts.clear()
    if not parts:
        raise ValueError("an atlas needs at least one sentence")
    return parts[0] if len(parts) == 1 else join_shards(parts)


def sample_of(part: Shard, numbers: NDArray[np.int64]) -> VectorSample:
    """The part's sentences among `numbers`; nothing is copied if that is all of the part."""
    present, sentence = part.texts.numbers, part.texts.tokens.sentence
    counts = np.bincount(np.searchsorted(present, sentence))
    inside, vectors = np.isin(present, numbers), part.vectors
    if inside.all():
        return VectorSample(present, counts, part.masks, vectors.of_head)
    tokens = np.flatnonzero(np.isin(sentence, numbers))

    def of_head(layer: int, head: int) -> tuple[Floats, Floats]:
        queries, keys = vectors.of_head(layer, head)
        return queries[tokens], keys[tokens]

    return VectorSample(present[inside], counts[inside], part.masks, of_head)


class Row(NamedTuple):
    """A sentence of a corpus: its number, its token count, its text and its label."""

    number: int
    tokens: int
    text: str
    label: str | None = None


@dataclass(frozen=True)
class Chunk:
    """What a part is made from: its own number, and consecutive sentences of a corpus."""

    index: int
    rows: tuple[Row, ...]


def walk(
    chunks: Iterable[Chunk],
    traces_of: Callable[[Chunk], Iterable[tuple[int, Trace]]],
    store: MemoryStore | FolderStore,
    on_progress: Callable[[int], object] = lambda _: None,
) -> Sums | None:
    """Trace every part that is unfinished; returns the sums of all, None without a sentence.

    Parameters
    ----------
    traces_of : the traces of the chunk's sentences, in any order, each with its number.
    on_progress : called after each sentence, or finished part, with its token count. It may
        raise an exception to stop: the store keeps the finished parts.
    """
    total: Sums | None = None
    for chunk in chunks:
        if store.finished(chunk.index):
            part_sums = store.sums(chunk.index)
            on_progress(0 if part_sums is None else part_sums.tokens)
        else:
            part_sums = _trace(chunk, traces_of, store, on_progress)
        if part_sums is not None:  # merged at once: the sums of all parts would not fit into memory
            total = part_sums if total is None else merge([total, part_sums])
    return total


def _trace(
    chunk: Chunk,
    traces_of: Callable[[Chunk], Iterable[tuple[int, Trace]]],
    store: MemoryStore | FolderStore,
    on_progress: Callable[[int], object],
) -> Sums | None:
    """Trace a part, and put it into the store."""
    builder = ShardBuilder()
    for number, trace in traces_of(chunk):
        builder.add(number, trace)
        on_progress(len(trace.tokens))
    texts = {row.number: row.text for row in chunk.rows}
    labels = {row.number: row.label for row in chunk.rows if row.label is not None}
    part = builder.finish(texts, labels)
    store.put(chunk.index, part)
    return None if part is None else part.sums


def chunks_of(rows: Iterable[Row], part_tokens: int) -> Iterator[Chunk]:
    """Cut a corpus into parts of at most `part_tokens` tokens, but at least one sentence.

    `rows` are ascending by number, and read only when needed: a part depends on its own
    sentences and on where the previous one ended, not on anything later.
    """
    index, current, size = 0, list[Row](), 0
    for row in rows:
        if current and size + row.tokens > part_tokens:
            yield Chunk(index, tuple(current))
            index, current, size = index + 1, [], 0
        current.append(row)
        size += row.tokens
    if current:
        yield Chunk(index, tuple(current))
