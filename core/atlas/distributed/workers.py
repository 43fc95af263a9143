"""What runs on every machine: parts are traced, their sums merged, and their points written.

A worker that dies is started again by Ray, and its parts are given to it or to another one.
"""

from __future__ import annotations

import json
import pickle
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from core.atlas.command_line.output import draw_here
from core.atlas.command_line.tracing import traces_of
from core.atlas.distributed.session import Workers
from core.atlas.engine import Chunk, walk
from core.atlas.engine.constants import HeadConstants
from core.atlas.engine.folder import Dtype, FolderStore
from core.atlas.engine.sums import Sums, merge
from core.model import Trace, load
from core.records import write_whole

_TOGETHER = 16  # parts whose sums, of some megabytes each, are added at once
_MAX_BLOCKS = 4_096  # of parts; each block is a task
_CHUNK = "part-{:05}.texts.json"


@dataclass(frozen=True)
class Work:
    """What every worker knows.

    Attributes
    ----------
    model : its name, as atlases have it.
    source : what it is loaded by: a name, a hub id or a folder that every machine has.
    folder : of the parts, on a disk that all machines share.
    batch_tokens : that run together.
    dtype : of the vectors on disk.
    """

    model: str
    source: str
    folder: Path
    batch_tokens: int
    dtype: Dtype = "float32"

    @property
    def store(self) -> FolderStore:
        """Of the parts."""
        return FolderStore(self.folder, self.dtype)


class Failure(NamedTuple):
    """What went wrong in a worker."""

    error: Exception


class Tracer:
    """Holds the model, and traces the parts it is given."""

    def __init__(self, work: Work) -> None:
        self._work = work

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        """Numbers of parts in, the count of their tokens out; the parts are in the store then."""
        return one_row(self._trace, batch)

    @cached_property
    def _traces(self) -> Callable[[Chunk], Iterator[tuple[int, Trace]]]:
        model = replace(load(self._work.source), name=self._work.model)
        return traces_of(model, self._work.batch_tokens)

    def _trace(self, *indices: int) -> int:
        chunks = [read_chunk(self._work.folder, index) for index in indices]
        sums = walk(chunks, self._traces, self._work.store)
        return 0 if sums is None else sums.tokens


def write_chunk(folder: Path, chunk: Chunk) -> None:
    """Put the texts of a part where its worker finds them."""
    content = {
        "index": chunk.index,
        "lengths": list(chunk.lengths.items()),
        "texts": list(chunk.texts.values()),
        "labels": list(chunk.labels.values()),
    }
    path = folder / _CHUNK.format(chunk.index)
    write_whole(path, json.dumps(content).encode("ascii"))


def read_chunk(folder: Path, index: int) -> Chunk:
    """The texts of a part, by their numbers."""
    content = json.loads((folder / _CHUNK.format(index)).read_bytes())
    lengths = {int(number): int(tokens) for number, tokens in content["lengths"]}
    texts, labels = (
        dict(zip(lengths, content[name], strict=False)) for name in ("texts", "labels")
    )
    return Chunk(index, lengths, texts, labels)


def trace_chunks(
    work: Work,
    chunks: Iterable[Chunk],
    workers: Workers,
    on_progress: Callable[[int], object],
) -> Sums | None:
    """Trace all parts that are not finished; the sums of all, None without a sentence."""
    store, indices, unfinished = work.store, [], []
    for chunk in chunks:
        indices.append(chunk.index)
        if store.finished(chunk.index):
            on_progress(sum(chunk.lengths.values()))
        else:
            write_chunk(work.folder, chunk)
            unfinished.append(chunk.index)
    _trace_parts(work, unfinished, workers, on_progress)
    return _merge_parts(store, indices)


def _trace_parts(
    work: Work, indices: Sequence[int], workers: Workers, on_progress: Callable[[int], object]
) -> None:
    """Trace these parts; `on_progress` is told the tokens of each part that is done."""
    import ray.data

    for tokens in _results(
        indices,
        Tracer,
        fn_constructor_args=(work,),
        compute=ray.data.ActorPoolStrategy(size=max(1, min(workers.count, len(indices)))),
        num_cpus=workers.cores,
        num_gpus=workers.gpus,
    ):
        on_progress(tokens)


def _merge_parts(store: FolderStore, indices: Sequence[int]) -> Sums | None:
    """The sums of all parts, merged as a tree; None where no part has a sentence."""
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
    """As `draw_here`, each part on a machine that has time."""
    return _results(store.indices, _draw, fn_args=(store, constants, folder), num_cpus=1)


def _merge_files(store: FolderStore, indices: Sequence[int]) -> Sums | None:
    return _merge(*(store.sums(index) for index in indices))


def _merge(*sums: Sums | None) -> Sums | None:
    some = [each for each in sums if each is not None]
    return merge(some) if some else None


def _draw(
    batch: dict[str, Any], store: FolderStore, constants: HeadConstants, folder: Path
) -> dict[str, Any]:
    return one_row(lambda index: next(draw_here(store, constants, folder, [index])), batch)


def one_row(function: Callable[..., object], batch: dict[str, Any]) -> dict[str, Any]:
    """What a function of the parts in a batch returns, or what it raises, as a block of one row.

    Ray would put pages around an error, with the traceback in its logs.
    """
    try:
        result = function(*(int(index) for index in batch["part"]))
    except Exception as error:  # noqa: BLE001 - it is raised again by `_results`
        error.add_note(f"In a worker:\n{traceback.format_exc()}")
        result = Failure(error)
    return {"result": [pickle.dumps(result)]}


def _results(
    indices: Sequence[int],
    function: Any,  # noqa: ANN401 - a class or a function
    **options: Any,  # noqa: ANN401 - of `map_batches`
) -> Iterator[Any]:
    """Hand parts, one by one, to a process that has time, and again if that dies."""
    import ray.data

    if not indices:
        return
    numbers = [{"part": index} for index in indices]
    blocks = min(len(numbers), _MAX_BLOCKS)
    parts = ray.data.from_items(numbers, override_num_blocks=blocks)
    done = parts.map_batches(function, batch_size=1, **options)
    for block in done.iter_batches(batch_size=None):
        for pickled in block["result"]:
            result = pickle.loads(pickled)  # noqa: S301 - by the workers of this build
            if isinstance(result, Failure):
                raise result.error
            yield result
