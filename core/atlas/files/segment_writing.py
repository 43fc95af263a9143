"""Writing the files that a search reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.atlas.files.errors import AtlasFileError
from core.atlas.files.facts import pack_arrays
from core.atlas.files.part import LargePart
from core.atlas.files.segment_reading import MAX_SEGMENT, segment_file
from core.atlas.files.texts import pack_texts
from core.atlas.files.writing import whole_file

SEGMENT_TOKENS = 2**20  # of a file, or of one part that has more: 20 MB, in memory while written


def write_segments(folder: Path, parts: Sequence[LargePart]) -> list[int]:
    """Write the files of all parts, one after the other; returns how many parts each file has.

    Files of an earlier writer are removed. Raises `AtlasFileError` when the tables of a part do not
    fit each other, or a file would be too large to be opened; `OSError` when something cannot be
    written.
    """
    for file in folder.glob(segment_file(folder, 0).name.replace("00000", "*")):
        file.unlink()
    sizes = []
    for number, own in enumerate(_together(parts)):
        builder = _Builder()
        for part in own:
            builder.add(part)
        content = pack_arrays(builder.arrays())
        if len(content) > MAX_SEGMENT:
            raise AtlasFileError(f"The texts of {len(own):,} parts are too long to be searched.")
        with whole_file(segment_file(folder, number)) as path:
            path.write_bytes(content)
        sizes.append(len(own))
    return sizes


def _together(parts: Sequence[LargePart]) -> Iterator[list[LargePart]]:
    """Parts in order, as many at a time as have `SEGMENT_TOKENS`, and at least one."""
    own: list[LargePart] = []
    for part in parts:
        if own and sum(each.count for each in own) + part.count > SEGMENT_TOKENS:
            yield own
            own = []
        own.append(part)
    if own:
        yield own


@dataclass
class _Builder:
    """Some parts, joined.

    Attributes
    ----------
    pairs : each token as it is written and as it is shown, by its number here.
    columns : of the arrays with a row a token or a sentence, their pieces.
    """

    pairs: dict[tuple[str, str], int] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    columns: dict[str, list[NDArray[Any]]] = field(default_factory=dict)

    def add(self, part: LargePart) -> None:
        """Add a part; `AtlasFileError` when its tokens are of other sentences than it has."""
        numbers, texts = part.texts()
        known, sizes = np.unique(part.sentence(), return_counts=True)
        if not np.array_equal(known, numbers):
            raise AtlasFileError(f"The tokens of part {part.index} are not of its sentences.")
        spans, special = part.spans()
        self.texts += texts.to_pylist()
        columns = {
            "words": self._words(part),
            "sentences": numbers.astype(np.int32),
            "sentences.sizes": sizes.astype(np.int64),
            "spans": spans.astype(np.int32),
            "special": special,
        }
        for name, values in columns.items():
            self.columns.setdefault(name, []).append(values)

    def _words(self, part: LargePart) -> NDArray[np.uint32]:
        """The number of each token's pair, (token,)."""
        (texts, text), (displays, display) = part.words()
        codes = text.astype(np.int64) * len(displays) + display
        distinct, index = np.unique(codes, return_inverse=True)
        pairs = ((texts[i], displays[j]) for i, j in _both(distinct, len(displays)))
        numbers = [self.pairs.setdefault(pair, len(self.pairs)) for pair in pairs]
        return np.array(numbers, dtype=np.uint32)[index]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All of the file."""
        texts = dict.fromkeys(chain.from_iterable(self.pairs))
        vocabulary = {text: i for i, text in enumerate(texts)}
        pairs = [[vocabulary[text] for text in pair] for pair in self.pairs]
        columns = {name: np.concatenate(chunks) for name, chunks in self.columns.items()}
        sizes = columns.pop("sentences.sizes")
        return {
            **columns,
            "sentences.ends": np.cumsum(sizes),
            "pairs": np.array(pairs, dtype=np.uint32),
            **pack_texts("vocabulary", list(vocabulary)),
            **pack_texts("texts", self.texts),
        }


def _both(codes: NDArray[np.int64], count: int) -> Iterator[tuple[int, int]]:
    first, second = np.divmod(codes, count)
    return zip(first.tolist(), second.tolist(), strict=True)
