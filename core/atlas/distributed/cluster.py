"""The steps of a build that many machines take together; see :mod:`core.atlas_build`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from core.analysis.corpus.reading import NO_LABEL
from core.atlas.command_line.corpus import Sentence
from core.atlas.command_line.output import begin_folder, constants_of, end_folder, finish_points
from core.atlas.distributed.reading import Files, files_of, read_rows
from core.atlas.distributed.session import Workers, joined
from core.atlas.distributed.workers import (
    Work,
    count_parts,
    draw_parts,
    merge_parts,
    trace_parts,
    write_chunk,
)
from core.atlas.engine import Chunk, Sums, all_bounds, shown_numbers

if TYPE_CHECKING:
    from core.atlas.engine.counting import Counts


@dataclass(frozen=True)
class ClusterCorpus:
    """Texts that Ray Data reads, in the order of the files' names."""

    path: PurePosixPath
    files: Files
    text_column: str
    label_column: str | None

    def sentences(self, say: Callable[[str], object] = lambda _: None) -> Iterator[Sentence]:
        """All that have text, the same each time; `say` gets how many have no label.

        Raises `CorpusFileError` once it comes to what is no corpus.
        """
        unlabelled = 0
        for row in read_rows(self.files, self.text_column, self.label_column):
            unlabelled += row.label == NO_LABEL
            yield Sentence(row.text, row.label if self.label_column else None)
        if unlabelled and self.label_column:
            say(f"{unlabelled:,} of the texts have no label and are shown as “{NO_LABEL}”.")


@dataclass(frozen=True)
class Cluster:
    """A Ray cluster that was joined, and how many of its processes hold the model."""

    workers: Workers

    def corpus(self, path: str, text_column: str | None, label_column: str | None) -> ClusterCorpus:
        """The corpus in a file, a folder or an object store; its texts are in the column "text"
        unless another is named. Raises `CorpusFileError` where there is none.
        """
        files = files_of([path])
        return ClusterCorpus(PurePosixPath(path), files, text_column or "text", label_column)

    def trace(
        self, work: Work, chunks: Iterable[Chunk], on_progress: Callable[[int], object]
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
        trace_parts(work, unfinished, self.workers, on_progress)
        return merge_parts(work, indices)

    def write_folder(
        self,
        work: Work,
        sums: Sums,
        out: Path,
        settings: Mapping[str, str | int],
        on_progress: Callable[[int], object],
    ) -> None:
        """As `write_folder` of the command line, each part on a machine that has time."""
        store, indices = work.store, work.store.indices
        constants = constants_of(store, sums)
        folder = begin_folder(out.resolve())
        drawn = []
        for each in draw_parts(work, indices, constants, folder, shown_numbers(sums.candidates)):
            drawn.append(each)
            on_progress(1)
        bounds = all_bounds([each.bounds for each in drawn if each is not None])

        def counted() -> Iterator[Counts | None]:
            for parts, counts in count_parts(work, indices, constants, bounds):
                yield counts
                on_progress(parts)

        finish_points(folder, sums, constants, settings, drawn, counted())
        end_folder(folder, out)


@contextmanager
def cluster_at(address: str, workers: int | None = None, cores: int = 1) -> Iterator[Cluster]:
    """Join the cluster at an address, or start one; see :func:`joined`."""
    with joined(address, workers, cores) as joined_workers:
        yield Cluster(joined_workers)
