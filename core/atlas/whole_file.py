"""Files that get their name once they are whole and on disk."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

UNFINISHED = ".writing"  # the end of the name of a file that is being written


@contextmanager
def whole_file(path: Path, *, shared: bool = False) -> Iterator[Path]:
    """A path to write to, which becomes `path` once complete, and is removed on failure.

    `shared`: another process may write the same file meanwhile. What a process that was killed
    leaves ends in `UNFINISHED`.
    """
    own = f".{secrets.token_hex(4)}" if shared else ""
    unfinished = path.with_name(f"{path.name}{own}{UNFINISHED}")
    try:
        yield unfinished
        with unfinished.open("rb") as file:
            os.fsync(file.fileno())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    with suppress(OSError):  # the name too, on systems that can
        _sync(path.parent)


def write_whole(path: Path, content: bytes, *, shared: bool = False) -> None:
    """Write a file whole or not at all; as :func:`whole_file`."""
    with whole_file(path, shared=shared) as unfinished:
        unfinished.write_bytes(content)


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
