"""Opening an atlas's file without trusting it."""

from __future__ import annotations

import os
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from core.analysis.atlas.data import Atlas, CorpusTokens
from core.analysis.atlas.saved.errors import AtlasFileError
from core.analysis.atlas.saved.header import MAX_BYTES, MAX_HEADS, Header, decode_header
from core.analysis.atlas.saved.metadata import check_pages, read_footer
from core.analysis.atlas.saved.table import FLOATS, NORMS, POINTS, schema_of
from core.analysis.atlas.saved.texts import MAX_TEXT, check_sentences, read_texts
from core.analysis.query_key.clouds import STAGES

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pyarrow.parquet import ParquetFile

    from core.analysis.query_key.clouds import Stage
    from core.model.trace import Array

MAX_ROWS = 20_000_000  # heads times tokens: 1.6 GB of points when opened
_LONG_TEXTS = 2**20  # bytes of texts from before long ones were cut
_TOKEN_BYTES = 4 * MAX_TEXT + 8  # of a column: a text of four-byte characters, and its index


def read_atlas(source: str | os.PathLike[str] | BinaryIO, max_rows: int = MAX_ROWS) -> Atlas:
    """The atlas in a file that :func:`write_atlas` wrote, without full vectors.

    The file is not trusted. The tokens are read from the first head alone. Raises `AtlasFileError`
    when it is not an atlas, damaged, of another format, or has more rows than `max_rows`; `OSError`
    when there is no such file, or it cannot be read.
    """
    if isinstance(source, str | os.PathLike):
        with Path(source).open("rb") as file:
            return read_atlas(file, max_rows)
    from pyarrow import ArrowException

    try:
        return _read(source, max_rows)
    except AtlasFileError:
        raise
    except (ArrowException, OSError, ValueError, KeyError, IndexError) as error:
        raise AtlasFileError(
            f"The file is not an atlas, or it is damaged ({type(error).__name__})."
        ) from error


def _read(source: BinaryIO, max_rows: int) -> Atlas:
    from pyarrow.parquet import ParquetFile

    header = _read_header(source, max_rows)
    file = ParquetFile(
        source,
        thrift_string_size_limit=2 * MAX_BYTES,
        thrift_container_size_limit=MAX_HEADS,
        page_checksum_verification=True,
        pre_buffer=False,
    )
    _check_table(file, header)
    check_pages(source, file.metadata, _max_bytes(header.shape[2]))
    tokens = _read_tokens(file, header)
    points, norms = _read_heads(file, header)
    return Atlas(
        model=header.model,
        causal=header.causal,
        sentences=header.sentences,
        labels=header.labels,
        tokens=tokens,
        points=points,
        shares=header.shares,
        norms=norms,
        **header.faithfulness._asdict(),
        distances=header.distances,
        positions=header.positions,
        settings=header.settings,
        layer_numbers=header.numbers,
        depth=header.depth,
    )


def _read_header(source: BinaryIO, max_rows: int) -> Header:
    footer = read_footer(source)
    if footer.header is None:
        raise AtlasFileError(
            "The file is a table, but not an atlas: it does not describe itself as one."
        )
    return decode_header(footer.header, max_rows, footer.rows)


def _check_table(file: ParquetFile, header: Header) -> None:
    """Check columns and sizes before any of them is read."""
    layers, heads, tokens = header.shape
    expected = schema_of(labelled=bool(header.labels))
    actual = file.schema_arrow
    for field in expected:
        if field.name not in actual.names or actual.field(field.name).type != field.type:
            raise AtlasFileError(
                f"The file lacks the column “{field.name}”, or it is of another type."
            )
    if file.num_row_groups != layers * heads:
        raise AtlasFileError(
            f"The file has {file.num_row_groups:,} groups of rows for {layers * heads:,} heads."
        )
    for group in range(layers * heads):
        described = file.metadata.row_group(group)
        if described.num_rows != tokens:
            raise AtlasFileError(
                f"Head {group + 1} has {described.num_rows:,} rows for {tokens:,} tokens."
            )
        if described.total_byte_size > len(expected) * _max_bytes(tokens):
            raise AtlasFileError(f"Head {group + 1} takes more memory than its tokens can.")


