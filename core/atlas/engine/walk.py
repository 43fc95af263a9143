"""One walk over a corpus, part after part, for whoever builds an atlas."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from core.atlas.engine.shard import ShardBuilder
from core.atlas.engine.sums import Sums, merge
from core.model.trace import Trace

if TYPE_CHECKING:
    from core.atlas.engine.atlas import MemoryStore
    from core.atlas.engine.folder import FolderStore


@dataclass(frozen=True, eq=False)
class Chunk:
    """What a part is made of: consecutive sentences of a corpus.

    Attributes
    ----------
    index : the part's own number.
    lengths : tokens of each sentence, by its number.
    texts, labels : by number; labels may be none.
    """

    index: int
    lengths: Mapping[int, int]
    texts: Mapping[int, str]
    labels: Mapping[int, str]


class Row(NamedTuple):
    """A sentence of a corpus: its number, how many tokens it has, its text and its label."""

    number: int
    tokens: int
    text: str
    label: str | None = None


def walk(
    chunks: Iterable[Chunk],
    traces_of: Callable[[Chunk], Iterable[tuple[int, Trace]]],
    store: MemoryStore | FolderStore,
    on_progress: Callable[[int], object] = lambda _: None,
) -> Sums | None:
    """Trace every part that the store has not finished; the sums of all, None without a sentence.

    Parameters
    ----------
    traces_of : the traces of the sentences in ``chunk.lengths``, in any order, each with its
        number.
    on_progress : called after each sentence, or finished part, with how many tokens it has. It may
        raise an exception to stop: the store keeps the finished parts.
    """
    total: Sums | None = None
    for chunk in chunks:
        if store.finished(chunk.index):
            own = store.sums(chunk.index)
            on_progress(0 if own is None else own.tokens)
        else:
            own = _trace(chunk, traces_of, store, on_progress)
        if own is not None:  # merged now: the sums of all parts would not fit into memory
            total = own if total is None else merge([total, own])
    return total


def _trace(
    chunk: Chunk,
    traces_of: Callable[[Chunk], Iterable[tuple[int, Trace]]],
    store: MemoryStore | FolderStore,
    on_progress: Callable[[int], object],
) -> Sums | None:
    """Trace a part, and put it into the store."""
    builder = ShardBuilder(chunk.index)
    for number, trace in traces_of(chunk):
        builder.add(number, trace)
        on_progress(len(trace.tokens))
    part = builder.finish(chunk.texts, chunk.labels)
    store.put(chunk.index, part)
    return None if part is None else part.sums


def chunks_of(rows: Iterable[Row], part_tokens: int) -> Iterator[Chunk]:
    """Cut a corpus into parts of at most so many tokens, but of one sentence at least.

    `rows` are ascending by number, and are read as they are asked for: a part depends on its own
    sentences and on where the one before it ended, and on nothing that comes later.
    """
    index, own, size = 0, list[Row](), 0
    for row in rows:
        if own and size + row.tokens > part_tokens:
            yield _chunk(index, own)
            index, own, size = index + 1, [], 0
        own.append(row)
        size += row.tokens
    if own:
        yield _chunk(index, own)


def _chunk(index: int, rows: list[Row]) -> Chunk:
    return Chunk(
        index,
        {row.number: row.tokens for row in rows},
        {row.number: row.text for row in rows},
        {row.number: row.label for row in rows if row.label is not None},
    )
