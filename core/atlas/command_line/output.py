"""From the parts of a corpus to its atlas: one file, or a folder of as many parts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from core.atlas.data import HeadPoints
from core.atlas.engine.constants import HeadConstants, facts_of_sums, find_constants
from core.atlas.engine.folder import FolderStore, remove_own
from core.atlas.engine.project import project, project_part
from core.atlas.engine.sample import sampled_numbers, shown_numbers
from core.atlas.engine.sums import Sums
from core.atlas.files import finish_folder, write_part
from core.atlas.files import write_file as write_sentences
from core.atlas.files.archive import DESCRIPTION
from core.atlas.files.description import FORMAT
from core.atlas.whole_file import UNFINISHED

Settings = Mapping[str, str | int]
Draw = Callable[[FolderStore, HeadConstants, Path], Iterator[object]]  # one after each part

_OWN = re.compile(  # all that is written into the folder of an atlas
    r"((points|tokens|sentences)-\d{5,}\.parquet|search-\d{5,}\.safetensors"
    r"|sample\.atlas\.zip|atlas\.safetensors|atlas\.json)((\.[0-9a-f]{8})?\.writing)?"
)


def write_file(
    store: FolderStore,
    sums: Sums,
    out: Path,
    settings: Settings,
    on_progress: Callable[[int], object],
) -> None:
    """Write the atlas of all parts of a store as one file, a few heads in memory at a time.

    `on_progress` is called after each head. Raises `AtlasFileError` when points are not finite,
    `OSError` when it cannot be written.
    """
    constants = constants_of(store, sums)
    texts = store.texts()
    facts = facts_of_sums(sums, constants, settings, labelled=bool(texts.labels))
    places = np.searchsorted(texts.numbers, texts.tokens.sentence).astype(np.int32)
    every = store.sample(texts.numbers)

    def heads() -> Iterator[HeadPoints]:
        for head in project(every.of_head, constants, sums.layer_numbers):
            yield head
            on_progress(1)

    numbered = replace(texts, tokens=replace(texts.tokens, sentence=places))
    write_sentences(facts, numbered, heads(), out)


def draw_here(
    store: FolderStore,
    constants: HeadConstants,
    folder: Path,
    indices: Sequence[int] | None = None,
) -> Iterator[None]:
    """Write the points of all parts, or of these, into the folder of an atlas."""
    for index in store.indices if indices is None else indices:
        if (part := store.part(index)) is not None:
            write_part(folder, project_part(part, constants))
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
    parts here, or on many machines; `on_progress` is called after each. Raises `AtlasFileError`
    when points are not finite, `ForeignFileError` when something else has the name, `OSError` when
    it cannot be written.
    """
    constants = constants_of(store, sums)
    folder = out.with_name(f"{out.name}{UNFINISHED}")
    _remove(folder)
    folder.mkdir()
    for _ in draw(store, constants, folder.resolve()):
        on_progress(1)
    numbers = shown_numbers(sums.candidates)
    sample = store.texts(numbers)
    finish_folder(
        folder,
        facts_of_sums(sums, constants, settings, labelled=bool(sample.labels)),
        sample,
        project(store.sample(numbers).of_head, constants, sums.layer_numbers),
    )
    _remove(out)
    folder.rename(out)


def constants_of(store: FolderStore, sums: Sums) -> HeadConstants:
    """The constants of all heads, by the vectors in a store."""
    return find_constants(sums, store.sample(sampled_numbers(sums.candidates)))


def _remove(folder: Path) -> None:
    """Remove the folder of an atlas; `ForeignFileError` where anything else is in it."""
    remove_own(folder, _OWN, "an atlas", DESCRIPTION, lambda own: own.get("format") == FORMAT)
