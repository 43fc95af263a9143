"""The tables of an atlas's files: their columns, and writing them.

Points are numbers alone, a row for each head and token in groups of rows of one head; texts are in
tables of their own, a row a token or a sentence. Measured at 72 heads of 200,000 tokens, pandas,
polars, DuckDB and pyarrow read one head in 1 to 9 ms; a row a token with 20 columns a head takes 2
to 13 times as long, and texts beside the points 10 times as long to search. Floats hardly
compress, so columns are not packed: one head is read 5 times as fast, for a file 15 % larger.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow.parquet import ParquetWriter

from core.atlas.data import CorpusTexts, CorpusTokens, ProjectedPart
from core.atlas.files.errors import AtlasFileError
from core.model.trace import Array
from core.vocabulary import STAGES

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


def part_name(table: str, index: int) -> str:
    """The name of the file with a table of a part."""
    return f"{table}-{index:05}.parquet"


def table_writers(texts: CorpusTexts, part: ProjectedPart) -> dict[str, Callable[[Path], None]]:
    """What writes each table of a part, by the table's name; points last: then the part is there.

    `texts` are as of :func:`core.atlas.files.texts.as_stored`.
    """
    return {
        SENTENCES_TABLE: lambda path: _write_sentences(path, texts),
        TOKENS_TABLE: lambda path: _write_tokens(path, texts.tokens),
        POINTS_TABLE: lambda path: _write_points(path, part),
    }


def schema_of(types: Mapping[str, str]) -> pa.Schema:
    """Columns of these Arrow types by name; no entry may be missing."""
    fields = [
        pa.field(name, pa.type_for_alias(kind), nullable=False) for name, kind in types.items()
    ]
    return pa.schema(fields)


def _write_points(path: Path, part: ProjectedPart) -> None:
    """A row for each head and token, a group of rows a head.

    `AtlasFileError` when a number is not finite.
    """
    schema = schema_of(HEAD | PLACE | dict.fromkeys(FLOATS, "float32"))
    with ParquetWriter(path, schema, **_options(dictionaries=list(HEAD))) as writer:
        for layer, head in np.ndindex(part.norms.shape[:2]):
            table = _table_of(part, layer, head, schema)
            writer.write_table(table, row_group_size=max(1, len(table)))


def _table_of(part: ProjectedPart, layer: int, head: int, schema: pa.Schema) -> pa.Table:
    """The rows of one head."""
    size = len(part.tokens)
    number = part.layer_labels[layer]
    floats: list[Array] = np.split(part.norms[layer, head], 2)
    for stage in STAGES:
        both = part.points[stage][layer, head]
        floats += [half[:, axis] for half in (both[:size], both[size:]) for axis in range(3)]
    if not all(np.isfinite(column).all() for column in floats):
        raise AtlasFileError(f"L{number} H{head + 1} has points that are not finite.")
    numbers = [np.full(size, each, dtype=np.int16) for each in (number, head + 1)]
    columns = [*numbers, part.tokens.sentence, part.tokens.position]
    columns += map(np.ascontiguousarray, floats)
    return pa.table([*map(pa.array, columns)], schema=schema)


def _write_tokens(path: Path, tokens: CorpusTokens) -> None:
    """A row a token, in order."""
    ends = (np.ascontiguousarray(tokens.spans[:, end]) for end in (0, 1))
    numbers = [tokens.sentence, tokens.position, tokens.word, *ends, tokens.special]
    columns = [*map(pa.array, numbers), pa.array(tokens.texts), pa.array(tokens.displays)]
    schema = schema_of(NUMBERS | dict.fromkeys(TEXTS, "string"))
    _write(path, pa.table(columns, schema=schema), list(TEXTS))


def _write_sentences(path: Path, texts: CorpusTexts) -> None:
    """A row a sentence: its number in the corpus, its text, its label if there are any."""
    types = {"sentence": "int32", "text": "string"}
    columns = [pa.array(texts.numbers.astype(np.int32)), pa.array(texts.sentences)]
    if texts.labels:
        types["label"] = "string"
        columns.append(pa.array(texts.labels))
    table = pa.table(columns, schema=schema_of(types))
    _write(path, table, ["label"] if texts.labels else [])


def _write(path: Path, table: pa.Table, dictionaries: list[str]) -> None:
    with ParquetWriter(path, table.schema, **_options(dictionaries)) as writer:
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
