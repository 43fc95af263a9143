"""An atlas opened from its folder: but for its sample nothing is read before it is looked at.

A folder is opened only where whoever runs the server put it, but it may come from elsewhere. Its
files must be files of their own, no links; numbers and sizes are checked.
"""

from __future__ import annotations

import stat
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import numpy as np
import pandas as pd

from core.atlas.data import Atlas, AtlasFacts
from core.atlas.files.description import MAX_BYTES, decode_description
from core.atlas.files.errors import AtlasFileError
from core.atlas.files.facts import expected_facts, open_arrays, read_facts
from core.atlas.files.folder import ARRAYS, DESCRIPTION
from core.atlas.files.sample import expected_sample, max_bytes, read_sample
from core.atlas.files.segments import MAX_SEGMENT, Segment, segment_file
from core.atlas.search.parts import Kind, Matches, search_parts
from core.atlas.sources.memory import InMemory
from core.atlas.sources.source import Source


@dataclass(frozen=True, eq=False)
class LargeAtlas:
    """An atlas of texts in a folder.

    Attributes
    ----------
    facts : all of it that does not grow with its tokens.
    sample : random sentences of it, with the facts of all; they are numbered anew.
    searched : its tokens, whole sentences each, in the files that a search reads.
    """

    facts: AtlasFacts
    sample: Atlas
    searched: tuple[Segment, ...]

    def search(self, query: str, kind: Kind = "token") -> Matches:
        """Tokens that match, as :func:`core.atlas.search_tokens` finds them."""
        return search_parts(self.searched, query, kind)

    def table(self, found: Matches, rows: int) -> pd.DataFrame:
        """A row for each token that was found, the first so many: what it is, where, in what."""
        indices = found.indices[:rows]
        owners = np.searchsorted([part.first for part in self.searched], indices, side="right") - 1
        parts = ((self.searched[owner], indices[owners == owner]) for owner in np.unique(owners))
        return pd.concat((part.table(own - part.first) for part, own in parts), ignore_index=True)


def open_large(folder: Path) -> Source:
    """The atlas in a folder that :func:`finish_folder` finished; one of images is all in memory.

    Raises `AtlasFileError` when it is no such folder, has a link in the place of a file, or is
    damaged where it is read at once; `OSError` when it cannot be read.
    """
    if not stat.S_ISDIR(folder.lstat().st_mode):
        raise AtlasFileError("The atlas is not a folder of its own.")
    if _size(folder / DESCRIPTION) > MAX_BYTES:
        raise AtlasFileError(f"“{DESCRIPTION}” of the folder is too large.")
    description = decode_description((folder / DESCRIPTION).read_bytes())
    expected = expected_facts(description) | expected_sample(description)
    segments = [segment_file(folder, number) for number in range(len(description.search))]
    if _size(folder / ARRAYS) > max_bytes(expected) or any(
        _size(path) > MAX_SEGMENT for path in segments
    ):
        raise AtlasFileError("A file of the folder is larger than those of any atlas.")
    with open_arrays(folder / ARRAYS, expected) as read:
        arrays = {name: read(name) for name in expected}
    facts = read_facts(description, arrays)
    sample = read_sample(description, facts, arrays)
    if description.images is not None:
        return InMemory(sample)
    firsts = accumulate((sizes.tokens for sizes in description.search), initial=0)
    searched = zip(segments, firsts, description.search, strict=False)
    return LargeAtlas(facts, sample, tuple(Segment(*each[:2], *each[2]) for each in searched))


def _size(path: Path) -> int:
    """Of a file in bytes; `AtlasFileError` when it is missing or something else."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        raise AtlasFileError(f"The folder lacks “{path.name}”.") from None
    if not stat.S_ISREG(status.st_mode):
        raise AtlasFileError(f"“{path.name}” in the folder is not a file of its own.")
    return status.st_size
