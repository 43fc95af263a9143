"""The tables of an atlas's files: their columns, and writing them.

Points are numbers alone, a row for each head and token in groups of rows of one head; texts are in
tables of their own, a row a token or a sentence. Measured at 72 heads of 200,000 tokens, pandas,
polars, DuckDB and pyarrow read one head in 1 to 9 ms; a row a token with 20 columns a head takes 2
to 13 times as long, and texts beside the points 10 times as long to search. Floats hardly
compress, so columns are not packed: one head is read 5 times as fast, for a file 15 % larger.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from core.atlas.data import CorpusTokens
from core.atlas.files.errors import AtlasFileError
from core.atlas.files.texts import stored_texts
from core.model.trace import Array
from core.vocabulary import STAGES, Stage

if TYPE_CHECKING:
    from pyarrow import Schema, Table

    from core.atlas.data import Ints

Target: TypeAlias = "Path | IO[bytes]"
NORMS = ("query_norm", "key_norm")
POINTS = {
    stage: [f"{kind}_{stage}_{axis}" for kind, axis in product(("query", "key"), "xyz")]
    for stage in STAGES
}
FLOATS = [*NORMS, *(name for stage in STAGES for name in POINTS[stage])]
HEAD = {"layer": "int16", "head": "int16"}  # numbers as people read them
PLACE = {"sentence": "int32", "position": "int32"}
NUMBERS = PLACE | dict.fromkeys(("word", "start", "end"), "int32") | {"special": "bool"}
TEXTS = ("token", "display")
ROW_BYTES = 84  # of a head and token, on disk: 20 floats and up to 4 bytes of the other columns
GROUP_ROWS = 131_072  # where several heads share a group of rows, as in a file of few tokens


class PointsWriter:
    """Writes the points of one part of an atlas, head by head; for use in a `with` statement.

    `dtype` is "float32" or "float16". A group of rows holds as many whole heads as have
    `group_rows` rows together, and at least one.
    """

    def __init__(
        self, target: Target, tokens: CorpusTokens, dtype: str = "float32", group_rows: int = 1
    ) -> None:
        import pyarrow as pa
        from pyarrow.parquet import ParquetWriter

        types = HEAD | PLACE | dict.fromkeys(FLOATS, dtype)
        self._schema = schema_of(types)
        self._dtype = np.dtype(dtype)
        self._size = len(tokens)
        self._place = [pa.array(tokens.sentence), pa.array(tokens.position)]
        self._together = max(1, group_rows // max(1, self._size))
        self._waiting: list[Table] = []
        self._writer = ParquetWriter(target, self._schema, **_options(dictionaries=list(HEAD)))

    def write_head(
        self, layer: int, head: int, points: Mapping[Stage, Array], norms: Array
    ) -> None:
        """Add the next head, layer after layer: points (2 token, 3) and norms (2 token,).

        `layer` and `head` are numbers as people read them. Raises `AtlasFileError` when a number is
        not finite.
        """
        import pyarrow as pa

        size = self._size
        floats: list[Array] = [norms[:size], norms[size:]]
        for stage in STAGES:
            both = points[stage]
            floats += [half[:, axis] for half in (both[:size], both[size:]) for axis in range(3)]
        stored = [np.ascontiguousarray(each, dtype=self._dtype) for each in floats]
        if not all(np.isfinite(each).all() for each in stored):
            raise AtlasFileError(f"L{layer} H{head} has points that are not finite.")
        numbers = [pa.array(np.full(size, number, dtype=np.int16)) for number in (layer, head)]
        arrays = [*numbers, *self._place, *map(pa.array, stored)]
        self._waiting.append(pa.table(arrays, schema=self._schema))
        if len(self._waiting) == self._together:
            self._write_group()

    def finish(self) -> None:
        """Write what is waiting, and the end of the file."""
        self._write_group()
        self._writer.close()

    def _write_group(self) -> None:
        import pyarrow as pa

        if self._waiting:
            rows = self._size * len(self._waiting)
            self._writer.write_table(pa.concat_tables(self._waiting), row_group_size=max(1, rows))
            self._waiting.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.finish()
        else:
            self._writer.close()


def schema_of(types: Mapping[str, str]) -> Schema:
    """Columns of these Arrow types by name; no entry may be missing."""
    import pyarrow as pa

    fields = [
        pa.field(name, pa.type_for_alias(kind), nullable=False) for name, kind in types.items()
    ]
    return pa.schema(fields)


def write_tokens(target: Target, tokens: CorpusTokens, spans: Ints) -> None:
    """A row a token, in order; `spans` are those in the sentences as they are written."""
    import pyarrow as pa

    numbers = [
        *(tokens.sentence, tokens.position, tokens.word),
        *(np.ascontiguousarray(spans[:, end]) for end in (0, 1)),
        tokens.special,
    ]
    schema = schema_of(NUMBERS | dict.fromkeys(TEXTS, "string"))
    texts = map(stored_texts, (tokens.texts, tokens.displays))
    table = pa.table([*map(pa.array, numbers), *map(pa.array, texts)], schema=schema)
    _write(target, table, list(TEXTS))


def write_sentences(
    target: Target, numbers: NDArray[np.integer], texts: Sequence[str], labels: Sequence[str]
) -> None:
    """A row a sentence: its number in the corpus, its text, its label if there are any."""
    import pyarrow as pa

    types = {"sentence": "int32", "text": "string"} | ({"label": "string"} if labels else {})
    columns = [pa.array(numbers.astype(np.int32)), pa.array(texts)]
    if labels:
        columns.append(pa.array(stored_texts(labels)))
    _write(target, pa.table(columns, schema=schema_of(types)), ["label"] if labels else [])


def _write(target: Target, table: Table, dictionaries: list[str]) -> None:
    from pyarrow.parquet import ParquetWriter

    with ParquetWriter(target, table.schema, **_options(dictionaries)) as writer:
        writer.write_table(table, row_group_size=max(1, len(table)))


def _options(dictionaries: list[str]) -> dict[str, Any]:
    """Of a writer: nothing is packed, and what counts upward is written as differences."""
    return {
        "compression": "none",
        "use_dictionary": dictionaries,
        "write_statistics": list(HEAD) if "layer" in dictionaries else ["sentence"],
        "store_schema": False,
        "column_encoding": {"sentence": "DELTA_BINARY_PACKED", "position": "DELTA_BINARY_PACKED"},
    }
