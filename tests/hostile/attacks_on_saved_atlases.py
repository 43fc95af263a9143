"""Folders of strangers that are small, and would take gigabytes when they are opened as atlases.

They are written before (`write_folders`), into the folder that `HOSTILE_ATLASES` names: to make
them takes memory, too.
"""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.atlas import build_atlas, open_large
from core.atlas.saved import ATLAS
from core.atlas.tables import SENTENCES, TOKENS
from core.records import RecordError
from tests.atlas.files import forged, packed, trace, unpacked, written

if TYPE_CHECKING:
    from tests.atlas.files import Files

FOLDER = "HOSTILE_ATLASES"
MEGABYTE = 1_000_000
TEXTS = tuple(f"word {i} and word {i + 1} are two words" for i in range(130))


def prepare() -> None:
    """What a server has in memory that has opened an atlas before."""
    open_large(_path("plain"))


REFUSALS = {
    "lists in lists": "header claims",
    "lists in a megabyte": "damaged|does not describe|lacks",
    "a list of contents of lists": "header claims",
    "arrays without end": "no such record has",
    "arrays of gigabytes": "too large: 3,000 MB",
    "tokens of air": "another shape",
    "tokens of books": "another shape",
    "a name": "does not name a model|header claims",
    "a label": "longer than any is",
    "a sentence": "longer than its tokens",
    "a setting": "too long|header claims",
    "one array a million times": "header claims|wrong kind",
    "tables of gigabytes": "damaged|other columns",
    "tables of one long text": "damaged",
}


def open_in_every_way() -> None:
    """Each folder of `write_folders` is refused for its own reason, in a sentence."""
    for name, message in REFUSALS.items():
        with pytest.raises(RecordError, match=message) as refused:
            open_large(_path(name)).search("word", "phrase")
        assert len(str(refused.value)) < 300


def _path(name: str) -> Path:
    return Path(os.environ[FOLDER]) / name


def write_folders(place: Path) -> None:
    """All of them."""
    traces = [trace(text, seed, causal=False) for seed, text in enumerate(TEXTS)]
    data = written(build_atlas(traces, TEXTS, ["a label"] * len(TEXTS)))
    plain = dict.fromkeys(("plain", "arrays of gigabytes", "tables of gigabytes"), data)
    folders = plain | _descriptions(data) | _arrays(data) | _tables(data)
    for folder, files in folders.items():
        (place / folder).mkdir()
        for name, content in files.items():
            (place / folder / name).write_bytes(content)
    os.truncate(place / "arrays of gigabytes" / ATLAS, 3_000 * MEGABYTE)  # a few on the disk
    os.truncate(place / "tables of gigabytes" / TOKENS, 3_000 * MEGABYTE)


def _descriptions(data: Files) -> dict[str, Files]:
    def described(text: str) -> Files:
        return {**data, ATLAS: packed(unpacked(data[ATLAS])[0], text)}

    whole = '{"format": "headscope", "version": 4, "content": '
    lists = "[" + "[]," * (MEGABYTE // 4) + "[]]"
    names = [{"mask": "c", "scaling": 1}] * 20_000
    return {
        "lists in lists": described("[" + "[]," * (45 * MEGABYTE // 3) + "[]]"),
        "lists in a megabyte": described(whole + lists + "}"),
        "a name": forged(data, lambda _, c: c.update(model="x" * (MEGABYTE - 10_000))),
        "a setting": forged(data, lambda _, c: c["settings"].update(a="x" * (MEGABYTE - 10_000))),
        "one array a million times": forged(data, lambda _, c: c.update(rules=names)),
    }


def _arrays(data: Files) -> dict[str, Files]:
    def texts(name: str, raw: bytes, ends: list[int]) -> Files:
        def change(arrays: dict[str, Any], _: object) -> None:
            arrays[name] = np.frombuffer(raw, np.uint8)
            arrays[f"{name}.ends"] = np.array(ends, np.int64)

        return forged(data, change)

    listed = b"[" * (50 * MEGABYTE)
    more = {f"more {i}": np.zeros(0) for i in range(700)}
    count, long = len(TEXTS), 10 * MEGABYTE
    return {
        "a list of contents of lists": {**data, ATLAS: len(listed).to_bytes(8, "little") + listed},
        "arrays without end": forged(data, lambda arrays, _: arrays.update(more)),
        "tokens of air": texts("tokens.texts", b"air", [0] * (2 * MEGABYTE) + [3]),
        "tokens of books": texts("tokens.texts", b"x" * long, list(range(0, long + 1, 10**5))),
        "a label": texts("labels", b"x" * long, [long] * count),
        "a sentence": texts("sentences", b"word " * (long // 5), [long] * count),
    }


def _tables(data: Files) -> dict[str, Files]:
    """A text of a megabyte in as many rows as there are sentences, and others."""
    buffer, count = io.BytesIO(), len(TEXTS)
    text = pa.array(["word and word " * (MEGABYTE // 10)] * count).dictionary_encode()
    table = pa.table({"sentence": np.arange(count, dtype=np.int32), "text": text})
    table = table.append_column("label", pa.array(["a label"] * count))
    pq.write_table(table, buffer, compression="none", store_schema=False)
    return {"tables of one long text": {**data, SENTENCES: buffer.getvalue()}}


ATTACKS = (open_in_every_way,)
