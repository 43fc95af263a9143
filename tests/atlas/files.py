"""Atlases' files made by hand and forged ones, for tests of reading them."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from safetensors.numpy import load, save

from core.atlas import Atlas, build_atlas
from core.atlas.files import read_atlas, write_atlas
from core.vocabulary import Stage
from tests.atlas.corpora import read_words, trace_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from core.model.trace import Trace

    Change = Callable[[pa.Table], pa.Table]

LAYERS, HEADS, DIM = 2, 3, 4
STAGES: tuple[Stage, ...] = ("raw", "translated", "normalized")
SENTENCES = (
    "Oh, this book?",
    "</script><img src=x onerror=alert(1)> $x$ :red[x]",
    "עברית 🧑‍🚀 \x00 and half of a pair: \ud83d",
    "a",
)
LABELS = ("good", "bad", "good", "\ud83d “—”")
JSON, ARRAYS = "atlas.json", "atlas.safetensors"
POINTS, TOKENS, TEXTS = (f"{name}-00000.parquet" for name in ("points", "tokens", "sentences"))


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
    layer_labels, depth = atlas.layer_labels, atlas.depth or atlas.layer_labels[-1]
    kept = replace(
        atlas, layer_numbers=layer_labels, depth=depth, sentences=sentences, labels=labels
    )
    return replace(kept, vectors=None, masks={}, rules=())


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


def members_of(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return {name: file.read(name) for name in file.namelist()}


def zipped(members: Mapping[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return buffer.getvalue()


def description_of(data: bytes) -> dict[str, Any]:
    return json.loads(members_of(data)[JSON])


def arrays_of(data: bytes) -> dict[str, NDArray[Any]]:
    """Copies that may be changed."""
    return {name: array.copy() for name, array in load(members_of(data)[ARRAYS]).items()}


def table_of(data: bytes, name: str) -> pa.Table:
    return pq.read_table(io.BytesIO(members_of(data)[name]))


def forged(
    data: bytes,
    description: dict[str, Any] | bytes | None = None,
    arrays: dict[str, NDArray[Any]] | bytes | None = None,
    tables: Mapping[str, Change] | None = None,
) -> bytes:
    """The same file with some members replaced."""
    members = members_of(data)
    if description is not None:
        raw = description if isinstance(description, bytes) else json.dumps(description).encode()
        members[JSON] = raw
    if arrays is not None:
        members[ARRAYS] = arrays if isinstance(arrays, bytes) else save(arrays)
    for name, change in (tables or {}).items():
        members[name] = stored_table(change(table_of(data, name)))
    return zipped(members)


def stored_table(table: pa.Table, **options: Any) -> bytes:
    """As an atlas has it: not packed, one group of rows."""
    buffer = io.BytesIO()
    plain = {"compression": "none", "store_schema": False, "row_group_size": max(1, len(table))}
    pq.write_table(table, buffer, **plain | options)
    return buffer.getvalue()


def with_column(name: str, value: Any, row: int = 0) -> Change:
    """One entry of a column is another."""

    def change(table: pa.Table) -> pa.Table:
        at = table.schema.get_field_index(name)
        entries = table.column(name).to_pylist()
        entries[row] = value
        return table.set_column(
            at, table.schema.field(name), pa.array(entries, table.schema.field(name).type)
        )

    return change
