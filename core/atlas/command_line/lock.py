"""One writer at a time: a second command for the same atlas is refused at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from core.atlas.command_line.words import BuildError


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other processes from writing to a folder; the system drops the lock of a killed one.

    Raises
    ------
    BuildError
        When another process has it.
    """
    from filelock import FileLock, Timeout

    path = folder.with_name(f"{folder.name}.lock")
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise BuildError(
            f"Another command is writing {folder}: wait until it is done, or choose another --out."
        ) from None
    try:
        yield
    finally:
        with suppress(OSError):  # where an open file cannot be removed
            path.unlink()
        lock.release()
