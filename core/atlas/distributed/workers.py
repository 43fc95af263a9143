"""What runs on every machine: parts are traced, their sums merged, and their points written.

Ray restarts a worker that dies, and gives its parts to it or to another one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from core.atlas.command_line.output import draw_here
from core.atlas.command_line.plan import tracer_of
from core.atlas.distributed.session import Workers
from core.atlas.engine.build import Chunk, Row, walk
from core.atlas.engine.constants import HeadConstants
from core.atlas.engine.folder import Dtype, FolderStore
from core.atlas.engine.sums import Sums, merge
from core.model import Trace, load
from core.records import write_whole

_TOGETHER = 16  # parts whose sums, some megabytes each, are added at once
_CHUNK = "part-{:05}.texts.json"


@dataclass(frozen=True)
class Work:
    """What every worker knows.

    Attributes
    ----------
    model : its name, as stored in atlases.
    source : what it is loaded from: a name, a hub id or a folder that every machine has.
    folder : of the parts, on a disk that all machines share.
    batch_tokens : how many run together.
    dtype : of the vectors on disk.
    """

    model: str
    source: str
    folder: Path
    batch_tokens: int
    dtype: Dtype = "float32"

    @property
    def store(self) -> FolderStore:
        """The store of the parts."""
        return FolderStore(self.folder, self.dtype)


class Tracer:
    """Holds the model, and traces the parts it is given."""

    def __init__(self, work: Work) -> None:
        self._work = work

    @cached_property
    def _traces(self) -> Callable[[Chunk], Iterator[tuple[int, Trace]]]:
        model = replace(load(self._work.source), name=self._work.model)
        return tracer_of(model, self._work.batch_tokens)

    def trace(self, index: int) -> int:
        """Trace part `index` into the store; returns its number of tokens."""
        chunk = read_chunk(self._work.folder, index)
        sums = walk([chunk], self._traces, self._work.store)
        return 0 if sums is None else sums.tokens


def write_chunk(folder: Path, chunk: Chunk) -> None:
    """Put the texts of a part where its worker finds them."""
    content = json.dumps([chunk.index, chunk.rows])
    write_whole(folder / _CHUNK.format(chunk.index), content.encode("ascii"))


def read_chunk(folder: Path, index: int) -> Chunk:
    """The texts of a part."""
    index, rows = json.loads((folder / _CHUNK.format(index)).read_bytes())
    return Chunk(index, tuple(Row(*row) for row in rows))


def trace_chunks(
    work: Work,
    chunks: Iterable[Chunk],
    workers: Workers,
    on_progress: Callable[[int], object],
) -> Sums | None:
    """Trace all unfinished parts; returns the sums of all parts, None without any sentence."""
    store, indices, unfinished = work.store, [], []
    for chunk in chunks:
        indices.append(chunk.index)
        if store.finished(chunk.index):
            on_progress(sum(row.tokens for row in chunk.rows))
        else:
            write_chunk(work.folder, chunk)
            unfinished.append(chunk.index)
    _trace_parts(work, unfinished, workers, on_progress)
    return _merge_parts(store, indices)


def _trace_parts(
    work: Work, indices: Sequence[int], workers: Workers, on_progress: Callable[[int], object]
) -> None:
    """Trace these parts; `on_progress` gets the token count of each finished part."""
    import ray
    from ray.util import ActorPool

    # A worker that dies starts over, and so do the parts it was given.
    options = {"max_restarts": -1, "max_task_retries": -1}
    tracer = ray.remote(num_cpus=workers.cores, num_gpus=workers.gpus, **options)(Tracer)
    pool = ActorPool([tracer.remote(work) for _ in range(min(workers.count, len(indices)))])
    with _own_errors():
        for tokens in pool.map_unordered(lambda actor, part: actor.trace.remote(part), indices):
            on_progress(tokens)


def _merge_parts(store: FolderStore, indices: Sequence[int]) -> Sums | None:
    """The sums of all parts, merged as a tree; None if no part has a sentence."""
    import ray

    if not indices:
        return None
    merge_files, merge_some = ray.remote(_merge_files), ray.remote(_merge)
    groups = [indices[i : i + _TOGETHER] for i in range(0, len(indices), _TOGETHER)]
    merged = [merge_files.remote(store, list(group)) for group in groups]
    while len(merged) > 1:
        starts = range(0, len(merged), _TOGETHER)
        merged = [merge_some.remote(*merged[i : i + _TOGETHER]) for i in starts]
    return ray.get(merged[0])


def draw_parts(store: FolderStore, constants: HeadConstants, folder: Path) -> Iterator[None]:
    """Like `draw_here`, with each part on a machine that has time."""
    import ray

    draw, shared = ray.remote(num_cpus=1, max_retries=-1)(_draw), ray.put(constants)
    waiting = [draw.remote(store, shared, folder, index) for index in store.indices]
    while waiting:
        done, waiting = ray.wait(waiting)
        with _own_errors():
            yield from ray.get(done)


def _draw(store: FolderStore, constants: HeadConstants, folder: Path, index: int) -> None:
    next(draw_here(store, constants, folder, [index]))


@contextmanager
def _own_errors() -> Iterator[None]:
    """Raise a worker's error as if it had happened here: Ray wraps it in pages of text."""
    from ray.exceptions import RayTaskError

    try:
        yield
    except RayTaskError as error:
        error.cause.add_note(f"In a worker:\n{error}")
        raise error.cause from None


def _merge_files(store: FolderStore, indices: Sequence[int]) -> Sums | None:
    return _merge(*(store.sums(index) for index in indices))


def _merge(*sums: Sums | None) -> Sums | None:
    some = [each for each in sums if each is not None]
    return merge(some) if some else None
