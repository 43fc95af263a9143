"""From the parts of a corpus to its atlas: a folder with as many parts, written by one command."""

from __future__ import annotations

import math
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from core.atlas.command_line.plan import Plan, vector_bytes
from core.atlas.command_line.terminal import BuildError, count_of, say, size_of
from core.atlas.data import join_texts
from core.atlas.engine.constants import HeadConstants, assemble, find_constants, project_part
from core.atlas.engine.folder import Dtype, FolderStore, remove_own
from core.atlas.engine.sums import Sums, sampled_numbers, shown_numbers
from core.atlas.saved import ATLAS, FOLDER, POINTS, write_atlas
from core.model import LoadedModel
from core.records import UNFINISHED, is_record, write_record

OutputSettings = Mapping[str, str | int]
Draw = Callable[[FolderStore, HeadConstants, Path], Iterator[object]]  # yields after each part

_OWN = re.compile(  # all files that are written into an atlas folder
    r"(points-\d{5,}\.safetensors|(tokens|sentences)\.parquet|atlas\.safetensors)"
    r"(\.[0-9a-f]{8}\.writing)?"
)


def draw_here(
    store: FolderStore,
    constants: HeadConstants,
    folder: Path,
    indices: Sequence[int] | None = None,
) -> Iterator[None]:
    """Write the points of all parts, or only of `indices`, into the folder of an atlas."""
    for index in store.indices if indices is None else indices:
        if (part := store.part(index)) is not None:
            points = project_part(part.texts.tokens, part.vectors.of_head, constants)
            write_record(points, folder / POINTS.format(index), math.inf)
        yield


def write_folder(
    store: FolderStore,
    sums: Sums,
    out: Path,
    settings: OutputSettings,
    on_progress: Callable[[int], object],
    draw: Draw,
) -> None:
    """Write the atlas of all parts of a store as a folder.

    The folder gets its name once it is complete; an atlas of that name is replaced. `draw` goes
    through the parts here, or on many machines; `on_progress` is called after each. Raises
    `RecordError` if points are not finite, `ForeignFileError` if something else has the name,
    `OSError` if it cannot be written.
    """
    constants = find_constants(sums, store.sample(sampled_numbers(sums.candidates)))
    with replaced(out) as folder:
        for _ in draw(store, constants, folder.resolve()):
            on_progress(1)
        numbers = shown_numbers(sums.candidates)
        texts = join_texts(list(store.texts(numbers)))
        sample = project_part(texts.tokens, store.sample(numbers).of_head, constants)
        atlas = assemble(sums, constants, texts, sample)
        atlas = replace(atlas, settings={**atlas.settings, **settings})
        write_atlas(folder, atlas, store.texts())


@contextmanager
def replaced(out: Path) -> Iterator[Path]:
    """A temporary folder to write an atlas to; once complete it replaces any other at `out`."""
    folder = out.with_name(f"{out.name}{UNFINISHED}")
    _remove(folder)
    folder.mkdir()
    yield folder
    _remove(out)
    folder.rename(out)


def _remove(folder: Path) -> None:
    """Remove an atlas folder; `ForeignFileError` if there is anything else in it."""
    remove_own(folder, _OWN, "an atlas", ATLAS, is_record)


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
    """Report how much disk space it takes, and refuse if there is not enough."""
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
    """Where the parts of an atlas are kept until it is complete."""
    return out.with_name(out.name + ".partial")


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other processes from writing to a folder; the system drops the lock of a killed one.

    Raises `BuildError` if another process holds it, or a file of its name is not a lock: not empty.
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
        with suppress(OSError):  # on systems where an open file cannot be removed
            path.unlink()
        lock.release()
