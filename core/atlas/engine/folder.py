"""Parts of a corpus on disk, so that a kill loses at most one part, and memory holds only one.

A part is one safetensors file that gets its name once it is completely on disk; anything else is
unfinished and is made again. Several writers may share a folder: a part that is written twice is
the same file. A manifest says which run the parts belong to.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from core.analysis.arrays import Floats
from core.atlas.data import CorpusTexts, CorpusVectors, Masks
from core.atlas.engine.shard import Shard
from core.atlas.engine.sums import Sums, VectorSample
from core.model.trace import Array
from core.records import OWN_HEADER, UNFINISHED, RecordError, read_field, write_record, write_whole

Run = Mapping[str, str | int]
Dtype = Literal["float32", "float16"]
FORMAT = 6  # of the parts; 6: records without their number
_MANIFEST = "run.json"
_PART = "part-{:05}.safetensors"
_OWN = re.compile(  # what we write there: parts, and a cluster's texts for them
    r"(run\.json|part-\d{5,}\.(safetensors|texts\.json))(\.[0-9a-f]+\.writing)?"
)
_MAX_SHOWN = 60  # characters of a difference between two runs


class ShardsError(ValueError):
    """The parts on disk do not belong to this run; the message says what differs."""


class ForeignFileError(ValueError):
    """A folder to be filled or removed contains a file that is not ours; the message names it."""


@dataclass(frozen=True, eq=False)
class PartFile:
    """What a part's file holds: nothing if the part has no sentence."""

    shard: Shard | None = None


class FolderStore:
    """The parts in a folder; :class:`core.atlas.engine.build.MemoryStore` has them in memory.

    `dtype` is that of the vectors on disk: "float16" takes half the space and keeps three digits.
    """

    def __init__(self, folder: Path, dtype: Dtype = "float32") -> None:
        self.folder = folder
        self.dtype: Dtype = dtype

    def path(self, index: int) -> Path:
        """Where a part is, or will be."""
        return self.folder / _PART.format(index)

    @property
    def indices(self) -> list[int]:
        """The indices of the parts that are there, ascending."""
        return sorted(int(path.stem[5:]) for path in self.folder.glob("part-*.safetensors"))

    def finished(self, index: int) -> bool:
        """Whether the part is there and complete: a truncated file does not count."""
        try:
            with safe_open(self.path(index), "np"):
                return True
        except (OSError, SafetensorError):
            return False

    def put(self, index: int, part: Shard | None) -> None:
        """Write a part, whole or not at all (`OSError`), replacing any other with its index.

        Raises `RecordError` for vectors beyond float16, `ValueError` for images.
        """
        if part is not None and part.patches:
            raise ValueError("an atlas of images is made in memory")
        if part is not None:
            plain = CorpusVectors(part.vectors.queries, part.vectors.kv_keys)
            part = replace(part, vectors=_halved(plain) if self.dtype == "float16" else plain)
        write_record(PartFile(part), self.path(index), math.inf, OWN_HEADER)

    def sums(self, index: int) -> Sums | None:
        """The sums of a finished part; None if it has no sentence."""
        sums: Sums | None = self._field(index, "sums")
        return sums

    def texts(self, numbers: NDArray[np.int64] | None = None) -> Iterator[CorpusTexts]:
        """Tokens and texts of all parts, or only of these sentences, one part after the other."""
        for index in self.indices:
            sentence = self._field(index, "texts.tokens.sentence")
            if sentence is not None and (numbers is None or np.isin(sentence, numbers).any()):
                texts: CorpusTexts = self._field(index, "texts")
                yield texts if numbers is None else texts.which(numbers)

    def part(self, index: int) -> Shard | None:
        """A finished part, in memory; None if it has no sentence."""
        part: Shard | None = read_field(PartFile, self.path(index), "shard")
        return part

    def sample(self, numbers: NDArray[np.int64]) -> VectorSample:
        """The sentences in `numbers` (ascending) that are here; vectors stay on disk until used."""
        found: list[NDArray[np.int64]] = []
        lengths: list[NDArray[np.int64]] = []
        masks: dict[int, Masks] = {}
        places: list[tuple[Path, NDArray[np.intp]]] = []
        for index in self.indices:
            sentence = self._field(index, "texts.tokens.sentence")
            if sentence is None or not (inside := np.isin(sentence, numbers)).any():
                continue
            places.append((self.path(index), np.flatnonzero(inside)))
            present, counts = np.unique(sentence[inside], return_counts=True)
            found.append(present.astype(np.int64))
            lengths.append(counts)
            unusual = self._field(index, "masks")
            masks |= {number: unusual[number] for number in present.tolist() if number in unusual}

        def of_head(layer: int, head: int) -> tuple[Floats, Floats]:
            parts = [_vectors_of(path, layer, head, tokens) for path, tokens in places]
            queries, keys = (np.concatenate([part[side] for part in parts]) for side in (0, 1))
            return queries, keys

        return VectorSample(np.concatenate(found), np.concatenate(lengths), masks, of_head)

    def _field(self, index: int, name: str) -> Any:  # noqa: ANN401
        return read_field(PartFile, self.path(index), f"shard.{name}")


