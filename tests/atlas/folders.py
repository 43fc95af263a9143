"""Folders of atlases, written from an atlas in memory."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from core.atlas.data import ProjectedPart, facts_of
from core.atlas.files import finish_folder, write_part
from core.vocabulary import STAGES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from core.atlas import Atlas


def part_of(atlas: Atlas, index: int, sentences: Sequence[int]) -> ProjectedPart:
    """Some sentences of an atlas in memory."""
    own = np.flatnonzero(np.isin(atlas.tokens.sentence, sentences))
    both = np.concatenate([own, own + len(atlas.tokens)])
    tokens = replace(
        atlas.tokens,
        texts=tuple(atlas.tokens.texts[i] for i in own),
        displays=tuple(atlas.tokens.displays[i] for i in own),
        **{
            name: getattr(atlas.tokens, name)[own]
            for name in ("sentence", "position", "word", "special", "spans")
        },
    )
    return ProjectedPart(
        tokens,
        tuple(atlas.sentences[i] for i in sentences),
        tuple(atlas.labels[i] for i in sentences) if atlas.labels else (),
        index,
        {stage: atlas.points[stage][:, :, both] for stage in STAGES},
        atlas.norms[:, :, both],
        atlas.layer_labels,
    )


def write_folder(
    atlas: Atlas, folder: Path, parts: Sequence[Sequence[int]], sample: Sequence[int]
) -> Path:
    """A folder with parts of these sentences, and a sample of some."""
    folder.mkdir()
    for index in reversed(range(len(parts))):  # in any order
        write_part(folder, part_of(atlas, index, parts[index]))
    finish(atlas, folder, parts, sample)
    return folder


def finish(
    atlas: Atlas, folder: Path, parts: Sequence[Sequence[int]], sample: Sequence[int] = (0,)
) -> None:
    """Write what a folder has beside its parts."""
    texts = [part_of(atlas, index, own) for index, own in enumerate(parts)]
    finish_folder(folder, facts_of(atlas), texts, part_of(atlas, 0, sample))


def save_atlas(atlas: Atlas, folder: Path) -> Path:
    """A folder whose sample is all of it, as that of images; without the tables."""
    folder.mkdir()
    finish_folder(folder, facts_of(atlas), () if atlas.images else (atlas,), atlas)
    return folder
