"""Files of strangers that are small, and would take gigabytes when they are opened as atlases.

They are written before (`write_files`), into the folder that `HOSTILE_ATLASES` names: to make them
takes memory, too.
"""

from __future__ import annotations

import os
import struct
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from core.atlas import build_atlas
from core.atlas.files import AtlasFileError, read_atlas
from tests.atlas.files import (
    POINTS,
    TOKENS,
    arrays_of,
    description_of,
    forged,
    members_of,
    stored_table,
    table_of,
    trace,
    written,
    zipped,
)

if TYPE_CHECKING:
    from collections.abc import Callable

FOLDER = "HOSTILE_ATLASES"
MEGABYTE = 1_000_000
TEXTS = tuple(f"word {i} and word {i + 1} are two words" for i in range(130))
TOKEN_COUNT = 9 * len(TEXTS)  # 1,170


def prepare() -> None:
    """What a server has in memory that has opened an atlas before."""
    read_atlas(_path("plain"))


REFUSALS = {
    "packed members": "packed or locked",
    "a directory of a million entries": "members",
    "one place for all members": "over each other|where it should be",
    "lists in lists": "has 45.0 MB",
    "lists in a megabyte": "damaged|lacks",
    "parts without end": "lacks “parts”|not in order|not a part",
    "a list of contents of lists": "without end",
    "arrays without end": "no atlas has|without end",
    "a vocabulary of air": "more different texts",
    "a vocabulary of books": "longer than any token",
    "a name": "The model's name has",
    "a label": "longer than any token or label",
    "a sentence": "more than its 9 tokens",
    "a setting": "too long",
    "packed points": "packed|groups",
    "packed tokens": "packed",
    "rows of nothing": "rows for",
    "tokens of nothing": "tokens of the file are",
    "columns": "has a description of",
}


def open_in_every_way() -> None:
    """Each file of `write_files` is refused for its own reason, in a sentence."""
    for name, message in REFUSALS.items():
        with pytest.raises(AtlasFileError, match=message) as refused:
            read_atlas(_path(name))
        assert len(str(refused.value)) < 300


def open_what_unpacks_in_texts_that_nobody_reads() -> None:
    """Texts in tables may be anything: what is opened has its own."""
    for name in ("a text again and again", "texts as differences"):
        assert len(read_atlas(_path(name)).tokens) == TOKEN_COUNT


def _path(name: str) -> Path:
    return Path(os.environ[FOLDER]) / f"{name}.atlas.zip"


def write_files(folder: Path) -> None:
    """All of them."""
    traces = [trace(text, seed, causal=False) for seed, text in enumerate(TEXTS)]
    data = written(build_atlas(traces, TEXTS, ["a label"] * len(TEXTS)))
    for group in (_archives, _descriptions, _arrays, _tables):
        for name, content in group(data).items():
            (folder / f"{name}.atlas.zip").write_bytes(content)
    (folder / "plain.atlas.zip").write_bytes(data)


def _archives(data: bytes) -> dict[str, bytes]:
    bombs = dict.fromkeys(members_of(data), bytes(300 * MEGABYTE))
    return {
        "packed members": zipped(bombs, zipfile.ZIP_DEFLATED),
        "a directory of a million entries": _many_entries(),
        "one place for all members": _one_place(data),
    }


def _many_entries() -> bytes:
    entry = struct.pack("<4s6H3L5H2L", b"PK\1\2", *[0] * 16) + b"a"
    entry = entry[:28] + struct.pack("<H", 1) + entry[30:]
    many = entry * MEGABYTE
    return many + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 5, 5, len(many), 0, 0)


def _one_place(data: bytes) -> bytes:
    """Every entry of the directory points at the first member, as large as the file."""
    start, size = struct.unpack("<L", data[-6:-2])[0], len(data)
    at, changed = start, bytearray(data)
    while data[at : at + 4] == b"PK\1\2":
        changed[at + 20 : at + 28] = struct.pack("<2L", size, size)
        changed[at + 42 : at + 46] = bytes(4)
        at += 46 + sum(struct.unpack("<3H", data[at + 28 : at + 34]))
    return bytes(changed)


