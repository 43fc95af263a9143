"""One part of a large atlas, and its tables, which are read when they are asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from core.analysis.atlas.density import Plane
from core.analysis.atlas.files.errors import AtlasFileError
from core.analysis.atlas.files.tables import TEXTS
from core.analysis.atlas.files.texts import shortened

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray
    from pyarrow import Array as ArrowArray
    from pyarrow import ChunkedArray, Table
    from pyarrow.parquet import ParquetFile

    from core.analysis.arrays import Bools
    from core.analysis.atlas.data import Ints
    from core.analysis.atlas.search_parts import Words
    from core.analysis.query_key.clouds import Stage

POINTS, TOKENS, SENTENCES = "points", "tokens", "sentences"


@dataclass(frozen=True, eq=False)
class TokenRows:
    """Some tokens of an atlas; fields as in :class:`core.analysis.atlas.data.CorpusTokens`."""

    texts: tuple[str, ...]
    displays: tuple[str, ...]
    sentence: Ints  # its number in the whole corpus
    position: Ints


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
        """As :class:`core.analysis.atlas.search_parts.Searched` has it; also what follows."""
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

    @cached_property
    def first_sentence(self) -> int:
        """The number of its first sentence."""
        return int(numbers_of(self.table(SENTENCES, 0, ["sentence"]), "sentence", "i")[0])

    def rows(self, places: NDArray[np.integer]) -> TokenRows:
        """The tokens at these places in it."""
        names = ["sentence", "position", "token", "display"]
        rows = self.table(TOKENS, 0, names).take(places)
        sentence, position = (numbers_of(rows, name, "i") for name in names[:2])
        texts, displays = (
            tuple(map(shortened, rows.column(name).to_pylist())) for name in names[2:]
        )
        return TokenRows(texts, displays, sentence, position)

    def texts_of(self, numbers: NDArray[np.integer]) -> dict[int, str]:
        """The texts of its sentences with these numbers, by number."""
        known, stored = self.texts()
        places = np.flatnonzero(np.isin(known, numbers))
        return dict(zip(known[places].tolist(), stored.take(places).to_pylist(), strict=True))


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