def _halved(vectors: CorpusVectors) -> CorpusVectors:
    with np.errstate(over="ignore"):
        halves = [each.astype(np.float16) for each in (vectors.queries, vectors.kv_keys)]
    if not all(np.isfinite(each).all() for each in halves):
        raise RecordError("The vectors of this model are too long for float16.")
    return CorpusVectors(*cast("list[Array]", halves))


def _vectors_of(
    path: Path, layer: int, head: int, tokens: NDArray[np.intp]
) -> tuple[Floats, Floats]:
    """Queries and keys of one head at these positions in a part, float64 (token, dim) each."""
    with safe_open(path, "np") as file:
        queries, keys = (file.get_slice(f"shard.vectors.{name}") for name in ("queries", "kv_keys"))
        kv_head = head * keys.get_shape()[1] // queries.get_shape()[1]
        first, end = int(tokens[0]), int(tokens[-1]) + 1
        pair = queries[layer, head, first:end], keys[layer, kv_head, first:end]
    return pair[0][tokens - first].astype(np.float64), pair[1][tokens - first].astype(np.float64)


def open_folder(folder: Path, run: Run) -> None:
    """Create a run's folder, or raise `ShardsError` if the parts in it belong to another run.

    `ForeignFileError` if there is anything else in it.

    What other writers left unfinished is removed: only one process may open a folder at a time.
    """
    folder.mkdir(exist_ok=True)
    files = _own_files(folder, _OWN, "parts of an atlas")
    expected = {"format": FORMAT, **run}
    manifest = folder / _MANIFEST
    if not manifest.exists():
        if any(not path.name.startswith(_MANIFEST) for path in files):
            raise ShardsError(f"{folder} holds parts of an unknown run.")
        write_whole(manifest, json.dumps(expected).encode())
        return
    stored = _read_manifest(manifest)
    differing = next((key for key in expected if stored.get(key) != expected[key]), None)
    if differing is not None:
        was, now = (str(each.get(differing))[:_MAX_SHOWN] for each in (stored, expected))
        long = max(len(was), len(now)) == _MAX_SHOWN
        change = "differ" if long else f"was {was!r} and is {now!r}"
        raise ShardsError(f"{folder} holds parts of another run: {differing} {change}.")
    for path in folder.glob(f"*{UNFINISHED}"):
        path.unlink(missing_ok=True)


def remove_folder(folder: Path) -> None:
    """Remove the parts of any run; `ForeignFileError` if the folder holds anything else."""

    def is_ours(manifest: Path) -> bool:
        return {"format", "model"}.issubset(_read_manifest(manifest))

    remove_own(folder, _OWN, "parts of an atlas", _MANIFEST, is_ours)


def remove_own(
    folder: Path,
    own: re.Pattern[str],
    what: str,
    manifest: str,
    is_ours: Callable[[Path], bool],
) -> None:
    """Remove a folder in which all files have names of our `own`; `what` names them in words.

    Raises `ForeignFileError`, and removes nothing, if there is anything else, or the `manifest`
    is not ours. A folder that is unfinished, or has only unfinished files, has no manifest.
    """
    if not folder.exists():
        return
    paths = _own_files(folder, own, what)
    finished = any(not path.name.endswith(UNFINISHED) for path in paths)
    whole = finished and not folder.name.endswith(UNFINISHED)
    if whole and not is_ours(folder / manifest):
        raise ForeignFileError(
            f"{folder} has the names of {what}, but no {manifest} of one: move it away first."
        )
    for path in sorted(paths, key=lambda path: path.name == manifest):  # last: it says whose it is
        path.unlink()
    folder.rmdir()


def _read_manifest(path: Path) -> Mapping[str, object]:
    """The manifest's fields; none if it is missing or not a JSON object."""
    try:
        stored = json.loads(path.read_text("utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return stored if isinstance(stored, dict) else {}


def _own_files(folder: Path, own: re.Pattern[str], what: str) -> list[Path]:
    paths = sorted(folder.iterdir()) if folder.is_dir() else [folder]
    for path in paths:
        if not own.fullmatch(path.name) or (path.is_dir() and not path.is_symlink()):
            raise ForeignFileError(
                f"{folder} holds something other than {what} ({path.name}): move it away first."
            )
    return paths
