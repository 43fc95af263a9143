"""Folders of strangers that are small, and would take gigabytes when they are opened as atlases.

They are written before (`write_folders`), into the folder that `HOSTILE_ATLASES` names: to make
them takes memory, too.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from core.atlas import build_atlas, open_large
from core.atlas.files import AtlasFileError
from tests.atlas.files import ARRAYS, arrays_of, description_of, forged, trace, written

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.atlas.files import Files

FOLDER = "HOSTILE_ATLASES"
MEGABYTE = 1_000_000
TEXTS = tuple(f"word {i} and word {i + 1} are two words" for i in range(130))


def prepare() -> None:
    """What a server has in memory that has opened an atlas before."""
    open_large(_path("plain"))


REFUSALS = {
    "lists in lists": "is too large",
    "lists in a megabyte": "damaged|lacks",
    "a search without end": "lacks “search”",
    "a list of contents of lists": "without end",
    "arrays without end": "other arrays|without end",
    "arrays of gigabytes": "larger than those of any atlas",
    "a vocabulary of air": "more different texts",
    "a vocabulary of books": "longer than any token",
    "a name": "The model's name has",
    "a label": "longer than any token or label",
    "a sentence": "more than its 9 tokens",
    "a setting": "too long",
}


def open_in_every_way() -> None:
    """Each folder of `write_folders` is refused for its own reason, in a sentence."""
    for name, message in REFUSALS.items():
        with pytest.raises(AtlasFileError, match=message) as refused:
            open_large(_path(name))
        assert len(str(refused.value)) < 300


def _path(name: str) -> Path:
    return Path(os.environ[FOLDER]) / name


def write_folders(place: Path) -> None:
    """All of them."""
    traces = [trace(text, seed, causal=False) for seed, text in enumerate(TEXTS)]
    data = written(build_atlas(traces, TEXTS, ["a label"] * len(TEXTS)))
    folders = {"plain": data, "arrays of gigabytes": data} | _descriptions(data) | _arrays(data)
    for folder, files in folders.items():
        (place / folder).mkdir()
        for name, content in files.items():
            (place / folder / name).write_bytes(content)
    os.truncate(place / "arrays of gigabytes" / ARRAYS, 3_000 * MEGABYTE)  # a few on the disk


def _descriptions(data: Files) -> dict[str, Files]:
    def changed(change: Callable[[dict[str, Any]], object]) -> Files:
        description = description_of(data)
        change(description)
        return forged(data, description)

    whole = b'{"format": "headscope-atlas", "version": 3, "model": '
    return {
        "lists in lists": forged(data, b"[" + b"[]," * (45 * MEGABYTE // 3) + b"[]]"),
        "lists in a megabyte": forged(data, whole + b"[" + b"[]," * (MEGABYTE // 3) + b"[]]}"),
        "a search without end": changed(lambda d: d.update(search=[[1, 1]] * 90_000)),
        "a name": changed(lambda d: d.update(model="x" * (MEGABYTE - 10_000))),
        "a setting": changed(lambda d: d["settings"].update(a="x" * (MEGABYTE - 10_000))),
    }


def _arrays(data: Files) -> dict[str, Files]:
    def texts(name: str, raw: bytes, ends: list[int]) -> Files:
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


ATTACKS = (open_in_every_way,)
