"""Parts of a corpus on disk, so that a kill loses one part at most, and memory holds one.

A part is one safetensors file that gets its name once all of it is on disk; anything else is
unfinished and is made again. Several writers may share a folder: the same part written twice is the
same file. A manifest says which run the parts belong to.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from core.analysis.arrays import Floats
from core.atlas.data import CorpusTexts, Masks, join_texts, pick_texts
from core.atlas.engine.sample import Sample
from core.atlas.engine.shard import Shard
from core.atlas.engine.shard_file import (
    Dtype,
    pack_shard,
    read_masks,
    read_sums,
    read_tokens,
    read_tokens_of,
    read_vectors_of,
    unpack_shard,
)
from core.atlas.engine.sums import Sums
from core.atlas.whole_file import UNFINISHED, write_whole

Run = Mapping[str, str | int]
FORMAT = 4  # of the parts; 4: without attention
_MANIFEST = "run.json"
_PART = "part-{:05}.safetensors"
_OWN = re.compile(  # what this project writes there: parts, and a cluster's texts of them
    r"(run\.json|part-\d{5,}\.(safetensors|texts\.json))(\.[0-9a-f]+\.writing)?"
)
_MAX_SHOWN = 60  # characters of a difference between two runs


class ShardsError(ValueError):
    """The parts on disk do not belong to this run; the message says what differs."""


class ForeignFileError(ValueError):
    """A folder to be filled or removed has a file that is not ours; the message names it."""


class FolderStore:
    """The parts in a folder, as :class:`core.atlas.engine.atlas.MemoryStore` has them in memory.

    `dtype` is that of the vectors on disk: "float16" takes half the room and keeps three digits.
    """

    def __init__(self, folder: Path, dtype: Dtype = "float32") -> None:
        self.folder = folder
        self.dtype: Dtype = dtype

    def path(self, index: int) -> Path:
        """Where a part is, or will be."""
        return self.folder / _PART.format(index)

    @property
    def indices(self) -> list[int]:
        """Of the parts that are there, ascending."""
        stem = _PART.partition("{")[0]
        names = (path.name for path in self.folder.glob(f"{stem}*.safetensors"))
        return sorted(int(name.removeprefix(stem).removesuffix(".safetensors")) for name in names)

    def finished(self, index: int) -> bool:
        """Whether the part is there, whole: a file that was cut short is none."""
        try:
            with safe_open(self.path(index), "np"):
                return True
        except (OSError, SafetensorError):
            return False

    def put(self, index: int, part: Shard | None) -> None:
        """Write a part, whole or not at all (`OSError`), in the place of any other of its index."""
        write_whole(self.path(index), pack_shard(part, self.dtype), shared=True)

    def sums(self, index: int) -> Sums | None:
        """Those of a finished part; None where it has no sentence."""
        return read_sums(self.path(index))

    def texts(self, numbers: NDArray[np.int64]) -> CorpusTexts:
        """Tokens and texts of these sentences (ascending), without vectors."""
        paths = [path for path in map(self.path, self.indices) if read_tokens_of(path, numbers)]
        parts = (read_tokens(path) for path in paths)
        return join_texts([pick_texts(part, numbers) for part in parts if part is not None])

    def all_texts(self) -> Iterator[CorpusTexts]:
        """Tokens and texts of every part that has a sentence, one part in memory at a time."""
        for path in map(self.path, self.indices):
            if (part := read_tokens(path)) is not None:
                yield part

    def part(self, index: int) -> Shard | None:
        """A finished part, in memory; None where it has no sentence."""
        return unpack_shard(self.path(index), index)

    def sample(self, numbers: NDArray[np.int64]) -> Sample:
        """Those of these sentences (ascending) that are here; vectors stay on disk till asked."""
        lengths: list[int] = []
        found: list[int] = []
        masks: dict[int, Masks] = {}
        ranges: list[tuple[Path, list[slice]]] = []
        for index in self.indices:
            path = self.path(index)
            own = read_tokens_of(path, numbers)
            if own:
                ranges.append((path, [tokens for _, tokens in own]))
                found += [number for number, _ in own]
                lengths += [tokens.stop - tokens.start for _, tokens in own]
                masks |= read_masks(path, {number for number, _ in own})

        def of_head(layer: int, head: int) -> tuple[Floats, Floats]:
            parts = [read_vectors_of(path, layer, head, tokens) for path, tokens in ranges]
            queries, keys = (np.concatenate([part[side] for part in parts]) for side in (0, 1))
            return queries, keys

        return Sample(np.array(found), np.array(lengths), masks, of_head)


def open_folder(folder: Path, run: Run) -> None:
    """Create a run's folder, or raise `ShardsError` if the parts in it belong to another.

    `ForeignFileError` if there is anything else in it.

    What other writers left unfinished is removed: only one process may open a folder at a time.
    """
    folder.mkdir(exist_ok=True)
    own = _own_files(folder, _OWN, "parts of an atlas")
    wanted = {"format": FORMAT, **run}
    manifest = folder / _MANIFEST
    if not manifest.exists():
        if any(not path.name.startswith(_MANIFEST) for path in own):
            raise ShardsError(f"{folder} holds parts of an unknown run.")
        write_whole(manifest, json.dumps(wanted).encode(), shared=True)
        return
    stored = _read_manifest(manifest)
    differing = next((key for key in wanted if stored.get(key) != wanted[key]), None)
    if differing is not None:
        was, now = (str(each.get(differing))[:_MAX_SHOWN] for each in (stored, wanted))
        long = max(len(was), len(now)) == _MAX_SHOWN
        change = "differ" if long else f"was {was!r} and is {now!r}"
        raise ShardsError(f"{folder} holds parts of another run: {differing} {change}.")
    for path in folder.glob(f"*{UNFINISHED}"):
        path.unlink(missing_ok=True)


def remove_folder(folder: Path) -> None:
    """Remove the parts of any run; `ForeignFileError` for what is no folder of them."""
    remove_own(folder, _OWN, "parts of an atlas", _MANIFEST, {"format", "model"}.issubset)


def remove_own(
    folder: Path,
    own: re.Pattern[str],
    what: str,
    manifest: str,
    is_ours: Callable[[Mapping[str, object]], bool],
) -> None:
    """Remove a folder in which all files have names of our `own`; `what` they are, in words.

    Raises `ForeignFileError`, and removes nothing, where there is anything else, or the fields of
    the `manifest` are not ours. An unfinished folder, or one of unfinished files, has none.
    """
    if not folder.exists():
        return
    paths = _own_files(folder, own, what)
    finished = any(not path.name.endswith(UNFINISHED) for path in paths)
    whole = finished and not folder.name.endswith(UNFINISHED)
    if whole and not is_ours(_read_manifest(folder / manifest)):
        raise ForeignFileError(
            f"{folder} has the names of {what}, but no {manifest} of one: move it away first."
        )
    for path in sorted(paths, key=lambda path: path.name == manifest):  # last: it says whose it is
        path.unlink()
    folder.rmdir()


def _read_manifest(path: Path) -> Mapping[str, object]:
    """Its fields; none where it is missing or no JSON object."""
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
