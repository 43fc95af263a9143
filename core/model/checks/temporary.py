"""A temporary folder that is gone after its use; where the process was killed, at the next start.

A folder in use holds a locked file; the system releases the lock when the process ends, however.
"""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

_PREFIX, _LOCK = "headscope-load-", ".in-use"
_ABANDONED_SECONDS = 3_600  # how old one without a lock must be: no load takes as long


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    """An empty folder for the length of the block. Raises OSError where there is no room."""
    _clear_once()
    name = tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True)
    with name as made, _held(Path(made)):
        yield Path(made)


@functools.cache
def _clear_once() -> None:
    clear_left_folders(Path(tempfile.gettempdir()))


def clear_left_folders(parent: Path) -> None:
    """Remove what processes that were killed have left in a folder of temporary files."""
    with contextlib.suppress(OSError):
        for folder in parent.glob(f"{_PREFIX}*"):
            with contextlib.suppress(OSError):
                if _is_ours(folder) and _is_left(folder):
                    shutil.rmtree(folder, ignore_errors=True)


def _is_ours(folder: Path) -> bool:
    """Whether it is a folder, not a link to one, that this user made."""
    owner = not hasattr(os, "getuid") or folder.lstat().st_uid == os.getuid()
    return owner and folder.is_dir() and not folder.is_symlink()


def _is_left(folder: Path) -> bool:
    """Whether nobody holds its lock; without a lock, whether it is old."""
    file = folder / _LOCK
    if not file.exists():
        return time.time() - folder.stat().st_mtime > _ABANDONED_SECONDS
    with file.open("rb") as opened:
        return _lock(opened)


@contextlib.contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Lock the folder; the file gets its name when it is locked, so that none sees it free."""
    nameless = folder / f"{_LOCK}.new"
    with nameless.open("wb") as opened:
        if _lock(opened):
            nameless.rename(folder / _LOCK)
        yield


def _lock(opened: IO[bytes]) -> bool:
    """Lock a file until it is closed; False where another has, or where there are no such locks."""
    try:
        import fcntl
    except ImportError:  # Windows removes nothing that is open, and keeps what was left
        return False
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
