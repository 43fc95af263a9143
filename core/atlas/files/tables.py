"""The tables of an atlas's files: their columns, and writing them.

Points are numbers alone, a row for each head and token in groups of rows of one head; texts are in
tables of their own, a row a token or a sentence. Measured at 72 heads of 200,000 tokens, pandas,
polars, DuckDB and pyarrow read one head in 1 to 9 ms; a row a token with 20 columns a head takes 2
to 13 times as long, and texts beside the points 10 times as long to search. Floats hardly
compress, so columns are not packed: one head is read 5 times as fast, for a file 15 % larger.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import islice, product
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np
import pyarrow as pa
from pyarrow.parquet import ParquetWriter

from core.atlas.data import CorpusTexts, CorpusTokens, HeadPoints
from core.atlas.files.errors import AtlasFileError
from core.model.trace import Array
from core.vocabulary import STAGES

Target: TypeAlias = "Path | IO[bytes]"
POINTS_TABLE, TOKENS_TABLE, SENTENCES_TABLE = "points", "tokens", "sentences"
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


def part_name(table: str, index: int) -> str:
    """The name of the file, or of the member of a file, with a table of a part."""
    return f"{table}-{index:05}.parquet"


def table_writers(
    texts: CorpusTexts, heads: Iterable[HeadPoints], dtype: str = "float32", group_rows: int = 1
) -> dict[str, Callable[[Target], None]]:
    """What writes each table of some sentences, by the table's name.

    `texts` are as of :func:`core.atlas.files.texts.as_stored`; `heads` all of them, in order, taken
    once. `dtype`, of the points, is "float32" or "float16". A group of rows holds as many whole
    heads as have `group_rows` rows together, and at least one.
    """
    return {
        POINTS_TABLE: lambda target: _write_points(target, texts.tokens, heads, dtype, group_rows),
        TOKENS_TABLE: lambda target: _write_tokens(target, texts.tokens),
        SENTENCES_TABLE: lambda target: _write_sentences(target, texts),
    }


def schema_of(types: Mapping[str, str]) -> pa.Schema:
    """Columns of these Arrow types by name; no entry may be missing."""
    fields = [
        pa.field(name, pa.type_for_alias(kind), nullable=False) for name, kind in types.items()
    ]
    return pa.schema(fields)


def _write_points(
    target: Target,
    tokens: CorpusTokens,
    heads: Iterable[HeadPoints],
    dtype: str,
    group_rows: int,
) -> None:
    """A row for each head and token; `AtlasFileError` when a number is not finite."""
    size = len(tokens)
    schema = schema_of(HEAD | PLACE | dict.fromkeys(FLOATS, dtype))
    tables = (_table_of(each, tokens, schema, dtype) for each in heads)
    together = max(1, group_rows // max(1, size))
    with ParquetWriter(target, schema, **_options(dictionaries=list(HEAD))) as writer:
        while group := list(islice(tables, together)):
            writer.write_table(pa.concat_tables(group), row_group_size=max(1, size * len(group)))


def _table_of(each: HeadPoints, tokens: CorpusTokens, schema: pa.Schema, dtype: str) -> pa.Table:
    """The rows of one head."""
    size = len(tokens)
    floats: list[Array] = [each.norms[:size], each.norms[size:]]
    for stage in STAGES:
        both = each.points[stage]
        floats += [half[:, axis] for half in (both[:size], both[size:]) for axis in range(3)]
    stored = [np.ascontiguousarray(column, dtype=np.dtype(dtype)) for column in floats]
    if not all(np.isfinite(column).all() for column in stored):
        raise AtlasFileError(f"L{each.layer} H{each.head} has points that are not finite.")
    numbers = [np.full(size, number, dtype=np.int16) for number in (each.layer, each.head)]
    columns = [*numbers, tokens.sentence, tokens.position, *stored]
    return pa.table([*map(pa.array, columns)], schema=schema)


def _write_tokens(target: Target, tokens: CorpusTokens) -> None:
    """A row a token, in order."""
    ends = (np.ascontiguousarray(tokens.spans[:, end]) for end in (0, 1))
    numbers = [tokens.sentence, tokens.position, tokens.word, *ends, tokens.special]
    columns = [*map(pa.array, numbers), pa.array(tokens.texts), pa.array(tokens.displays)]
    schema = schema_of(NUMBERS | dict.fromkeys(TEXTS, "string"))
    _write(target, pa.table(columns, schema=schema), list(TEXTS))


def _write_sentences(target: Target, texts: CorpusTexts) -> None:
    """A row a sentence: its number in the corpus, its text, its label if there are any."""
    types = {"sentence": "int32", "text": "string"}
    columns = [pa.array(texts.numbers.astype(np.int32)), pa.array(texts.sentences)]
    if texts.labels:
        types["label"] = "string"
        columns.append(pa.array(texts.labels))
    table = pa.table(columns, schema=schema_of(types))
    _write(target, table, ["label"] if texts.labels else [])


def _write(target: Target, table: pa.Table, dictionaries: list[str]) -> None:
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