def _descriptions(data: bytes) -> dict[str, bytes]:
    def changed(change: Callable[[dict[str, Any]], object]) -> bytes:
        description = description_of(data)
        change(description)
        return forged(data, description)

    whole = b'{"format": "headscope-atlas", "version": 2, "model": '
    return {
        "lists in lists": forged(data, b"[" + b"[]," * (45 * MEGABYTE // 3) + b"[]]"),
        "lists in a megabyte": forged(data, whole + b"[" + b"[]," * (MEGABYTE // 3) + b"[]]}"),
        "parts without end": changed(lambda d: d.update(parts=[[0, 0, 0]] * 90_000)),
        "a name": changed(lambda d: d.update(model="x" * (MEGABYTE - 10_000))),
        "a setting": changed(lambda d: d["settings"].update(a="x" * (MEGABYTE - 10_000))),
    }


def _arrays(data: bytes) -> dict[str, bytes]:
    def texts(name: str, raw: bytes, ends: list[int]) -> bytes:
        arrays = arrays_of(data)
        arrays[f"texts.{name}"] = np.frombuffer(raw, np.uint8)
        arrays[f"texts.{name}.ends"] = np.array(ends, np.int64)
        return forged(data, arrays=arrays)

    listed = b"[" * (50 * MEGABYTE)
    many = arrays_of(data) | {f"more {i}": np.zeros(0) for i in range(700)}
    air = arrays_of(data)["texts.vocabulary"].tobytes()
    count, long = len(TEXTS), 10 * MEGABYTE
    return {
        "a list of contents of lists": forged(
            data, arrays=len(listed).to_bytes(8, "little") + listed
        ),
        "arrays without end": forged(data, arrays=many),
        "a vocabulary of air": texts("vocabulary", air, [0] * (2 * MEGABYTE) + [len(air)]),
        "a vocabulary of books": texts("vocabulary", b"x" * long, list(range(0, long + 1, 10**5))),
        "a label": texts("labels", b"x" * long, [long] * count),
        "a sentence": texts("sentences", b"word " * (long // 5), [long] * count),
    }


def _tables(data: bytes) -> dict[str, bytes]:
    members = members_of(data)
    points, tokens = (table_of(data, name) for name in (POINTS, TOKENS))
    zeros = pa.table(
        {
            field.name: pa.array(np.zeros(len(points), field.type.to_pandas_dtype()))
            for field in points.schema
        },
        schema=points.schema,
    )
    packed = stored_table(pa.concat_tables([zeros] * 2000), compression="zstd")
    long = tokens.set_column(
        tokens.schema.get_field_index("display"), "display", [["a" * MEGABYTE] * len(tokens)]
    )
    deltas = {"use_dictionary": False, "column_encoding": {"display": "DELTA_BYTE_ARRAY"}}
    return {
        "packed points": zipped(members | {POINTS: packed}),
        "packed tokens": zipped(members | {TOKENS: stored_table(tokens, compression="zstd")}),
        "rows of nothing": zipped(members | {POINTS: stored_table(_runs(points, 50 * MEGABYTE))}),
        "tokens of nothing": zipped(members | {TOKENS: stored_table(_runs(tokens, 50 * MEGABYTE))}),
        "columns": zipped(members | {POINTS: _many_columns()}),
        "a text again and again": zipped(members | {TOKENS: stored_table(long)}),
        "texts as differences": zipped(members | {TOKENS: stored_table(long, **deltas)}),
    }


def _runs(table: pa.Table, rows: int) -> pa.Table:
    """As many rows of nothing, which take a few bytes a column as runs of one entry."""
    return table.slice(0, 1).take(pa.array(np.zeros(rows // 50, np.int32)))


def _many_columns() -> bytes:
    """A table with a million empty columns in the description at its end."""
    # FileMetaData: version 2; a schema of one element; no rows; groups of columns without names.
    group = b"\x19" + _list(12, 16_000, b"\x26\x00\x00") + b"\x16\x00" * 2 + b"\x00"
    footer = b"\x15\x04" + b"\x19\x1c\x48\x01r\x15\x00\x00" + b"\x16\x00" + b"\x19"
    footer += _list(12, 60, group) + b"\x00"
    return b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1"


def _list(kind: int, count: int, item: bytes) -> bytes:
    """A list in Thrift's compact protocol."""
    size, rest = bytearray(), count
    while rest > 127:
        size.append(rest & 127 | 128)
        rest >>= 7
    return bytes([0xF0 | kind]) + bytes([*size, rest]) + item * count


ATTACKS = (open_in_every_way, open_what_unpacks_in_texts_that_nobody_reads)
