"""What a command refuses before it runs anything.

Names that are taken, what has no room, and a folder that another command writes.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from core.atlas.command_line.options import FOLDER
from core.atlas.command_line.plan import Plan, vector_bytes
from core.atlas.command_line.words import BuildError, count_of, say, size_of
from core.atlas.engine.folder import Dtype
from core.model import LoadedModel

_ROW_BYTES = 85  # on disk, per head and token: 20 numbers that hardly compress, and names


def check_out(out: Path, *, restart: bool) -> None:
    """Refuse what cannot be written, or would be overwritten."""
    if not out.name.endswith(FOLDER):
        raise BuildError(f"{out}: an atlas is a folder whose name ends with {FOLDER}.")
    if not out.parent.is_dir():
        raise BuildError(f"{out} cannot be written: its folder does not exist.")
    if out.exists() and not out.is_dir():
        raise BuildError(f"{out} cannot be written: something else has this name.")
    if out.exists() and not restart and not parts_folder(out).exists():
        raise BuildError(f"{out} exists already: choose another name, or replace it by --restart.")


def check_disk(model: LoadedModel, plan: Plan, folder: Path, dtype: Dtype) -> None:
    """Say how much disk space it takes, and refuse if there is less."""
    tokens, size, chosen = plan.tokens, plan.corpus_size, plan.numbers.size
    file = tokens * model.layers * model.heads * _ROW_BYTES
    total = file + tokens * vector_bytes(model) // (2 if dtype == "float16" else 1)
    sample = f" (a random sample of {size:,})" if chosen < size else ""
    say(
        f"{count_of(tokens, 'token')} of {count_of(chosen, 'text')}{sample}, on {model.device}. It"
        f" takes up to {size_of(total)} of disk space while it runs, and {size_of(file)} for the"
        " atlas."
    )
    on_disk = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    free = shutil.disk_usage(folder.parent).free
    if total - on_disk > free:
        raise BuildError(
            f"The disk has {size_of(free)} free, and about {size_of(total - on_disk)} more are"
            " needed: make room, or take fewer --tokens."
        )


def parts_folder(out: Path) -> Path:
    """Where the parts of an atlas are until it is whole."""
    return out.with_name(out.name + ".partial")


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other processes from writing to a folder; the system drops the lock of a killed one.

    Raises
    ------
    BuildError
        When another process has it, or a file of the lock's name is not one: locks are empty.
    """
    from filelock import FileLock, Timeout

    path = folder.with_name(f"{folder.name}.lock")
    if path.is_symlink() or (path.exists() and not (path.is_file() and path.stat().st_size == 0)):
        raise BuildError(f"{path} is not a lock of this command: move it away first.")
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
