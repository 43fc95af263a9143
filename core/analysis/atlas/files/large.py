"""A large atlas, opened from its folder: nothing is read before it is looked at.

A folder is opened only where whoever runs the server put it, but it may come from elsewhere. Its
files must be files of their own, no links; numbers are checked as those of a small atlas are, and
tables by what they say of their sizes. Texts in its tables have no limit but memory.
"""

from __future__ import annotations

import stat
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from core.analysis.atlas.density import CELLS, Plane, look_at
from core.analysis.atlas.files.archive import ARRAYS, DESCRIPTION
from core.analysis.atlas.files.description import MAX_BYTES, decode_description
from core.analysis.atlas.files.errors import AtlasFileError
from core.analysis.atlas.files.facts import expected_facts, open_arrays, read_facts
from core.analysis.atlas.files.folder import (
    POINTS,
    SAMPLE,
    SENTENCES,
    TOKENS,
    Density,
    open_part,
    part_file,
)
from core.analysis.atlas.files.opening import read_atlas
from core.analysis.atlas.files.texts import shortened
from core.analysis.atlas.search_parts import search_parts
from core.analysis.query_key.clouds import STAGES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray
    from pyarrow import Array as ArrowArray
    from pyarrow import ChunkedArray, Table

    from core.analysis.arrays import Bools, Floats
    from core.analysis.atlas.data import Atlas, AtlasFacts, Ints
    from core.analysis.atlas.density import Look
    from core.analysis.atlas.files.description import Description
    from core.analysis.atlas.files.facts import Spec
    from core.analysis.atlas.search import Kind
    from core.analysis.atlas.search_parts import PartMatches, Words
    from core.analysis.query_key.clouds import Stage

MAX_FILE = 2**31  # bytes of the sample and of the arrays that are read whole


@dataclass(frozen=True, eq=False)
class TokenRows:
    """Some tokens of an atlas; fields as in :class:`core.analysis.atlas.data.CorpusTokens`."""

    texts: tuple[str, ...]
    displays: tuple[str, ...]
    sentence: Ints  # its number in the whole corpus
    position: Ints


@dataclass(frozen=True, eq=False)
class LargePart:
    """One part in a folder; its tables are read when they are asked for."""

    folder: Path
    index: int
    first: int  # of its tokens, among all
    count: int  # of its tokens
    sentences: int

    def table(self, name: str, group: int, columns: list[str]) -> Table:
        """Columns of a group of rows of one of its tables, as many rows as the part has."""
        from pyarrow import ArrowException

        wanted = self.sentences if name == SENTENCES else self.count
        try:
            file = open_part(self.folder, name, self.index)
            rows = file.metadata.row_group(group).num_rows
            missing = set(columns) - set(file.schema_arrow.names)
            if rows != wanted or missing:
                raise AtlasFileError(
                    f"The {name} of part {self.index} are {rows:,} rows for {wanted:,}, or lack a"
                    " column."
                )
            return file.read_row_group(group, columns=columns, use_threads=False)
        except (ArrowException, IndexError, OSError) as error:
            raise AtlasFileError(f"The {name} of part {self.index} are damaged.") from error

    def plane(self, group: int, stage: Stage) -> Plane:
        """The first two components of one head."""
        names = [f"{kind}_{stage}_{axis}" for kind in ("query", "key") for axis in "xy"]
        table = self.table(POINTS, group, names)
        queries, keys = (
            np.stack([numbers_of(table, name, "f") for name in two], axis=1).astype(np.float32)
            for two in (names[:2], names[2:])
        )
        return Plane(self.first, queries, keys)

    def words(self) -> tuple[Words, Words]:
        """As :class:`core.analysis.atlas.search_parts.Searched` has it; also what follows."""
        table = self.table(TOKENS, 0, ["token", "display"])
        first, second = (_words(table.column(name)) for name in ("token", "display"))
        return first, second

    def sentence(self) -> NDArray[np.integer]:
        """The number of each token's sentence."""
        return numbers_of(self.table(TOKENS, 0, ["sentence"]), "sentence", "i")

    def texts(self) -> tuple[NDArray[np.integer], ArrowArray]:
        """The number and the text of each sentence."""
        table = self.table(SENTENCES, 0, ["sentence", "text"])
        return numbers_of(table, "sentence", "i"), table.column("text").combine_chunks()

    def spans(self) -> tuple[NDArray[np.integer], Bools]:
        """Where each token lies in its sentence, and which are in no text."""
        table = self.table(TOKENS, 0, ["start", "end", "special"])
        ends = [numbers_of(table, name, "i") for name in ("start", "end")]
        return np.stack(ends, axis=1), numbers_of(table, "special", "b").astype(np.bool_)


