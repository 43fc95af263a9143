"""One part of a large atlas, and its tables, which are read when they are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from core.atlas.density import Plane
from core.atlas.files.errors import AtlasFileError
from core.atlas.files.tables import POINTS_TABLE, SENTENCES_TABLE, part_name
from core.vocabulary import Stage

if TYPE_CHECKING:
    from pyarrow import Table
    from pyarrow.parquet import ParquetFile


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

        wanted = self.sentences if name == SENTENCES_TABLE else self.count
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
        table = self.table(POINTS_TABLE, group, names)
        queries, keys = (
            np.stack([numbers_of(table, name, "f") for name in two], axis=1).astype(np.float32)
            for two in (names[:2], names[2:])
        )
        return Plane(self.first, queries, keys)


def parts_of(folder: Path, sizes: Sequence[tuple[int, int, int]]) -> tuple[LargePart, ...]:
    """All parts of a folder, in order, by their numbers, tokens and sentences."""
    firsts = accumulate((tokens for _, tokens, _ in sizes), initial=0)
    return tuple(
        LargePart(folder, index, first, tokens, sentences)
        for first, (index, tokens, sentences) in zip(firsts, sizes, strict=False)
    )


def open_part(folder: Path, name: str, index: int) -> ParquetFile:
    """A table of a part; `AtlasFileError` when it is missing or damaged."""
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    try:
        # Without reading ahead: a few columns of one group are read, in half the time.
        return ParquetFile(folder / part_name(name, index), pre_buffer=False)
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


def texts_of(table: Table, name: str) -> list[str]:
    """A column of texts without gaps."""
    from pyarrow import types

    column = table.column(name)
    if column.null_count or not types.is_string(column.type):
        raise AtlasFileError("A column of texts has gaps.")
    return column.to_pylist()
