"""From the parts of a corpus to its atlas, a folder of as many parts."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from core.atlas.data import join_texts
from core.atlas.engine.constants import HeadConstants, assemble, find_constants, project_part
from core.atlas.engine.folder import FolderStore, remove_own
from core.atlas.engine.sample import sampled_numbers, shown_numbers
from core.atlas.engine.sums import Sums
from core.atlas.saved import ATLAS, POINTS, write_atlas
from core.records import UNFINISHED, is_record, write_record

Settings = Mapping[str, str | int]
Draw = Callable[[FolderStore, HeadConstants, Path], Iterator[object]]  # one after each part

_OWN = re.compile(  # all that is written into the folder of an atlas
    r"(points-\d{5,}\.safetensors|(tokens|sentences)\.parquet|atlas\.safetensors)"
    r"(\.[0-9a-f]{8}\.writing)?"
)


def draw_here(
    store: FolderStore,
    constants: HeadConstants,
    folder: Path,
    indices: Sequence[int] | None = None,
) -> Iterator[None]:
    """Write the points of all parts, or of these, into the folder of an atlas."""
    for index in store.indices if indices is None else indices:
        if (part := store.part(index)) is not None:
            points = project_part(part.texts.tokens, part.vectors.of_head, constants)
            write_record(points, folder / POINTS.format(index), math.inf)
        yield


def write_folder(
    store: FolderStore,
    sums: Sums,
    out: Path,
    settings: Settings,
    on_progress: Callable[[int], object],
    draw: Draw = draw_here,
) -> None:
    """Write the atlas of all parts of a store as a folder.

    It has its name once it is whole; an atlas of that name is replaced. `draw` goes through the
    parts here, or on many machines; `on_progress` is called after each. Raises `RecordError`
    when points are not finite, `ForeignFileError` when something else has the name, `OSError` when
    it cannot be written.
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
    """A folder to write an atlas to, which gets this name in the place of another once whole."""
    folder = out.with_name(f"{out.name}{UNFINISHED}")
    _remove(folder)
    folder.mkdir()
    yield folder
    _remove(out)
    folder.rename(out)


def _remove(folder: Path) -> None:
    """Remove the folder of an atlas; `ForeignFileError` where anything else is in it."""
    remove_own(folder, _OWN, "an atlas", ATLAS, is_record)