@dataclass(frozen=True, eq=False)
class LargeAtlas:
    """An atlas in a folder.

    Attributes
    ----------
    facts : all of it that does not grow with its tokens.
    parts : its tokens, whole sentences each, in order.
    """

    folder: Path
    description: Description
    facts: AtlasFacts
    parts: tuple[LargePart, ...]

    @cached_property
    def sample(self) -> Atlas:
        """A random sample of whole sentences, with the facts of all; they are numbered anew."""
        return read_atlas(self.folder / SAMPLE)

    def density(self, stage: Stage) -> Density:
        """All points of a stage, counted; `AtlasFileError` where the folder has no counts."""
        if not self.description.density:
            raise AtlasFileError("This atlas has no counts of its points.")
        names = f"density.{stage}", f"density.{stage}.bounds"
        with open_arrays(self.folder / ARRAYS, _expected(self.description)) as read:
            counts, bounds = (read(name) for name in names)
        x0, x1, y0, y1 = np.moveaxis(bounds, -1, 0)
        if not (np.isfinite(bounds).all() and (x0 <= x1).all() and (y0 <= y1).all()):
            raise AtlasFileError(f"“{names[1]}” has planes that end before they begin.")
        return Density(counts, bounds)

    def planes(self, layer: int, head: int, stage: Stage) -> Iterator[Plane]:
        """One head's plane, a part at a time."""
        group = layer * self.description.heads + head
        for part in self.parts:
            yield part.plane(group, stage)

    def look(self, layer: int, head: int, stage: Stage, part: Floats) -> Look:
        """What lies in a part (x from, x to, y from, y to) of one head's plane."""
        return look_at(self.planes(layer, head, stage), part)

    def search(self, query: str, kind: Kind = "token") -> PartMatches:
        """Tokens that match, as :func:`core.analysis.atlas.search.search_tokens` finds them."""
        return search_parts(self.parts, query, kind)

    def tokens_at(self, indices: NDArray[np.integer]) -> TokenRows:
        """The tokens with these indices among all, in this order."""
        indices = np.asarray(indices)
        texts, displays = [""] * indices.size, [""] * indices.size
        sentence, position = (np.zeros(indices.size, dtype=np.int32) for _ in range(2))
        starts = np.array([part.first for part in self.parts])
        owners = np.searchsorted(starts, indices, side="right") - 1
        for owner in np.unique(owners).tolist():
            part, places = self.parts[owner], np.flatnonzero(owners == owner)
            names = ["sentence", "position", "token", "display"]
            rows = part.table(TOKENS, 0, names).take(indices[places] - part.first)
            sentence[places], position[places] = (numbers_of(rows, n, "i") for n in names[:2])
            for name, into in (("token", texts), ("display", displays)):
                for place, text in zip(places.tolist(), rows.column(name).to_pylist(), strict=True):
                    into[place] = shortened(text)
        return TokenRows(tuple(texts), tuple(displays), sentence, position)

    def sentences_at(self, numbers: NDArray[np.integer]) -> list[str]:
        """The texts of the sentences with these numbers in the corpus, in this order."""
        numbers = np.asarray(numbers)
        owners = np.searchsorted(self._first_sentences, numbers, side="right") - 1
        texts: dict[int, str] = {}
        for owner in np.unique(owners).tolist():
            known, stored = self.parts[owner].texts()
            wanted = np.unique(numbers[owners == owner])
            places = np.flatnonzero(np.isin(known, wanted))
            texts |= zip(known[places].tolist(), stored.take(places).to_pylist(), strict=True)
        if missing := set(numbers.tolist()) - texts.keys():
            raise AtlasFileError(f"The atlas has no sentence {min(missing) + 1:,}.")
        return [texts[number] for number in numbers.tolist()]

    @cached_property
    def _first_sentences(self) -> NDArray[np.int64]:
        """The number of each part's first sentence."""
        return np.array([int(part.texts()[0][0]) for part in self.parts], dtype=np.int64)


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
    with open_arrays(folder / ARRAYS, _expected(description)) as read:
        facts = read_facts(description, {name: read(name) for name in expected_facts(description)})
    firsts = np.cumsum([0, *(tokens for _, tokens, _ in description.parts)]).tolist()
    parts = (
        LargePart(folder, index, first, tokens, sentences)
        for first, (index, tokens, sentences) in zip(firsts, description.parts, strict=False)
    )
    return LargeAtlas(folder, description, facts, tuple(parts))


def numbers_of(table: Table, name: str, kind: str) -> NDArray[Any]:
    """A column of numbers without gaps; `kind` is that of their type in NumPy, such as "f"."""
    column = table.column(name)
    values: NDArray[Any] = column.to_numpy()
    if column.null_count or values.dtype.kind != kind:
        raise AtlasFileError(f"The column “{name}” has gaps, or is of another type.")
    if kind == "f" and not np.isfinite(values).all():
        raise AtlasFileError(f"The column “{name}” has values that are not finite.")
    return values


def _expected(description: Description) -> Spec:
    """Shape and type of every array of a folder."""
    heads = description.layers, description.heads
    counts: Spec = {}
    if description.density:
        for stage in STAGES:
            counts[f"density.{stage}"] = ((*heads, 2, CELLS, CELLS), "uint32")
            counts[f"density.{stage}.bounds"] = ((*heads, 4), "float32")
    return expected_facts(description) | counts


def _check_parts(folder: Path, description: Description) -> None:
    """All files are there, and none is a link."""
    held = [sum(each) for each in zip(*description.parts, strict=True)][1:]
    if held != [description.tokens, description.sentences] or description.images is not None:
        raise AtlasFileError("The parts of the folder are not those of a whole atlas of texts.")
    names = [ARRAYS, SAMPLE]
    for index, *_ in description.parts:
        names += [part_file(folder, name, index).name for name in (POINTS, TOKENS, SENTENCES)]
    if any(_size(folder / name) > MAX_FILE for name in names[:2]):
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


def _words(column: ChunkedArray) -> tuple[Sequence[str], NDArray[np.integer]]:
    """Distinct texts, and the index of each entry among them."""
    whole = column.unify_dictionaries().combine_chunks()
    whole = whole.chunk(0) if hasattr(whole, "chunks") else whole
    if whole.null_count or not hasattr(whole, "dictionary"):
        raise AtlasFileError("A column of texts has gaps.")
    return whole.dictionary.to_pylist(), whole.indices.to_numpy()
