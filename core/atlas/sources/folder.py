"""A large atlas, opened from its folder: nothing is read before it is looked at.

A folder is opened only where whoever runs the server put it, but it may come from elsewhere. Its
files must be files of their own, no links; numbers are checked as those of a small atlas are, and
tables by what they say of their sizes. Texts in its tables have no limit but memory.
"""

from __future__ import annotations

import stat
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from core.atlas.data import Atlas, AtlasFacts, TokenRows
from core.atlas.files.archive import ARRAYS, DESCRIPTION
from core.atlas.files.description import MAX_BYTES, Description, decode_description
from core.atlas.files.errors import AtlasFileError
from core.atlas.files.facts import expected_facts, open_arrays, read_facts
from core.atlas.files.folder import SAMPLE
from core.atlas.files.opening import read_atlas
from core.atlas.files.reading import LargePart, parts_of
from core.atlas.files.segments import MAX_SEGMENT, Segment, segment_file
from core.atlas.files.tables import POINTS_TABLE, SENTENCES_TABLE, TOKENS_TABLE, part_name
from core.atlas.search.parts import Kind, Matches, search_parts
from core.atlas.search.patches import ImageKind

MAX_FILE = 2**31  # bytes of the sample and of the arrays that are read whole


@dataclass(frozen=True, eq=False)
class LargeAtlas:
    """An atlas in a folder.

    Attributes
    ----------
    facts : all of it that does not grow with its tokens.
    parts : its tokens, whole sentences each, in order.
    searched : the same again, in the files that a search reads.
    """

    folder: Path
    description: Description
    facts: AtlasFacts
    parts: tuple[LargePart, ...]
    searched: tuple[Segment, ...]

    @cached_property
    def sample(self) -> Atlas:
        """A random sample of whole sentences, with the facts of all; they are numbered anew."""
        return read_atlas(self.folder / SAMPLE)

    def search(self, query: str, kind: Kind | ImageKind = "token") -> Matches:
        """Tokens that match, as :func:`core.atlas.search_tokens` finds them."""
        return search_parts(self.searched, query, cast("Kind", kind))

    def tokens_at(self, indices: NDArray[np.integer]) -> TokenRows:
        """The tokens with these indices among all, in this order."""
        indices = np.asarray(indices)
        displays = np.empty(indices.size, dtype=np.object_)
        sentence, position = (np.zeros(indices.size, dtype=np.int32) for _ in range(2))
        starts = np.array([part.first for part in self.searched])
        owners = np.searchsorted(starts, indices, side="right") - 1
        for owner in np.unique(owners).tolist():
            part, places = self.searched[owner], np.flatnonzero(owners == owner)
            rows = part.rows(indices[places] - part.first)
            displays[places] = rows.displays
            sentence[places], position[places] = rows.sentence, rows.position
        return TokenRows(tuple(displays.tolist()), sentence, position)

    def sentences_at(self, numbers: NDArray[np.integer]) -> list[str]:
        """The texts of the sentences with these numbers in the corpus, in this order."""
        numbers = np.asarray(numbers)
        wanted = np.unique(numbers)
        owners = np.array([self._owner(number) for number in wanted.tolist()], dtype=np.intp)
        texts: dict[int, str] = {}
        for owner in np.unique(owners).tolist():
            texts |= self.searched[owner].texts_of(wanted[owners == owner])
        if missing := set(wanted.tolist()) - texts.keys():
            raise AtlasFileError(f"The atlas has no sentence {min(missing) + 1:,}.")
        return [texts[number] for number in numbers.tolist()]

    def _owner(self, number: int) -> int:
        """Which of `searched` has the sentence of this number, if any has; a few are asked."""
        return max(0, bisect_right(self.searched, number, key=lambda part: part.first_sentence) - 1)


def open_large(folder: Path) -> LargeAtlas:
    """The atlas in a folder that :func:`finish_folder` finished.

    Raises `AtlasFileError` when it is no such folder, has a link in the place of a file, or is
    damaged where it is read at once; `OSError` when it cannot be read.
    """
    if not stat.S_ISDIR(folder.lstat().st_mode):
        raise AtlasFileError("The atlas is not a folder of its own.")
    path = folder / DESCRIPTION
    if _size(path) > MAX_BYTES:
        raise AtlasFileError(f"“{DESCRIPTION}” of the folder is too large.")
    description = decode_description(path.read_bytes())
    _check_parts(folder, description)
    expected = expected_facts(description)
    with open_arrays(folder / ARRAYS, expected) as read:
        facts = read_facts(description, {name: read(name) for name in expected})
    parts = parts_of(folder, description.parts)
    searched = tuple(_segments(folder, parts, description.segments))
    return LargeAtlas(folder, description, facts, parts, searched)


def _segments(
    folder: Path, parts: tuple[LargePart, ...], sizes: Sequence[int]
) -> Iterator[Segment]:
    """The files that a search reads, of so many parts each."""
    start = 0
    for number, size in enumerate(sizes):
        own = parts[start : start + size]
        count, sentences = sum(each.count for each in own), sum(each.sentences for each in own)
        yield Segment(segment_file(folder, number), own[0].first, count, sentences)
        start += size


def _check_parts(folder: Path, description: Description) -> None:
    """All files are there, and none is a link."""
    held = [sum(each) for each in zip(*description.parts, strict=True)][1:]
    if held != [description.tokens, description.sentences] or description.images is not None:
        raise AtlasFileError("The parts of the folder are not those of a whole atlas of texts.")
    names = [ARRAYS, SAMPLE]
    for index, *_ in description.parts:
        tables = POINTS_TABLE, TOKENS_TABLE, SENTENCES_TABLE
        names += [part_name(table, index) for table in tables]
    if not description.segments:
        raise AtlasFileError("The folder lacks the files that a search reads: build it again.")
    segments = [segment_file(folder, number) for number in range(len(description.segments))]
    too_large = any(_size(folder / name) > MAX_FILE for name in names[:2])
    if too_large or any(_size(path) > MAX_SEGMENT for path in segments):
        raise AtlasFileError("A file of the folder is larger than those of any atlas.")
    for name in names[2:]:
        _size(folder / name)


def _size(path: Path) -> int:
    """Of a file in bytes; `AtlasFileError` when it is missing or something else."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        raise AtlasFileError(f"The folder lacks “{path.name}”.") from None
    if not stat.S_ISREG(status.st_mode):
        raise AtlasFileError(f"“{path.name}” in the folder is not a file of its own.")
    return status.st_size
