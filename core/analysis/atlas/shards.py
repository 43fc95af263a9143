"""Parts of a corpus kept on disk while an atlas is built, so that a kill loses one part at most.

A shard is a folder that gets its name once all of it is on disk; anything else is unfinished and is
written again. A manifest says which run the shards belong to.
"""

from __future__ import annotations

import json
import os
import shutil
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from core.analysis.atlas.data import token_columns
from core.analysis.atlas.gather import finish_comparison, take_vectors

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from core.analysis.atlas.data import Masks
    from core.analysis.atlas.gather import Gathered

    Run = Mapping[str, str | int]

FORMAT = 2  # 2: with each layer's rule for scores
_MANIFEST = "run.json"
_DESCRIPTION = "part.json"
_NAME = "part-{:05}"
_MAX_SHOWN = 60  # characters of a difference between two runs


class ShardsError(ValueError):
    """The shards on disk do not belong to this run; the message says what differs."""


@dataclass(frozen=True)
class Shard:
    """A finished part of a corpus, whose arrays stay on disk."""

    folder: Path

    @cached_property
    def description(self) -> dict[str, Any]:
        """All that is not an array: "count" (tokens), "texts", "displays", "dropped" and so on."""
        return _read_json(self.folder / _DESCRIPTION)

    @property
    def count(self) -> int:
        """Number of tokens; 0 where its texts have only special ones."""
        return int(self.description["count"])

    def array(self, name: str) -> NDArray[Any]:
        """One of its arrays as a memory map, read-only."""
        return np.load(self.folder / f"{name}.npy", mmap_mode="r", allow_pickle=False)

    def masks(self, place: str) -> Masks:
        """What layers permit in the sentence at that place, which is not the usual."""
        shapes = self.description["mask_shapes"]
        sizes = [int(np.prod(shape)) for shape in shapes]
        starts = np.cumsum([0, *(-(-size // 8) for size in sizes)])  # in bytes
        packed = self.array("masks")
        return tuple(
            np.unpackbits(packed[starts[i] : starts[i + 1]], count=sizes[i])
            .reshape(shapes[i])
            .astype(np.bool_)
            for i in self.description["masks"][place]
        )


def open_folder(folder: Path, run: Run) -> None:
    """Create a run's folder, or raise `ShardsError` if the shards in it belong to another."""
    folder.mkdir(exist_ok=True)
    wanted = {"format": FORMAT, **run}
    manifest = folder / _MANIFEST
    unfinished = folder / (_MANIFEST + ".unfinished")
    if not manifest.exists():
        if any(path != unfinished for path in folder.iterdir()):
            raise ShardsError(f"{folder} holds something other than parts of an atlas.")
        _write_json(unfinished, wanted)
        unfinished.rename(manifest)
        _sync_names(folder)
        return
    try:
        stored = _read_json(manifest)
    except ValueError:
        stored = {}
    differing = next((key for key in wanted if stored.get(key) != wanted[key]), None)
    if differing is not None:
        was, now = (str(each.get(differing))[:_MAX_SHOWN] for each in (stored, wanted))
        long = max(len(was), len(now)) == _MAX_SHOWN
        change = "differ" if long else f"was {was!r} and is {now!r}"
        raise ShardsError(f"{folder} holds parts of another run: {differing} {change}.")


def remove_folder(folder: Path) -> None:
    """Remove the shards of any run; `ShardsError` for what does not look like a folder of them."""
    if not folder.exists():
        return
    expected = (_MANIFEST, _NAME.partition("{")[0])
    if not folder.is_dir() or not all(path.name.startswith(expected) for path in folder.iterdir()):
        raise ShardsError(
            f"{folder} holds something other than parts of an atlas: remove it first."
        )
    shutil.rmtree(folder)


def finished_shard(folder: Path, index: int) -> Shard | None:
    """The shard with this number, if it is complete."""
    path = folder / _NAME.format(index)
    return Shard(path) if path.is_dir() else None


def write_shard(folder: Path, index: int, gathered: Gathered) -> Shard:
    """Write a shard, whole or not at all (`OSError`). Its vectors are moved out of `gathered`."""
    path = folder / _NAME.format(index)
    unfinished = folder / (path.name + ".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir()
    description: dict[str, Any] = {
        "count": gathered.count,
        "dropped": gathered.dropped,
        "cut_characters": gathered.cut_characters,
    }
    if gathered.tokens:
        description |= _write_arrays(unfinished, gathered)
    _write_json(unfinished / _DESCRIPTION, description)
    _sync_names(unfinished)
    unfinished.rename(path)
    _sync_names(folder)
    return Shard(path)


def _write_arrays(folder: Path, gathered: Gathered) -> dict[str, Any]:
    """Write what is an array; return the rest."""
    places = sorted(gathered.tokens)
    parts = [gathered.tokens[place] for place in places]
    columns = token_columns(parts)
    distances = finish_comparison(gathered)
    assert gathered.positions is not None  # noqa: S101 - there is a sentence
    mask_description, masks = _packed_masks(gathered.masks)
    vectors = take_vectors(gathered)
    arrays = {
        "queries": vectors.queries,
        "kv_keys": vectors.kv_keys,
        "places": np.array(places),
        "lengths": np.array([len(part) for part in parts]),
        "position": columns.position,
        "word": columns.word,
        "special": columns.special,
        "spans": columns.spans,
        "distances": distances.sums,
        "position_sums": gathered.positions.sums,
        "position_counts": gathered.positions.counts,
        "masks": masks,
    }
    for name, array in arrays.items():
        save_array(folder / f"{name}.npy", array)
    return {
        "model": gathered.model,
        "causal": bool(gathered.causal),
        "rules": [[rule.scaling, rule.softcap] for rule in gathered.rules],
        "layer_numbers": gathered.layer_numbers,
        "depth": gathered.depth,
        "compared": distances.compared,
        "texts": columns.texts,
        "displays": columns.displays,
        **mask_description,
    }


def save_array(path: Path, array: NDArray[Any]) -> None:
    """Write an array to disk; an `OSError` keeps the system's number, which NumPy's own loses."""
    with path.open("wb") as file:
        np.save(SimpleNamespace(write=file.write), array, allow_pickle=False)
        file.flush()
        os.fsync(file.fileno())


def _packed_masks(masks: Mapping[int, Masks]) -> tuple[dict[str, Any], NDArray[np.uint8]]:
    """Bits of every distinct mask, once: sentences of one length mostly share theirs."""
    numbers: dict[tuple[tuple[int, ...], bytes], int] = {}
    by_place = {}
    for place, layers in masks.items():
        keys = [(mask.shape, np.packbits(mask).tobytes()) for mask in layers]
        by_place[place] = [numbers.setdefault(key, len(numbers)) for key in keys]
    bits = np.frombuffer(b"".join(raw for _, raw in numbers), dtype=np.uint8)
    return {"masks": by_place, "mask_shapes": [shape for shape, _ in numbers]}, bits


def _write_json(path: Path, content: object) -> None:
    with path.open("w", encoding="utf-8") as file:
        json.dump(content, file)
        file.flush()
        os.fsync(file.fileno())


def _read_json(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text("utf-8"))


def _sync_names(folder: Path) -> None:
    """Flush the names in a folder to disk too, on systems that can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
