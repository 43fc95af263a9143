"""From the parts of a corpus to its atlas: one file, or a folder of as many parts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.atlas.data import ProjectedPart
from core.atlas.density import Density
from core.atlas.engine import (
    FolderStore,
    HeadConstants,
    Sums,
    add_counts,
    all_bounds,
    facts_of_sums,
    find_constants,
    join_projected,
    part_bounds,
    part_counts,
    pick,
    project_part,
    remove_own,
    sampled_numbers,
    shown_numbers,
)
from core.atlas.engine.shard import join_tokens
from core.atlas.files import finish_folder, write_part
from core.atlas.files.writing import AtlasWriter, whole_file
from core.atlas.points import place
from core.vocabulary import STAGES

if TYPE_CHECKING:
    from core.atlas.engine.counting import Bounds, Counts

    Settings = Mapping[str, str | int]

_OWN = re.compile(  # all that is written into the folder of an atlas
    r"((points|tokens|sentences)-\d{5,}\.parquet|search-\d{5,}\.safetensors"
    r"|sample\.atlas\.zip|atlas\.safetensors|atlas\.json)((\.[0-9a-f]{8})?\.writing)?"
)


class Drawn(NamedTuple):
    """What all parts are asked for while they are projected."""

    bounds: Bounds  # what its points cover
    sample: ProjectedPart | None  # those of the sentences that a page draws at first
    labelled: bool


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
    parts = [part for index in store.indices if (part := store.tokens(index)) is not None]
    tokens = join_tokens([part.tokens for part in parts])
    numbers = np.unique(tokens.sentence)
    tokens = replace(tokens, sentence=np.searchsorted(numbers, tokens.sentence).astype(np.int32))
    labels = tuple(label for part in parts for label in part.labels)
    every = store.sample(numbers.astype(np.int64))
    with whole_file(out) as path, AtlasWriter(path, tokens, labels) as writer:
        for layer, head in np.ndindex(*constants.c.shape):
            queries, keys = every.of_head(layer, head)
            points = place(queries, keys, constants.planes(layer, head))
            norms = np.linalg.norm(np.vstack([queries, keys]), axis=1).astype(np.float32)
            writer.write_head(sums.layer_numbers[layer], head + 1, points, norms)
            on_progress(1)
        texts = tuple(text for part in parts for text in part.texts)
        writer.finish(facts_of_sums(sums, constants, settings, labelled=bool(labels)), texts)


def write_folder(
    store: FolderStore,
    sums: Sums,
    out: Path,
    settings: Settings,
    on_progress: Callable[[int], object],
) -> None:
    """Write the atlas of all parts of a store as a folder, one part in memory at a time.

    It has its name once it is whole; an atlas of that name is replaced. `on_progress` is called
    twice for each part. Raises `AtlasFileError` when points are not finite, `ForeignFileError` when
    something else has the name, `OSError` when it cannot be written.
    """
    constants = constants_of(store, sums)
    numbers = shown_numbers(sums.candidates)
    folder = begin_folder(out)
    drawn = []
    for index in store.indices:
        drawn.append(write_points(store, index, constants, folder, numbers))
        on_progress(1)
    bounds = all_bounds([each.bounds for each in drawn if each is not None])

    def counted() -> Iterable[Counts | None]:
        for index in store.indices:
            yield count_points(store, index, constants, bounds)
            on_progress(1)

    finish_points(folder, sums, constants, settings, drawn, counted())
    end_folder(folder, out)


def constants_of(store: FolderStore, sums: Sums) -> HeadConstants:
    """The constants of all heads, by the vectors in a store."""
    return find_constants(sums, store.sample(sampled_numbers(sums.candidates)))


def write_points(
    store: FolderStore,
    index: int,
    constants: HeadConstants,
    folder: Path,
    numbers: NDArray[np.int64],
) -> Drawn | None:
    """Project a part and write it into the folder of an atlas; None where it has no sentence.

    `numbers` are the sentences of the sample that a page draws at first.
    """
    part = store.part(index)
    if part is None:
        return None
    projected = project_part(part, constants)
    write_part(folder, projected)
    return Drawn(part_bounds(projected), pick(projected, numbers), bool(projected.labels))


def count_points(
    store: FolderStore, index: int, constants: HeadConstants, bounds: Bounds
) -> Counts | None:
    """How many points of a part lie in each cell; None where it has no sentence."""
    part = store.part(index)
    return None if part is None else part_counts(project_part(part, constants), bounds)


def finish_points(
    folder: Path,
    sums: Sums,
    constants: HeadConstants,
    settings: Settings,
    drawn: Sequence[Drawn | None],
    counted: Iterable[Counts | None],
) -> None:
    """Write what of the atlas in a folder is of all parts together.

    `drawn` are those of all parts, in order; `counted` the counts of all parts within
    ``all_bounds`` of them, in any order.
    """
    parts = [each for each in drawn if each is not None]
    bounds = all_bounds([each.bounds for each in parts])
    counts = reduce(add_counts, (each for each in counted if each is not None))
    samples = [each.sample for each in parts if each.sample is not None]
    finish_folder(
        folder,
        facts_of_sums(sums, constants, settings, labelled=parts[0].labelled),
        {stage: Density(counts[stage], bounds[stage]) for stage in STAGES},
        join_projected(samples),
    )


def begin_folder(out: Path) -> Path:
    """An empty folder beside `out`, for the atlas until it is whole."""
    folder = out.with_name(f"{out.name}.writing")
    _remove(folder)
    folder.mkdir()
    return folder


def end_folder(folder: Path, out: Path) -> None:
    """Give the whole atlas its name, in the place of another of this name."""
    _remove(out)
    folder.rename(out)


def _remove(folder: Path) -> None:
    """Remove the folder of an atlas; `ForeignFileError` where anything else is in it."""
    remove_own(folder, _OWN, "an atlas")
