"""The texts of an atlas as two Parquet tables: a row for each token, and one for each sentence.

Both have the same number of row groups: a search reads some columns of one group at a time, and
opening a thousand files would take longer than searching them. Files are not trusted: they are not
compressed, and texts are read as a dictionary and indices, so that few bytes stay few.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow.parquet import ParquetFile, ParquetWriter

from core.atlas.data import CorpusTexts, join_texts
from core.records import RecordError, well_formed, whole_file

TOKENS, SENTENCES = "tokens.parquet", "sentences.parquet"
GROUP_TOKENS = 2**20  # per row group, unless a single part has more
MAX_TEXT = 200  # characters of a token or a label; GPT-2's longest, 128 blanks, fits
MAX_BYTES = 2**31  # per row group
_WORDS = pa.dictionary(pa.int32(), pa.string())
_TOKEN_TYPES = {
    **dict.fromkeys(("sentence", "position", "word", "start", "end"), pa.int32()),
    "special": pa.bool_(),
    **dict.fromkeys(("token", "display"), _WORDS),
}
_TYPES = {
    TOKENS: _TOKEN_TYPES,
    SENTENCES: {"sentence": pa.int32(), "text": _WORDS},  # labels too; nobody reads them here
}
_ENCODINGS = {"PLAIN", "RLE", "RLE_DICTIONARY", "PLAIN_DICTIONARY"}  # no delta encodings


def shortened(text: str) -> str:
    """At most `MAX_TEXT` characters, ending in an ellipsis if some were left out."""
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"


def as_stored(texts: CorpusTexts) -> CorpusTexts:
    """The texts with tokens and labels of bounded length, and sentences that fit their tokens.

    A token is drawn in every head, so its text is sent to the browser many times. Real tokens have
    a few letters, but one unknown to the tokenizer can be as long as its whole line.
    """
    tokens = texts.tokens
    places = np.searchsorted(texts.numbers, tokens.sentence)
    limits = max_lengths(np.bincount(places, minlength=len(texts.sentences)))
    sentences = tuple(
        well_formed(text)[:most] for text, most in zip(texts.sentences, limits, strict=True)
    )
    ends = np.array([len(text) for text in sentences])[places][:, None]
    words, displays, labels = (
        tuple(shortened(well_formed(text)) for text in each)
        for each in (tokens.texts, tokens.displays, texts.labels)
    )
    spans = np.minimum(tokens.spans, ends).astype(np.int32)
    return CorpusTexts(
        replace(tokens, texts=words, displays=displays, spans=spans), sentences, labels
    )


def max_lengths(tokens: Any) -> Any:  # noqa: ANN401 - an array or a number
    """The most characters in a sentence of so many tokens, allowing as many again for gaps."""
    return 2 * MAX_TEXT * tokens


class MemoryTables:
    """The tables of texts in memory, with the interface of :class:`FileTables`."""

    def __init__(self, texts: CorpusTexts) -> None:
        tokens = texts.tokens
        self.count = len(tokens)
        self._columns = {
            **{name: getattr(tokens, name) for name in ("sentence", "position", "word", "special")},
            **{name: tokens.spans[:, i].copy() for i, name in enumerate(("start", "end"))},
            "token": _words(tokens.texts),
            "display": _words(tokens.displays),
        }
        self._rows = {"sentence": texts.numbers.astype(np.int32), "text": _words(texts.sentences)}
        if texts.labels:
            self._rows["label"] = _words(texts.labels)

    def tokens(self, *columns: str) -> list[Any]:
        """Columns with one entry per token: arrays, and Arrow dictionaries for texts."""
        return [self._columns[name] for name in columns]

    def sentences(self, *columns: str) -> list[Any]:
        """Columns with one entry per sentence."""
        return [self._rows[name] for name in columns]

    def as_arrow(self) -> dict[str, pa.Table]:
        """Both tables, by their file names."""
        return {TOKENS: pa.table(self._columns), SENTENCES: pa.table(self._rows)}


@dataclass(frozen=True, eq=False)
class FileTables:
    """A row group of both tables in a folder, with whole sentences.

    Raises `RecordError` if a file is damaged.

    Attributes
    ----------
    first : index of its first token among all tokens.
    count, rows : how many tokens and sentences it has.
    """

    folder: Path
    number: int
    first: int
    count: int
    rows: int

    def tokens(self, *columns: str) -> list[Any]:
        """As in :class:`MemoryTables`."""
        return self._read(TOKENS, columns, self.count)

    def sentences(self, *columns: str) -> list[Any]:
        """As in :class:`MemoryTables`."""
        return self._read(SENTENCES, columns, self.rows)

    def _read(self, name: str, columns: Sequence[str], count: int) -> list[Any]:
        try:
            with _opened(self.folder / name) as file:
                table = file.read_row_group(self.number, columns=list(columns)).combine_chunks()
            table.validate(full=True)
        except (pa.ArrowException, OSError, ValueError, KeyError) as error:
            raise _damaged(name) from error
        arrays = [table.column(each).combine_chunks() for each in columns]
        if len(table) != count or any(each.null_count for each in arrays):
            raise _damaged(name)
        return [self._checked(name, *each) for each in zip(columns, arrays, strict=True)]

    def _checked(self, name: str, column: str, values: pa.Array) -> Any:  # noqa: ANN401
        """A numeric array, or texts that fit so many tokens: a dictionary may repeat one."""
        if pa.types.is_dictionary(values.type):
            sizes, most = pc.binary_length(values.dictionary), 4 * max_lengths(self.count)  # UTF-8
            is_long = (pc.max(sizes).as_py() or 0) * len(values) > most  # almost never true
            is_wrong = is_long and pc.sum(sizes.take(values.indices)).as_py() > most
            array = values
        else:
            array = values.to_numpy(zero_copy_only=False)
            step = int(name == SENTENCES)  # sentence numbers ascend, those of tokens may repeat
            is_wrong = column == "sentence" and (np.diff(array.astype(np.int64)) < step).any()
        if is_wrong:
            raise _damaged(name)
        return array


def write_tables(folder: Path, parts: Iterable[CorpusTexts]) -> tuple[int, int]:
    """Write both tables of all parts, one part after the other; returns the rows of each table.

    Raises `OSError` if they cannot be written.
    """
    writers: dict[str, ParquetWriter] = {}
    sizes = np.zeros(2, dtype=np.int64)
    with ExitStack() as stack:
        paths = {name: stack.enter_context(whole_file(folder / name)) for name in _TYPES}
        writing = stack.enter_context(ExitStack())
        for texts in _grouped(parts):
            for name, table in MemoryTables(as_stored(texts)).as_arrow().items():
                if name not in writers:
                    writer = ParquetWriter(paths[name], table.schema, **_OPTIONS)
                    writers[name] = writing.enter_context(writer)
                writers[name].write_table(table, row_group_size=max(1, len(table)))
            sizes += len(texts.tokens), len(texts.sentences)
        writing.close()
    return int(sizes[0]), int(sizes[1])


_OPTIONS: dict[str, Any] = {
    "compression": "none",
    "use_dictionary": ["token", "display", "label"],
    "dictionary_pagesize_limit": 2**26,
    "store_schema": False,
    "write_statistics": ["sentence"],
}


def open_tables(folder: Path, size: tuple[int, int]) -> tuple[FileTables, ...]:
    """The row groups of the tables in a folder, with this many tokens and sentences in total.

    Raises `RecordError` if they are not the tables of an atlas.
    """
    counts = [_group_sizes(folder, name) for name in (TOKENS, SENTENCES)]
    if len(counts[0]) != len(counts[1]) or tuple(map(sum, counts)) != size:
        raise RecordError(f"“{TOKENS}” is not of all tokens of the atlas.")
    firsts = np.cumsum([0, *counts[0]]).tolist()
    groups = zip(firsts, *counts, strict=False)
    return tuple(FileTables(folder, number, *each) for number, each in enumerate(groups))


def _group_sizes(folder: Path, name: str) -> list[int]:
    """How many rows each group has."""
    try:
        with _opened(folder / name) as file:
            types = {field.name: field.type for field in file.schema_arrow}
            groups = [file.metadata.row_group(i) for i in range(file.num_row_groups)]
            chunks = [each.column(i) for each in groups for i in range(each.num_columns)]
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        raise _damaged(name) from error
    is_ours = types == _TYPES[name] | {name: types[name] for name in types if name == "label"}
    is_plain = all(
        each.compression == "UNCOMPRESSED" and _ENCODINGS.issuperset(each.encodings)
        for each in chunks
    )
    if not is_ours or not is_plain or any(each.total_byte_size > MAX_BYTES for each in groups):
        raise RecordError(f"“{name}” has other columns than an atlas, or larger ones.")
    return [each.num_rows for each in groups]


def _opened(path: Path) -> ParquetFile:
    types = _TYPES[path.name]
    return ParquetFile(path, read_dictionary=[name for name in types if types[name] == _WORDS])


def _grouped(parts: Iterable[CorpusTexts]) -> Iterator[CorpusTexts]:
    """Parts joined into groups of at most `GROUP_TOKENS` tokens, or of a single part."""
    group: list[CorpusTexts] = []
    for part in parts:
        if group and sum(len(each.tokens) for each in [*group, part]) > GROUP_TOKENS:
            yield join_texts(group)
            group = []
        group.append(part)
    if group:
        yield join_texts(group)


def _words(texts: Sequence[str]) -> pa.DictionaryArray:
    """Texts as a dictionary and the index of each."""
    return pa.array([well_formed(text) for text in texts], pa.string()).dictionary_encode()


def _damaged(name: str) -> RecordError:
    return RecordError(f"“{name}” in the folder is damaged.")
