"""Opening the zip file of a small atlas without trusting it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray
from pyarrow import ArrowException

from core.atlas.data import SAMPLED, Atlas, CorpusTokens, Measures, values_of
from core.atlas.files.archive import ARRAYS, DESCRIPTION, POINTS, TOKENS, open_archive
from core.atlas.files.description import MAX_BYTES, Description, decode_description
from core.atlas.files.errors import AtlasFileError
from core.atlas.files.facts import Arrays, Spec, expected_facts, read_facts, unpack_arrays
from core.atlas.files.reading import Columns, read_numbers, read_points
from core.atlas.files.texts import MAX_TEXTS, check_lengths, check_sentences, unpack_texts
from core.atlas.files.writing import MAX_TOKENS

MAX_ROWS = 20_000_000  # heads times tokens: 1.6 GB of points when opened


def read_atlas(source: str | os.PathLike[str] | BinaryIO, max_rows: int = MAX_ROWS) -> Atlas:
    """The atlas in a file that :func:`write_atlas` wrote, without full vectors.

    The file is not trusted. Of a sample of a larger corpus, the sentences are numbered anew. Raises
    `AtlasFileError` when it is not an atlas, damaged, of another format, or has more rows than
    `max_rows`; `OSError` when there is no such file, or it cannot be read.
    """
    if isinstance(source, str | os.PathLike):
        with Path(source).open("rb") as file:
            return read_atlas(file, max_rows)
    try:
        return _read(source, max_rows)
    except AtlasFileError:
        raise
    except (ArrowException, OSError, ValueError, KeyError, IndexError) as error:
        raise AtlasFileError(
            f"The file is not an atlas, or it is damaged ({type(error).__name__})."
        ) from error


def _read(source: BinaryIO, max_rows: int) -> Atlas:
    archive = open_archive(source)
    description = decode_description(archive.read(DESCRIPTION, MAX_BYTES))
    tokens, sentences = _held(description, max_rows)
    expected = expected_facts(description)
    texts = _expected_texts(tokens, sentences, labelled=description.labelled)
    arrays = unpack_arrays(archive.read(ARRAYS, _max_bytes(expected | texts)), expected | texts)
    facts = read_facts(description, arrays)
    columns = read_numbers(archive.window(TOKENS), tokens)
    corpus = _tokens(arrays, columns, sentences)
    written = tuple(unpack_texts("texts.sentences", arrays))
    check_sentences(written, corpus)
    labels = unpack_texts("texts.labels", arrays) if description.labelled else []
    check_lengths(labels, "labels")
    whole = description.tokens, description.sentences
    sampled = {} if whole == (tokens, sentences) else dict(zip(SAMPLED, whole, strict=True))
    points, norms = read_points(archive.window(POINTS), description, tokens)
    return Atlas(
        **(values_of(Measures, facts) | {"settings": dict(facts.settings) | sampled}),
        sentences=written,
        labels=tuple(labels),
        tokens=corpus,
        points=points,
        norms=norms,
    )


def _held(description: Description, max_rows: int) -> tuple[int, int]:
    """How many tokens and sentences the file has; `AtlasFileError` for too many."""
    (index, tokens, sentences), *others = description.parts
    if others or index or description.segments or description.dtype != "float32":
        raise AtlasFileError("The file describes a folder of parts, and not one file.")
    heads = description.layers * description.heads
    if heads * tokens > max_rows or tokens > MAX_TOKENS:
        raise AtlasFileError(
            f"The atlas is too large to open: {heads:,} heads of {tokens:,} tokens are"
            f" {heads * tokens:,} rows, and there is room for {max_rows:,}."
        )
    if description.images is not None and sentences != description.sentences:
        raise AtlasFileError("The file has the pixels of other images than its tokens.")
    return tokens, sentences


def _expected_texts(tokens: int, sentences: int, *, labelled: bool) -> Spec:
    """Shape and type of the arrays with texts; -1 is a length that only they know."""
    lists = {"vocabulary": -1, "sentences": sentences} | ({"labels": sentences} if labelled else {})
    spec: Spec = {f"texts.{name}": ((tokens,), "int32") for name in ("token", "display")}
    for name, count in lists.items():
        spec[f"texts.{name}"] = ((-1,), "uint8")
        spec[f"texts.{name}.ends"] = ((count,), "int64")
    return spec


def _max_bytes(expected: Spec) -> int:
    """The most that the arrays can take."""
    known = [
        abs(int(np.prod(shape))) * np.dtype(kind).itemsize for shape, kind in expected.values()
    ]
    return sum(known) + MAX_TEXTS + 2**16


def _tokens(arrays: Arrays, columns: Columns, sentences: int) -> CorpusTokens:
    """The tokens, if they are in the order of their sentences."""
    numbers, own = np.unique(columns["sentence"], return_inverse=True)
    firsts = np.searchsorted(own, np.arange(sentences + 1))
    in_order = numbers.size == sentences and (np.diff(own) >= 0).all() and numbers[0] >= 0
    if not in_order or (columns["position"] != _within(firsts)).any():
        raise AtlasFileError("The tokens of the file are not in the order of their sentences.")
    spans = np.stack([columns["start"], columns["end"]], axis=1)
    if (spans[:, 0] < 0).any() or (spans[:, 0] > spans[:, 1]).any():
        raise AtlasFileError("“start” and “end” have pieces of text that end before they begin.")
    vocabulary = unpack_texts("texts.vocabulary", arrays)
    if len(vocabulary) > 2 * len(own):
        raise AtlasFileError("The file has more different texts than its tokens can.")
    check_lengths(vocabulary, "token")
    texts, displays = (
        _chosen(vocabulary, arrays[f"texts.{name}"]) for name in ("token", "display")
    )
    return CorpusTokens(
        texts=texts,
        displays=displays,
        sentence=own.astype(np.int32),
        position=columns["position"],
        word=columns["word"],
        special=columns["special"],
        spans=spans,
    )


def _within(firsts: NDArray[np.intp]) -> NDArray[np.intp]:
    """Position of each token in its sentence, from the first token of each sentence and the end."""
    return np.arange(firsts[-1]) - np.repeat(firsts[:-1], np.diff(firsts))


def _chosen(vocabulary: list[str], indices: NDArray[np.int32]) -> tuple[str, ...]:
    if (indices < 0).any() or (indices >= len(vocabulary)).any():
        raise AtlasFileError("A token of the file has a text that is not in it.")
    return tuple(vocabulary[index] for index in indices.tolist())
