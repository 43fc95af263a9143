"""Parts of a corpus kept on disk while an atlas is made, so that a kill loses one part at most.

A part is a folder that gets its name when all of it is on the disk; what has another name is
unfinished and written anew. A manifest says of which run the parts are.
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

FORMAT = 2  # 2: tells how each layer scales and caps its scores
_MANIFEST = "run.json"
_DESCRIPTION = "part.json"
_NAME = "part-{:05}"


class ShardsError(ValueError):
    """The parts on disk are not of this run; the message says what differs."""


@dataclass(frozen=True)
class Shard:
    """A finished part, whose arrays stay on the disk."""

    folder: Path

    @cached_property
    def told(self) -> dict[str, Any]:
        """What is not an array: "count" (tokens), "texts", "displays", "dropped" and the like."""
        return _read_json(self.folder / _DESCRIPTION)

    @property
    def count(self) -> int:
        """How many tokens it has; 0 where its texts hold none but special ones."""
        return int(self.told["count"])

    def array(self, name: str) -> NDArray[Any]:
        """One of its arrays as a memory map, read-only."""
        return np.load(self.folder / f"{name}.npy", mmap_mode="r", allow_pickle=False)

    def masks(self, place: int) -> Masks:
        """What layers permit in the sentence at that place, where that is not the usual."""
        shapes = self.told["mask_shapes"]
        packed = self.array("masks")
        starts = np.cumsum([0, *(_packed_size(shape) for shape in shapes)])
        return tuple(
            np.unpackbits(packed[starts[i] : starts[i + 1]], count=int(np.prod(shapes[i])))
            .reshape(shapes[i])
            .astype(np.bool_)
            for i in self.told["masks"][str(place)]
        )


def open_folder(folder: Path, run: Run) -> None:
    """Make the folder of a run, or see that the parts in it are of this one.

    Raises
    ------
    ShardsError
        When they are not.
    """
    folder.mkdir(exist_ok=True)
    wanted = {"format": FORMAT, **run}
    manifest = folder / _MANIFEST
    if not manifest.exists():
        if any(path.name != _MANIFEST + ".unfinished" for path in folder.iterdir()):
            raise ShardsError(f"{folder} holds something else than parts of an atlas.")
        unfinished = folder / (_MANIFEST + ".unfinished")
        _write_json(unfinished, wanted)
        unfinished.rename(manifest)
        _settle(folder)
        return
    try:
        found = _read_json(manifest)
    except ValueError:
        found = {}
    differing = next((key for key in wanted if found.get(key) != wanted[key]), None)
    if differing is not None:
        was, now = (str(each.get(differing))[:60] for each in (found, wanted))
        told = "differ" if max(len(was), len(now)) == 60 else f"was {was!r} and is {now!r}"
        raise ShardsError(f"{folder} holds parts of another run: {differing} {told}.")


def remove_folder(folder: Path) -> None:
    """Remove the parts of a run, of whichever.

    Raises
    ------
    ShardsError
        When the folder does not look like one of parts.
    """
    if not folder.exists():
        return
    known = (_MANIFEST, _NAME.partition("{")[0])
    if not folder.is_dir() or not all(path.name.startswith(known) for path in folder.iterdir()):
        raise ShardsError(f"{folder} holds something else than parts of an atlas: remove it first.")
    shutil.rmtree(folder)


def finished_shard(folder: Path, index: int) -> Shard | None:
    """The part with this number, if all of it is there."""
    path = folder / _NAME.format(index)
    return Shard(path) if path.is_dir() else None


def write_shard(folder: Path, index: int, gathered: Gathered) -> Shard:
    """Write a part, whole or not at all. `gathered` gives its vectors away.

    Raises
    ------
    OSError
        When it cannot be written, for instance because the disk is full.
    """
    name = _NAME.format(index)
    unfinished = folder / (name + ".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir()
    described: dict[str, Any] = {
        "count": gathered.count,
        "dropped": gathered.dropped,
        "cut_characters": gathered.cut_characters,
    }
    if gathered.tokens:
        described |= _write_arrays(unfinished, gathered)
    _write_json(unfinished / _DESCRIPTION, described)
    _settle(unfinished)
    unfinished.rename(folder / name)
    _settle(folder)
    return Shard(folder / name)


def _write_arrays(folder: Path, gathered: Gathered) -> dict[str, Any]:
    """Writes what is an array, and gives what is not."""
    places = sorted(gathered.tokens)
    parts = [gathered.tokens[place] for place in places]
    columns = token_columns(parts)
    distances = finish_comparison(gathered)
    assert gathered.positions is not None  # noqa: S101 - there is a sentence
    described, masks = _packed_masks(gathered.masks)
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
        "compared": distances.compared,
        "texts": columns.texts,
        "displays": columns.displays,
        **described,
    }


def save_array(path: Path, array: NDArray[Any]) -> None:
    """Write an array to the disk.

    Raises
    ------
    OSError
        With the number of what went wrong. Into a file of the system's NumPy writes by itself, and
        raises one that says how many values were written and nothing else.
    """
    with path.open("wb") as file:
        np.save(SimpleNamespace(write=file.write), array, allow_pickle=False)
        file.flush()
        os.fsync(file.fileno())


def _packed_masks(masks: Mapping[int, Masks]) -> tuple[dict[str, Any], NDArray[np.uint8]]:
    """Bits of every different mask, once; sentences of one length mostly have the same."""
    known: dict[tuple[tuple[int, ...], bytes], int] = {}
    of_places = {}
    for place, layers in masks.items():
        keys = [(mask.shape, np.packbits(mask).tobytes()) for mask in layers]
        of_places[place] = [known.setdefault(key, len(known)) for key in keys]
    bits = np.frombuffer(b"".join(raw for _, raw in known), dtype=np.uint8)
    return {"masks": of_places, "mask_shapes": [shape for shape, _ in known]}, bits


def _packed_size(shape: list[int]) -> int:
    return -(-int(np.prod(shape)) // 8)


def _write_json(path: Path, content: object) -> None:
    with path.open("w", encoding="utf-8") as file:
        json.dump(content, file)
        file.flush()
        os.fsync(file.fileno())


def _read_json(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text("utf-8"))


def _settle(folder: Path) -> None:
    """See that the names in a folder are on the disk too, where a system lets one."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
