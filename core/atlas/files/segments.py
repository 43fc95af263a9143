"""The files that a search reads of an atlas: the tokens and sentences of many parts each.

Opening a thousand tables takes longer than looking through them. What these files have is in the
tables, too; they are read without trusting them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from core.analysis.arrays import Bools
from core.atlas.data import CorpusTexts
from core.atlas.files.description import Sizes
from core.atlas.files.errors import AtlasFileError
from core.atlas.files.facts import Spec, open_arrays, pack_arrays
from core.atlas.files.texts import as_stored, pack_texts, shortened, unpack_texts
from core.atlas.search.parts import Words
from core.atlas.whole_file import write_whole

Arrays = dict[str, NDArray[Any]]
MAX_SEGMENT = 2**31  # bytes of a file: a million tokens of the longest texts fit
SEGMENT_TOKENS = 2**20  # of a file, or of one part that has more: 20 MB, in memory while written


def segment_file(folder: Path, number: int) -> Path:
    """The file of so many parts; files are numbered from 0."""
    return folder / f"search-{number:05}.safetensors"


@dataclass(frozen=True, eq=False)
class Segment:
    """Some parts as one, read from a file of their own.

    Raises `AtlasFileError` where the file contradicts itself or the sizes here.

    Attributes
    ----------
    first : of its tokens, among all.
    count, sentences : how many tokens and sentences it has.
    """

    path: Path
    first: int
    count: int
    sentences: int

    def words(self) -> tuple[Words, Words]:
        """As :class:`core.atlas.search.parts.Searched` has it; also what follows."""
        words, pairs, vocabulary = self._words()
        first, second = ([vocabulary[i] for i in column.tolist()] for column in pairs.T)
        return (first, words), (second, words)

    def sentence(self) -> NDArray[np.integer]:
        """The number of each token's sentence in the corpus, ascending, (token,)."""
        numbers, ends = self._sentences()
        return np.repeat(numbers, np.diff(ends, prepend=0))

    def texts(self) -> tuple[NDArray[np.integer], pa.Array]:
        """The number of each sentence, and its text."""
        arrays = self._read("texts", "texts.ends")
        offsets = np.concatenate([[0], arrays["texts.ends"]])
        numbers, _ = self._sentences()
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(arrays["texts"])]
        try:
            texts = pa.Array.from_buffers(pa.large_string(), self.sentences, buffers)
            texts.validate(full=True)
        except pa.ArrowInvalid as error:
            raise self._damaged() from error
        return numbers, texts

    def spans(self) -> tuple[NDArray[np.integer], Bools]:
        """Where each token lies in its sentence, and which are in no text."""
        arrays = self._read("spans", "special")
        return arrays["spans"], arrays["special"]

    def table(self, places: NDArray[np.integer]) -> pd.DataFrame:
        """A row for each of the tokens at these places in it: what it is, where, and in what."""
        numbers, ends = self._sentences()
        own = np.searchsorted(ends, places, side="right")
        starts = np.concatenate([[0], ends])[own]
        words, pairs, vocabulary = self._words()
        return pd.DataFrame(
            {
                "token": [shortened(vocabulary[i]) for i in pairs[words[places], 1].tolist()],
                "position": places - starts + 1,
                "sentence": numbers[own] + 1,
                "text": self.texts()[1].take(own).to_pylist(),
            }
        )

    def _words(self) -> tuple[NDArray[np.uint32], NDArray[np.uint32], list[str]]:
        """Each token's pair, the texts of each pair, and the texts."""
        arrays = self._read("words", "pairs", "vocabulary", "vocabulary.ends")
        words, pairs, texts = arrays["words"], arrays["pairs"], len(arrays["vocabulary.ends"])
        # Each text is hundreds of bytes in memory, and may be a few in the file.
        if len(pairs) > self.count or texts > 2 * len(pairs):
            raise self._damaged()
        if words.max() >= len(pairs) or pairs.max() >= texts:
            raise self._damaged()
        return words, pairs, unpack_texts("vocabulary", arrays)

    def _sentences(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The number of each sentence, and where its tokens end."""
        arrays = self._read("sentences", "sentences.ends")
        numbers, ends = arrays["sentences"], arrays["sentences.ends"]
        for ascending in (np.concatenate([[-1], numbers]), np.concatenate([[0], ends])):
            if (ascending[1:] <= ascending[:-1]).any():
                raise self._damaged()
        if ends[-1] != self.count:
            raise self._damaged()
        return numbers, ends

    def _read(self, *names: str) -> Arrays:
        try:
            with open_arrays(self.path, _expected(self.count, self.sentences)) as read:
                return {name: read(name) for name in names}
        except OSError as error:
            raise self._damaged() from error

    def _damaged(self) -> AtlasFileError:
        return AtlasFileError(f"“{self.path.name}” in the folder is damaged.")


def _expected(tokens: int, sentences: int) -> Spec:
    """Shape and type of each array; -1 is a length that only the file knows."""
    return {
        "words": ((tokens,), "uint32"),  # of each token, among the pairs
        "pairs": ((-1, 2), "uint32"),  # as it is written and as it is shown, in the vocabulary
        "vocabulary": ((-1,), "uint8"),
        "vocabulary.ends": ((-1,), "int64"),
        "sentences": ((sentences,), "int32"),  # their numbers in the corpus
        "sentences.ends": ((sentences,), "int64"),  # of their tokens
        "texts": ((-1,), "uint8"),
        "texts.ends": ((sentences,), "int64"),
        "spans": ((tokens, 2), "int32"),
        "special": ((tokens,), "bool"),
    }


def write_segments(folder: Path, parts: Iterable[CorpusTexts]) -> list[Sizes]:
    """Write the files of all parts, one after the other; returns how much each file has.

    Files of an earlier writer are removed. Raises `AtlasFileError` when a file would be too large
    to be opened; `OSError` when something cannot be written.
    """
    for file in folder.glob(segment_file(folder, 0).name.replace("00000", "*")):
        file.unlink()
    sizes: list[Sizes] = []
    pairs: dict[tuple[str, str], int] = {}
    columns: list[Arrays] = []
    for part in chain(parts, [None]):
        tokens = sum(len(each["words"]) for each in columns)
        if columns and (part is None or tokens + len(part.tokens) > SEGMENT_TOKENS):
            content = pack_arrays(_joined(columns, pairs))
            if len(content) > MAX_SEGMENT:
                raise AtlasFileError(f"The texts of {tokens:,} tokens are too long to be searched.")
            write_whole(segment_file(folder, len(sizes)), content)
            sizes.append(Sizes(tokens, sum(len(each["sentences"]) for each in columns)))
            pairs, columns = {}, []
        if part is not None:
            columns.append(_columns(as_stored(part), pairs))
    return sizes


def _joined(columns: Sequence[Arrays], pairs: Mapping[tuple[str, str], int]) -> Arrays:
    """All arrays of the file of some parts."""
    vocabulary = {text: i for i, text in enumerate(dict.fromkeys(chain.from_iterable(pairs)))}
    joined = {name: np.concatenate([each[name] for each in columns]) for name in columns[0]}
    texts = joined.pop("texts").tolist()
    numbers = [[vocabulary[text] for text in pair] for pair in pairs]
    return {
        **joined,
        "sentences.ends": np.cumsum(joined["sentences.ends"]),
        "pairs": np.array(numbers, dtype=np.uint32),
        **pack_texts("vocabulary", list(vocabulary)),
        **pack_texts("texts", texts),
    }


def _columns(part: CorpusTexts, pairs: dict[tuple[str, str], int]) -> Arrays:
    """The rows of one part; of sentences how many tokens each has, and texts as they are.

    `pairs` number each token as it is written and as it is shown; new ones are added.
    """
    tokens = part.tokens
    numbers, sizes = np.unique(tokens.sentence, return_counts=True)
    both = zip(tokens.texts, tokens.displays, strict=True)
    words = [pairs.setdefault(pair, len(pairs)) for pair in both]
    return {
        "words": np.array(words, dtype=np.uint32),
        "sentences": numbers.astype(np.int32),
        "sentences.ends": sizes.astype(np.int64),
        "texts": np.array(part.sentences, dtype=np.object_),
        "spans": tokens.spans,
        "special": tokens.special,
    }
