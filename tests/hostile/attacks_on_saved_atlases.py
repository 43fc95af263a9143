"""Files of strangers that are small, and would take gigabytes when they are opened as atlases.

They are written before (`write_files`), into the folder that `HOSTILE_ATLASES` names: to make them
takes memory, too.
"""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.analysis.atlas import build_atlas
from core.analysis.atlas.saved.errors import AtlasFileError
from core.analysis.atlas.saved.file import read_atlas
from tests.analysis.atlas.files import KEY, bomb, forged, header_of, trace, written

if TYPE_CHECKING:
    from collections.abc import Callable

FOLDER = "HOSTILE_ATLASES"
MEGABYTE = 1_000_000
LONG = 900_000  # characters
TEXTS = tuple(f"word {i} and word {i + 1} are two words" for i in range(130))
TOKENS = 9 * len(TEXTS)  # 1,170


def prepare() -> None:
    """What a server has in memory that has opened an atlas before."""
    read_atlas(_path("plain"))


REFUSALS = {
    "a text again and again": "longer than any token",
    "pages of long texts": "more memory than its tokens can",
    "lists in lists": "description of itself has 45.0 MB",
    "lists of many tokens": "many more than an atlas of",
    "numbers": "many more than an atlas of",
    "empty texts": "many more than an atlas of",
    "a name": "The model's name has",
    "a label": "longer than any token or label",
    "a sentence": "more than its 9 tokens",
    "a setting": "too long",
    "a bomb": "as many values",
    "columns": "a list in it has no end",
}


def open_in_every_way() -> None:
    """Each file of `write_files` is refused for its own reason, in a sentence."""
    for name, message in REFUSALS.items():
        with pytest.raises(AtlasFileError, match=message) as refused:
            read_atlas(_path(name))
        assert len(str(refused.value)) < 300


def _path(name: str) -> Path:
    return Path(os.environ[FOLDER]) / f"{name}.parquet"


def write_files(folder: Path) -> None:
    """All of them."""
    traces = [trace(text, seed, causal=False) for seed, text in enumerate(TEXTS)]
    data = written(build_atlas(traces, TEXTS, ["a label"] * len(TEXTS)))
    files = {
        "plain": data,
        "a text again and again": forged(data, header_of(data), _called("a" * LONG)),
        "pages of long texts": _in_pages(data),
        "lists in lists": forged(data, _more(data, "[]", 45 * MEGABYTE)),
        "lists of many tokens": _of_many_tokens(_more(data, "[]", 45 * MEGABYTE)),
        "numbers": forged(data, _more(data, "1000", 10 * MEGABYTE)),
        "empty texts": forged(data, _more(data, '""', 10 * MEGABYTE)),
        "a name": _changed(data, lambda header: header.update(model="x" * 10 * MEGABYTE)),
        "a label": _changed(data, lambda h: h["labels"].__setitem__(0, "x" * 10 * MEGABYTE)),
        "a sentence": _changed(data, _long_sentence),
        "a setting": _changed(data, lambda h: h["settings"].update(a="x" * 10 * MEGABYTE)),
        "a bomb": _changed(data, lambda h: h["arrays"]["word"].update(zlib=bomb(300 * MEGABYTE))),
        "columns": _many_columns(data),
    }
    for name, content in files.items():
        (folder / f"{name}.parquet").write_bytes(content)


def _changed(data: bytes, change: Callable[[dict[str, Any]], object]) -> bytes:
    header = header_of(data)
    change(header)
    return forged(data, header)


def _long_sentence(header: dict[str, Any]) -> None:
    from core.analysis.atlas.saved.header import corpus_hash

    header["sentences"][0] = "word " * (2 * MEGABYTE)
    header["corpus_sha256"] = corpus_hash(header["sentences"])


def _more(data: bytes, item: str, size: int) -> bytes:
    """A header with a list of so many bytes that nobody asks for."""
    header = json.dumps(header_of(data))
    return f'{header[:-1]}, "more": [{",".join([item] * (size // (len(item) + 1)))}]}}'.encode()


def _called(text: str) -> Callable[[pa.Table, int], pa.Table]:
    """Every token has this display, once in a dictionary."""

    def change(table: pa.Table, _: int) -> pa.Table:
        at = table.schema.get_field_index("display")
        indices = pa.array(np.zeros(len(table), dtype=np.int32))
        column = pa.DictionaryArray.from_arrays(indices, pa.array([text]))
        return table.set_column(at, "display", column)

    return change


def _in_pages(data: bytes) -> bytes:
    """Displays that all differ, 300,000 characters each, every one in a page of its own."""
    file = pq.ParquetFile(io.BytesIO(data))
    buffer = io.BytesIO()
    table = file.read_row_group(0)
    at = table.schema.get_field_index("display")
    texts = [f"{i:05}".rjust(LONG // 3, "a") for i in range(len(table))]
    display = pa.chunked_array([pa.array([text]).dictionary_encode() for text in texts])
    long = table.set_column(at, "display", display)
    options = {"use_dictionary": False, "max_rows_per_page": 1, "compression": "zstd"}
    with pq.ParquetWriter(buffer, long.schema, **options) as writer:
        writer.write_table(long, row_group_size=len(long))
        for group in range(1, file.num_row_groups):
            writer.write_table(file.read_row_group(group).cast(long.schema))
        writer.add_key_value_metadata({KEY: json.dumps(header_of(data)).encode()})
    return buffer.getvalue()


def _of_many_tokens(header: bytes) -> bytes:
    """A table of 100,000 rows, all zeros, which pack to nothing."""
    buffer = io.BytesIO()
    table = pa.table({"x": pa.array(np.zeros(100_000, dtype=np.float32))})
    with pq.ParquetWriter(buffer, table.schema, compression="zstd") as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({KEY: header})
    return buffer.getvalue()


def _many_columns(data: bytes) -> bytes:
    """The file with a million empty columns more in the description at its end."""
    # FileMetaData: version 2; a schema of one element; no rows; groups of columns without names.
    group = b"\x19" + _list(12, 16_000, b"\x26\x00\x00") + b"\x16\x00" * 2 + b"\x00"
    footer = b"\x15\x04" + b"\x19\x1c\x48\x01r\x15\x00\x00" + b"\x16\x00" + b"\x19"
    footer += _list(12, 60, group) + b"\x00"
    return data[:4] + footer + len(footer).to_bytes(4, "little") + b"PAR1"


def _list(kind: int, count: int, item: bytes) -> bytes:
    """A list in Thrift's compact protocol."""
    size, rest = bytearray(), count
    while rest > 127:
        size.append(rest & 127 | 128)
        rest >>= 7
    return bytes([0xF0 | kind]) + bytes([*size, rest]) + item * count


ATTACKS = (open_in_every_way,)
