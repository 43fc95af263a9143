"""An atlas as one Parquet file: a tidy table that pandas and polars read, and a header in JSON.

A row is a token of a head, a row group is a head, so a head can be read alone. The header is in the
file's key-value metadata, after the table: heads can be written one by one, and what is known about
all of them comes last. The same atlas gives the same bytes.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeAlias

import numpy as np

from core.analysis.atlas.saved.errors import AtlasFileError
from core.analysis.atlas.saved.header import encode_header
from core.analysis.atlas.saved.opening import MAX_ROWS, read_atlas
from core.analysis.atlas.saved.table import FLOATS, KEY, schema_of, token_columns_of
from core.analysis.atlas.saved.texts import shortened
from core.analysis.query_key.clouds import STAGES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from types import TracebackType
    from typing import Self

    from core.analysis.atlas.data import Atlas, CorpusTokens
    from core.analysis.query_key.clouds import Stage
    from core.model.trace import Array

__all__ = [
    "MAX_ROWS",
    "AtlasFileError",
    "AtlasWriter",
    "max_file_bytes",
    "read_atlas",
    "whole_file",
    "write_atlas",
]

_NUMBERS_BYTES = 92  # of a row without its texts: 20 numbers, and up to 12 of indices
_HEADER_BYTES = 24  # per token
Target: TypeAlias = str | os.PathLike[str] | BinaryIO


class AtlasWriter:
    """Writes an atlas head by head, then its header; for use in a `with` statement."""

    def __init__(self, target: Target, tokens: CorpusTokens, labels: Sequence[str] = ()) -> None:
        from pyarrow.parquet import ParquetWriter

        self._columns = token_columns_of(tokens, labels)
        self._schema = schema_of(labelled=bool(labels))
        self._size = len(tokens)
        self._writer = ParquetWriter(
            target,
            self._schema,
            compression="zstd",
            use_dictionary=[name for name in self._schema.names if name not in FLOATS],
            column_encoding=dict.fromkeys(FLOATS, "BYTE_STREAM_SPLIT"),
            write_page_checksum=True,
        )

    def write_head(
        self, layer: int, head: int, points: Mapping[Stage, Array], norms: Array
    ) -> None:
        """Add the next head, layer after layer: points (2 token, 3) and norms (2 token,).

        `layer` and `head` are numbers as people read them. Raises `AtlasFileError` when a number is
        not finite.
        """
        import pyarrow as pa

        size = self._size
        if not all(np.isfinite(each).all() for each in (norms, *points.values())):
            raise AtlasFileError(f"L{layer} H{head} has points that are not finite.")
        floats: list[Array] = [norms[:size], norms[size:]]
        for stage in STAGES:
            both = points[stage]
            floats += [part[:, axis] for part in (both[:size], both[size:]) for axis in range(3)]
        numbers = [pa.array(np.full(size, number, dtype=np.int16)) for number in (layer, head)]
        arrays = [*numbers, *self._columns, *(pa.array(np.ascontiguousarray(x)) for x in floats)]
        self._writer.write_table(pa.table(arrays, schema=self._schema), row_group_size=size)

    def finish(self, atlas: Atlas) -> None:
        """Add the header of the atlas; its points and norms are not used."""
        self._writer.add_key_value_metadata({KEY: encode_header(atlas)})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._writer.close()


def write_atlas(atlas: Atlas, target: Target) -> None:
    """Write an atlas, without its vectors and masks, to a path or an open binary file.

    An existing file is replaced once everything is written. Raises `AtlasFileError` when points are
    not finite, or the texts are too long; `OSError` when it cannot be written.
    """
    if isinstance(target, str | os.PathLike):
        with whole_file(Path(target)) as path:
            _write(atlas, path)
    else:
        _write(atlas, target)


def max_file_bytes(atlas: Atlas) -> int:
    """An upper bound of the size of the atlas's file.

    Every head's rows have the texts of the tokens, each distinct one once.
    """
    layers, heads, tokens = atlas.shape
    columns = (set(atlas.tokens.texts), set(atlas.tokens.displays), set(atlas.labels))
    head_bytes = sum(_bytes_of(shortened(text)) for texts in columns for text in texts)
    header = sum(map(_bytes_of, (*atlas.sentences, *atlas.labels))) + _HEADER_BYTES * tokens
    return layers * heads * (tokens * _NUMBERS_BYTES + head_bytes) + header


def _bytes_of(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A path to write to, which becomes `path` once complete, and is removed on failure."""
    unfinished = path.with_name(path.name + ".writing")
    try:
        yield unfinished
        with unfinished.open("rb") as file:
            os.fsync(file.fileno())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def _write(atlas: Atlas, target: Target) -> None:
    layers, heads, _ = atlas.shape
    with AtlasWriter(target, atlas.tokens, atlas.labels) as writer:
        for head in product(range(layers), range(heads)):
            points = {stage: atlas.points[stage][head] for stage in STAGES}
            number = atlas.numbers[head[0]]
            writer.write_head(number, head[1] + 1, points, atlas.norms[head])
        writer.finish(atlas)
