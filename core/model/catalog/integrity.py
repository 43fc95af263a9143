"""Are the bundled models the files we checked? The catalogue pins the sha256 of each file."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path


def first_difference(folder: Path, pins: Mapping[str, str]) -> str | None:
    """Name of a file in the folder that differs from its pin; None if all match.

    Files are read once per process (91 MB in 0.12 s), and again when their size, time or inode
    changes.
    """
    try:
        stats = [(folder / name).stat() for name in pins]
    except OSError:
        return next((name for name in pins if not (folder / name).is_file()), "config.json")
    state = tuple((each.st_ino, each.st_size, each.st_mtime_ns) for each in stats)
    return _first_different(folder, tuple(pins.items()), state)


@lru_cache(maxsize=16)  # a changed folder is a new question
def _first_different(folder: Path, pins: tuple[tuple[str, str], ...], _state: object) -> str | None:
    return next((name for name, pin in pins if _sha256(folder / name) != pin), None)


def _sha256(path: Path) -> str | None:
    """The file's sha256 in hexadecimal; None if it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None