def _max_bytes(tokens: int) -> int:
    """The most that a column of this many tokens can take, with all its distinct texts."""
    return _TOKEN_BYTES * tokens + _LONG_TEXTS


def _read_tokens(file: ParquetFile, header: Header) -> CorpusTokens:
    table = file.read_row_group(0, columns=["sentence", "position", "token", "display", "special"])
    table.validate(full=True)
    sentence, position, special = (
        _numbers(table, name) for name in ("sentence", "position", "special")
    )
    firsts = np.searchsorted(sentence, np.arange(len(header.sentences) + 1))
    counted = np.repeat(np.arange(len(header.sentences)), np.diff(firsts))
    in_order = counted.size == sentence.size and (np.diff(firsts) > 0).all()
    if not in_order or (sentence != counted).any() or (position != _within(firsts)).any():
        raise AtlasFileError("The tokens of the file are not in the order of their sentences.")
    tokens = CorpusTokens(
        texts=_texts(table, "token"),
        displays=_texts(table, "display"),
        sentence=sentence,
        position=position,
        word=header.word,
        special=special,
        spans=header.spans,
    )
    check_sentences(header.sentences, tokens)
    return tokens


def _within(firsts: NDArray[np.intp]) -> NDArray[np.intp]:
    """Position of each token in its sentence, from the first token of each sentence and the end."""
    return np.arange(firsts[-1]) - np.repeat(firsts[:-1], np.diff(firsts))


def _read_heads(file: ParquetFile, header: Header) -> tuple[dict[Stage, Array], Array]:
    """Points and norms of all heads; only one head at a time is in memory twice."""
    layers, heads, tokens = header.shape
    points: dict[Stage, Array] = {
        stage: np.empty((layers, heads, 2 * tokens, 3), dtype=np.float32) for stage in STAGES
    }
    norms = np.empty((layers, heads, 2 * tokens), dtype=np.float32)
    halves = (slice(None, tokens), slice(tokens, None))
    for group, (layer, head) in enumerate(product(range(layers), range(heads))):
        table = file.read_row_group(group, columns=["layer", "head", *FLOATS])
        number = header.numbers[layer]
        counted = zip(("layer", "head"), (number, head + 1), strict=True)
        if any((_numbers(table, name) != wanted).any() for name, wanted in counted):
            raise AtlasFileError(
                f"The heads of the file are not in order at L{number} H{head + 1}."
            )
        for half, name in zip(halves, NORMS, strict=True):
            lengths = _finite(table, name)
            if (lengths < 0).any():
                raise AtlasFileError(f"The column “{name}” has lengths below zero.")
            norms[layer, head, half] = lengths
        for stage in STAGES:
            for name, place in zip(POINTS[stage], product(halves, range(3)), strict=True):
                points[stage][layer, head, *place] = _finite(table, name)
    return points, norms


def _numbers(table: Any, name: str) -> NDArray[Any]:  # noqa: ANN401 - a library without types
    column = table.column(name)
    if column.null_count:
        raise AtlasFileError(f"The column “{name}” has gaps.")
    return column.to_numpy()


def _finite(table: Any, name: str) -> NDArray[np.float32]:  # noqa: ANN401 - likewise
    numbers = _numbers(table, name)
    if not np.isfinite(numbers).all():
        raise AtlasFileError(f"The column “{name}” has values that are not finite.")
    return numbers


def _texts(table: Any, name: str) -> tuple[str, ...]:  # noqa: ANN401 - likewise
    column = table.column(name).unify_dictionaries().combine_chunks()
    column = column.chunk(0) if hasattr(column, "chunks") else column
    if column.null_count or column.dictionary.null_count:
        raise AtlasFileError(f"The column “{name}” has gaps.")
    words = read_texts(column.dictionary.to_pylist(), name)
    return tuple(words[index] for index in column.indices.to_numpy())
