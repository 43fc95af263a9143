"""One part of a large atlas, and its tables, which are read when they are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from core.analysis.arrays import Bools
from core.atlas.density import Plane
from core.atlas.files.errors import AtlasFileError
from core.atlas.files.tables import TEXTS
from core.vocabulary import Stage

if TYPE_CHECKING:
    from pyarrow import Array as ArrowArray
    from pyarrow import ChunkedArray, Table
    from pyarrow.parquet import ParquetFile

    from core.atlas.search.parts import Words

POINTS, TOKENS, SENTENCES = "points", "tokens", "sentences"


@dataclass(frozen=True, eq=False)
class LargePart:
    """One part in a folder; its tables are read when they are asked for."""

    folder: Path
    index: int
    first: int  # of its tokens, among all
    count: int  # of its tokens
    sentences: int

    def table(self, name: str, group: int, columns: list[str]) -> Table:
        """Columns of a group of rows of one of its tables, as many rows as the part has."""
        from pyarrow import ArrowException

        wanted = self.sentences if name == SENTENCES else self.count
        try:
            file = open_part(self.folder, name, self.index)
            rows = file.metadata.row_group(group).num_rows
            missing = set(columns) - set(file.schema_arrow.names)
            if rows != wanted or missing:
                raise AtlasFileError(
                    f"The {name} of part {self.index} are {rows:,} rows for {wanted:,}, or lack a"
                    " column."
                )
            return file.read_row_group(group, columns=columns, use_threads=False)
        except (ArrowException, IndexError, OSError) as error:
            raise AtlasFileError(f"The {name} of part {self.index} are damaged.") from error

    def plane(self, group: int, stage: Stage) -> Plane:
        """The first two components of one head."""
        names = [f"{kind}_{stage}_{axis}" for kind in ("query", "key") for axis in "xy"]
        table = self.table(POINTS, group, names)
        queries, keys = (
            np.stack([numbers_of(table, name, "f") for name in two], axis=1).astype(np.float32)
            for two in (names[:2], names[2:])
        )
        return Plane(self.first, queries, keys)

    def words(self) -> tuple[Words, Words]:
        """Its tokens as the tokenizer writes them, and as they are shown."""
        table = self.table(TOKENS, 0, ["token", "display"])
        first, second = (_words(table.column(name)) for name in ("token", "display"))
        return first, second

    def sentence(self) -> NDArray[np.integer]:
        """The number of each token's sentence."""
        return numbers_of(self.table(TOKENS, 0, ["sentence"]), "sentence", "i")

    def texts(self) -> tuple[NDArray[np.integer], ArrowArray]:
        """The number and the text of each sentence."""
        table = self.table(SENTENCES, 0, ["sentence", "text"])
        return numbers_of(table, "sentence", "i"), table.column("text").combine_chunks()

    def spans(self) -> tuple[NDArray[np.integer], Bools]:
        """Where each token lies in its sentence, and which are in no text."""
        table = self.table(TOKENS, 0, ["start", "end", "special"])
        ends = [numbers_of(table, name, "i") for name in ("start", "end")]
        return np.stack(ends, axis=1), numbers_of(table, "special", "b").astype(np.bool_)


def parts_of(folder: Path, sizes: Sequence[tuple[int, int, int]]) -> tuple[LargePart, ...]:
    """All parts of a folder, in order, by their numbers, tokens and sentences."""
    firsts = accumulate((tokens for _, tokens, _ in sizes), initial=0)
    return tuple(
        LargePart(folder, index, first, tokens, sentences)
        for first, (index, tokens, sentences) in zip(firsts, sizes, strict=False)
    )


def part_file(folder: Path, name: str, index: int) -> Path:
    """The file of a part's `POINTS`, `TOKENS` or `SENTENCES`."""
    return folder / f"{name}-{index:05}.parquet"


def open_part(folder: Path, name: str, index: int) -> ParquetFile:
    """A table of a part; of tokens, texts are read as dictionaries.

    Raises `AtlasFileError` when it is missing or damaged.
    """
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    try:
        path = part_file(folder, name, index)
        dictionaries = list(TEXTS) if name == TOKENS else None
        # Without reading ahead: a few columns of one group are read, in half the time.
        return ParquetFile(path, read_dictionary=dictionaries, pre_buffer=False)
    except (ArrowException, KeyError, FileNotFoundError) as error:
        raise AtlasFileError(f"The {name} of part {index} are missing or damaged.") from error


def numbers_of(table: Table, name: str, kind: str) -> NDArray[Any]:
    """A column of numbers without gaps; `kind` is that of their type in NumPy, such as "f"."""
    column = table.column(name)
    values: NDArray[Any] = column.to_numpy()
    if column.null_count or values.dtype.kind != kind:
        raise AtlasFileError(f"The column “{name}” has gaps, or is of another type.")
    if kind == "f" and not np.isfinite(values).all():
        raise AtlasFileError(f"The column “{name}” has values that are not finite.")
    return values


def _words(column: ChunkedArray) -> tuple[Sequence[str], NDArray[np.integer]]:
    """Distinct texts, and the index of each entry among them."""
    whole = column.unify_dictionaries().combine_chunks()
    whole = whole.chunk(0) if hasattr(whole, "chunks") else whole
    if whole.null_count or not hasattr(whole, "dictionary"):
        raise AtlasFileError("A column of texts has gaps.")
    return whole.dictionary.to_pylist(), whole.indices.to_numpy()
