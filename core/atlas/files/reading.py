"""Reading an atlas's tables without trusting them.

Of a small atlas, which anybody may have sent, only columns of numbers that are not packed are read,
so that no table takes much more memory than it has bytes. Texts in Parquet have no such limit (one
text can be written once and stand in every row), so such a file has them a second time, in its
safetensors. Tables of a large atlas are checked by what they say of their sizes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, product
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from pyarrow import ArrowException, Table, types
from pyarrow.parquet import ParquetFile

from core.atlas.files.description import Description
from core.atlas.files.errors import AtlasFileError
from core.atlas.files.tables import (
    FLOATS,
    GROUP_ROWS,
    HEAD,
    NORMS,
    NUMBERS,
    POINTS,
    SENTENCES_TABLE,
    part_name,
    schema_of,
)
from core.model.trace import Array
from core.vocabulary import STAGES, Stage

Columns = dict[str, NDArray[Any]]
_SPARE_BYTES, _CHUNK_BYTES = 16_384, 256  # of a table's own description, and per column of a group
_MAX_LIST = 4096  # columns or groups in it


def open_table(source: BinaryIO, columns: Mapping[str, str], groups: int) -> ParquetFile:
    """A table with these columns of numbers (Arrow types by name), in at most so many groups.

    Raises `AtlasFileError` when a column is missing, packed, of another type or may have gaps, or
    when what the table says of itself is longer than its columns need.
    """
    _check_footer(source, _SPARE_BYTES + (len(columns) + 4) * max(1, groups) * _CHUNK_BYTES)
    file = ParquetFile(
        source,
        thrift_string_size_limit=2**20,
        thrift_container_size_limit=_MAX_LIST,
        pre_buffer=False,
    )
    expected, actual = schema_of(columns), file.schema_arrow
    for field in expected:
        if field.name not in actual.names or actual.field(field.name).type != field.type:
            raise AtlasFileError(
                f"The file lacks the column “{field.name}”, or it is of another type."
            )
    if file.num_row_groups > max(1, groups):
        raise AtlasFileError(f"A table of the file has {file.num_row_groups:,} groups of rows.")
    _check_columns(file, set(columns))
    return file


def read_numbers(source: BinaryIO, tokens: int) -> Columns:
    """The columns of numbers of a table with a row a token, in one group of rows."""
    file = open_table(source, NUMBERS, 1)
    if file.metadata.num_rows != tokens or file.num_row_groups != 1:
        raise AtlasFileError(f"The tokens of the file are {file.metadata.num_rows:,} rows.")
    return _columns(file.read_row_group(0, columns=list(NUMBERS)), tokens)


def read_points(
    source: BinaryIO, description: Description, tokens: int
) -> tuple[dict[Stage, Array], Array]:
    """Points and norms of all heads, as in :class:`core.atlas.data.Atlas`.

    Groups of rows are read one after the other, so that only one is in memory twice.
    """
    layers, heads = description.layers, description.heads
    points: dict[Stage, Array] = {
        stage: np.empty((layers, heads, 2 * tokens, 3), dtype=np.float32) for stage in STAGES
    }
    norms = np.empty((layers, heads, 2 * tokens), dtype=np.float32)
    halves = (slice(None, tokens), slice(tokens, None))
    tables = _heads(source, layers * heads, tokens)
    for (layer, head), columns in zip(np.ndindex(layers, heads), tables, strict=True):
        number = description.layer_numbers[layer]
        if (columns["layer"] != number).any() or (columns["head"] != head + 1).any():
            raise AtlasFileError(
                f"The heads of the file are not in order at L{number} H{head + 1}."
            )
        for half, name in zip(halves, NORMS, strict=True):
            if (columns[name] < 0).any():
                raise AtlasFileError(f"The column “{name}” has lengths below zero.")
            norms[layer, head, half] = columns[name]
        for stage in STAGES:
            for name, place in zip(POINTS[stage], product(halves, range(3)), strict=True):
                points[stage][layer, head, *place] = columns[name]
    return points, norms


def _heads(source: BinaryIO, heads: int, tokens: int) -> Iterator[Columns]:
    """The columns of each head."""
    names = HEAD | dict.fromkeys(FLOATS, "float32")
    together = max(1, GROUP_ROWS // tokens)
    groups = -(-heads // together)
    file = open_table(source, names, groups)
    sizes = [together * tokens] * (groups - 1) + [(heads - together * (groups - 1)) * tokens]
    rows = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
    if rows != sizes:
        raise AtlasFileError(
            f"The points of the file are {sum(rows):,} rows for {heads:,} heads of {tokens:,}"
            " tokens, or in other groups than those of an atlas."
        )
    for group, size in enumerate(sizes):
        columns = _columns(file.read_row_group(group, columns=list(names)), size)
        for start in range(0, size, tokens):
            yield {name: values[start : start + tokens] for name, values in columns.items()}


def _check_footer(source: BinaryIO, limit: int) -> None:
    """A million empty columns are three bytes each, and hundreds in memory."""
    size = source.seek(0, 2)
    source.seek(max(0, size - 8))
    length = int.from_bytes(source.read(4), "little")
    if length > min(limit, size):
        raise AtlasFileError(
            f"A table of the file has a description of {length / 1e6:.1f} MB; the limit is"
            f" {limit / 1e6:.1f} MB."
        )
    source.seek(0)


def _check_columns(file: ParquetFile, names: set[str]) -> None:
    described = (file.schema.column(index) for index in range(len(file.schema)))
    for column in described:
        if column.path in names and (column.max_definition_level or column.max_repetition_level):
            raise AtlasFileError(f"The column “{column.path}” may have gaps.")
    for group in range(file.num_row_groups):
        parts = file.metadata.row_group(group)
        for column in map(parts.column, range(parts.num_columns)):
            if column.path_in_schema in names and column.compression != "UNCOMPRESSED":
                raise AtlasFileError(f"The column “{column.path_in_schema}” is packed.")


def _columns(table: Table, rows: int) -> Columns:
    columns = {name: table.column(name).to_numpy() for name in table.column_names}
    for name, values in columns.items():
        if len(values) != rows or values.dtype == object:
            raise AtlasFileError(f"The column “{name}” has gaps.")
        _check_finite(name, values)
    return columns


def _check_finite(name: str, values: NDArray[Any]) -> None:
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise AtlasFileError(f"The column “{name}” has values that are not finite.")


@dataclass(frozen=True, eq=False)
class LargePart:
    """One part in a folder; its tables are read when they are asked for."""

    folder: Path
    index: int
    first: int  # of its tokens, among all
    count: int  # of its tokens
    sentences: int

    def table(self, name: str, columns: list[str]) -> Table:
        """Columns of one of its tables of texts, as many rows as the part has."""
        wanted = self.sentences if name == SENTENCES_TABLE else self.count
        try:
            file = open_part(self.folder, name, self.index)
            rows = file.metadata.row_group(0).num_rows
            missing = set(columns) - set(file.schema_arrow.names)
            if rows != wanted or missing:
                raise AtlasFileError(
                    f"The {name} of part {self.index} are {rows:,} rows for {wanted:,}, or lack a"
                    " column."
                )
            return file.read_row_group(0, columns=columns, use_threads=False)
        except (ArrowException, IndexError, OSError) as error:
            raise AtlasFileError(f"The {name} of part {self.index} are damaged.") from error


def parts_of(folder: Path, sizes: Sequence[tuple[int, int, int]]) -> tuple[LargePart, ...]:
    """All parts of a folder, in order, by their numbers, tokens and sentences."""
    firsts = accumulate((tokens for _, tokens, _ in sizes), initial=0)
    return tuple(
        LargePart(folder, index, first, tokens, sentences)
        for first, (index, tokens, sentences) in zip(firsts, sizes, strict=False)
    )


def open_part(folder: Path, name: str, index: int) -> ParquetFile:
    """A table of a part; `AtlasFileError` when it is missing or damaged."""
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
    _check_finite(name, values)
    return values


def texts_of(table: Table, name: str) -> list[str]:
    """A column of texts without gaps."""
    column = table.column(name)
    if column.null_count or not types.is_string(column.type):
        raise AtlasFileError("A column of texts has gaps.")
    return column.to_pylist()
