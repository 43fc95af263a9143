"""Atlases' files made by hand and forged ones, for tests of reading them."""

from __future__ import annotations

import base64
import io
import json
import zlib
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from core.analysis.atlas import Atlas, build_atlas
from core.analysis.atlas.saved.file import read_atlas, write_atlas
from tests.analysis.atlas.corpora import read_words, trace_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from core.analysis.query_key.clouds import Stage
    from core.model.trace import Trace

LAYERS, HEADS, DIM = 2, 3, 4
STAGES: tuple[Stage, ...] = ("raw", "translated", "normalized")
SENTENCES = (
    "Oh, this book?",
    "</script><img src=x onerror=alert(1)> $x$ :red[x]",
    "עברית 🧑‍🚀 \x00 and half of a pair: \ud83d",
    "a",
)
LABELS = ("good", "bad", "good", "\ud83d “—”")
KEY = b"headscope"


def trace(text: str, seed: int, *, causal: bool) -> Trace:
    tokens = []
    for token in read_words(text):
        clean = token.display.encode("utf-8", "replace").decode()
        tokens.append(replace(token, text="##" + clean, display=clean))
    shape = {"layers": LAYERS, "heads": HEADS, "kv_heads": HEADS, "dim": DIM}
    return trace_of(tuple(tokens), seed, **shape, causal=causal)


def an_atlas(*, labelled: bool = True, causal: bool = False) -> Atlas:
    traces = [trace(text, seed, causal=causal) for seed, text in enumerate(SENTENCES)]
    built = build_atlas(traces, SENTENCES, LABELS if labelled else ())
    return replace(built, settings={"tokens_cut": 3, "corpus": "a “file”.csv"})


def as_stored(atlas: Atlas) -> Atlas:
    """What the file keeps: no vectors, masks, rules of scores, nor halves of surrogate pairs."""
    sentences, labels = (
        tuple(text.replace("\ud83d", "\ufffd") for text in texts)
        for texts in (atlas.sentences, atlas.labels)
    )
    return replace(atlas, vectors=None, masks={}, rules=(), sentences=sentences, labels=labels)


def assert_same(
    found: object, expected: object, where: str = "atlas", tolerance: float = 0.0
) -> None:
    """Equal in type, shape and every bit, or within a share of the largest number."""
    if isinstance(expected, np.ndarray):
        assert isinstance(found, np.ndarray), where
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape), where
        if tolerance:
            atol = tolerance * max(1.0, np.nanmax(np.abs(expected), initial=0.0))
            np.testing.assert_allclose(found, expected, rtol=0, atol=atol, err_msg=where)
        else:
            assert found.tobytes() == expected.tobytes(), where
    elif is_dataclass(expected):
        assert type(found) is type(expected), where
        for each in fields(expected):
            one, other = getattr(found, each.name), getattr(expected, each.name)
            assert_same(one, other, each.name, tolerance)
    elif isinstance(expected, dict):
        assert isinstance(found, dict), where
        assert found.keys() == expected.keys(), where
        for key, value in expected.items():
            assert_same(found[key], value, f"{where} {key}", tolerance)
    else:
        assert found == expected, where
        assert type(found) is type(expected), where


def written(atlas: Atlas) -> bytes:
    buffer = io.BytesIO()
    write_atlas(atlas, buffer)
    return buffer.getvalue()


def opened(data: bytes, **limits: int) -> Atlas:
    return read_atlas(io.BytesIO(data), **limits)


def unzipped(text: str) -> bytes:
    return zlib.decompress(base64.b64decode(text))


def header_of(data: bytes) -> dict[str, Any]:
    raw = pq.read_metadata(io.BytesIO(data)).metadata[KEY]
    return json.loads(raw.decode("utf-8", "surrogatepass"))


def forged(
    data: bytes,
    header: dict[str, Any] | bytes | None,
    change: Callable[[pa.Table, int], pa.Table] = lambda table, _: table,
    key: bytes = KEY,
) -> bytes:
    """The same table, or a changed one, under another header."""
    file = pq.ParquetFile(io.BytesIO(data))
    tables = [change(file.read_row_group(group), group) for group in range(file.num_row_groups)]
    buffer = io.BytesIO()
    with pq.ParquetWriter(buffer, tables[0].schema) as writer:
        for table in tables:
            writer.write_table(table.cast(tables[0].schema), row_group_size=max(1, len(table)))
        if header is not None:
            raw = header if isinstance(header, bytes) else json.dumps(header).encode()
            writer.add_key_value_metadata({key: raw})
    return buffer.getvalue()


def bomb(size: int) -> str:
    return base64.b64encode(zlib.compress(b"\0" * size)).decode()


def bytes_of(header: dict[str, Any], name: str, pattern: bytes) -> None:
    stored = header["arrays"][name]
    size = int(np.prod(stored["shape"])) * np.dtype(stored["type"]).itemsize
    stored.pop("zlib", None)
    stored["bytes"] = base64.b64encode(pattern * (size // len(pattern))).decode()


def with_column(
    name: str, value: Any, groups: set[int] | None = None
) -> Callable[[pa.Table, int], pa.Table]:
    """The first entry of a column is another, in some groups or in all."""

    def change(table: pa.Table, group: int) -> pa.Table:
        if groups is not None and group not in groups:
            return table
        at = table.schema.get_field_index(name)
        entries = [value, *table.column(name).to_pylist()[1:]]
        return table.set_column(at, name, pa.array(entries, table.schema.field(name).type))

    return change
