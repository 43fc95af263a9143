"""The folder of an atlas: parts of whole sentences, written by any number of processes.

NAME.atlas/
  points-00000.safetensors   where every head puts the tokens of a part
  tokens.parquet, sentences.parquet   what a search reads, for all parts
  atlas.safetensors   figures of every head, and a random sample of whole sentences; written last,
                      so that a folder without it is unfinished

An atlas of images only has the last file: all images are its sample. A folder is opened only where
the server's operator put it, but it may come from elsewhere. Its files must be regular files, not
links; types, shapes, numbers and sizes are checked.
"""

from __future__ import annotations

import stat
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from core.atlas.data import SAMPLED, Atlas, CorpusTexts
from core.atlas.pixels import CorpusImages
from core.atlas.source import Source
from core.atlas.tables import (
    MAX_TEXT,
    SENTENCES,
    TOKENS,
    as_stored,
    max_lengths,
    open_tables,
    write_tables,
)
from core.records import UNFINISHED, RecordError, read_record, write_record
from core.vocabulary import STAGES

FOLDER = ".atlas"  # ending of the folder's name
ATLAS, POINTS = "atlas.safetensors", "points-{:05}.safetensors"
MAX_BYTES = 2**31  # of the sample and the figures
MAX_HEADER = 2**20  # bytes of the JSON: a hundred settings, numbers of layers
MAX_HEADS = 2048  # in all layers
MAX_TOKENS = 2_000_000  # of the sample: their texts and positions take 200 bytes each when opened
MAX_PATCH = 64  # side of a patch in pixels; models have up to 32
_COUNTS = ("tokens_cut", "characters_cut", "sentences_left_out", *SAMPLED)  # among the settings
_MAX_NAME = 4096  # characters of a model's name, which may be a folder: PATH_MAX on Linux
_MAX_SETTINGS, _MAX_SETTING = 100, 1000  # how many, and characters in each


def write_atlas(folder: Path, atlas: Atlas, parts: Iterable[CorpusTexts] = ()) -> None:
    """Write what a folder needs besides its points to be an atlas.

    `parts` are the texts of the whole corpus, in order; none for an atlas of images. Raises
    `RecordError` for anything that :func:`open_large` would not open, `OSError` if something
    cannot be written.
    """
    for unfinished in folder.glob(f"*{UNFINISHED}"):  # left by a writer that was killed
        unfinished.unlink(missing_ok=True)
    texts = as_stored(atlas.texts)
    stored = replace(
        atlas,
        **vars(texts),
        layer_numbers=atlas.layer_labels,
        depth=max(atlas.depth or 0, atlas.layer_labels[-1]),
        masks={},
        rules=(),
        vectors=None,
    )
    _check(stored)
    if atlas.images is None and write_tables(folder, parts) != atlas.corpus_size:
        raise RecordError("The parts are not of all tokens of the atlas.")
    write_record(stored, folder / ATLAS, MAX_BYTES)


def open_large(folder: Path) -> Source:
    """The atlas in a folder; apart from its sample, nothing is read until it is needed.

    Raises `RecordError` if it is not an atlas folder, has a link in place of a file, or is damaged
    in what is read immediately; `OSError` if it cannot be read.
    """
    if not stat.S_ISDIR(folder.lstat().st_mode):
        raise RecordError("The atlas is not a folder of its own.")
    if (folder / "atlas.json").exists():
        raise RecordError("The atlas was saved by an earlier version: build it again.")
    _check_own(folder / ATLAS)
    atlas = read_record(Atlas, folder / ATLAS, MAX_BYTES, MAX_HEADER)
    _check(atlas)
    if atlas.images is not None:
        return Source(atlas)
    for name in (TOKENS, SENTENCES):
        _check_own(folder / name)
    return Source(atlas, open_tables(folder, atlas.corpus_size))


def _check_own(path: Path) -> None:
    try:
        status = path.lstat()
    except FileNotFoundError:
        raise RecordError(f"The folder lacks “{path.name}”.") from None
    if not stat.S_ISREG(status.st_mode):
        raise RecordError(f"“{path.name}” in the folder is not a file of its own.")


def _check(atlas: Atlas) -> None:
    """`RecordError` for what cannot be an atlas, or is too large for a page."""
    fault = next((said for is_wrong, said in _faults(atlas) if is_wrong), None)
    if fault is not None:
        raise RecordError(fault)


def _faults(atlas: Atlas) -> Iterator[tuple[bool, str]]:
    """What may be wrong, and whether it is; each check may rely on the ones before it."""
    layers, heads = atlas.c.shape
    numbers, tokens, name = atlas.layer_numbers, atlas.tokens, atlas.model
    count = f"{layers * heads:,} heads of {len(tokens):,} tokens"
    is_large = layers * heads > MAX_HEADS or len(tokens) > MAX_TOKENS
    yield is_large, f"The atlas is too large to open: it has {count}."
    stages = (atlas.points, atlas.shares, atlas.faithfulness)
    yield any(set(each) != set(STAGES) for each in stages), "A stage of the vectors is missing."
    is_ascending = all(before < after for before, after in pairwise((0, *numbers)))
    yield (
        len(numbers) != layers or not is_ascending or not numbers[-1] <= (atlas.depth or 0) <= 4096,
        "“layer_numbers” are not those of the layers of one model.",
    )
    yield not 0 < len(name) <= _MAX_NAME or "\0" in name, "The file does not name a model."
    yield from _faults_of_settings(atlas)
    yield from _faults_of_texts(atlas)
    whole, size = atlas.corpus_size, (len(tokens), len(atlas.sentences))
    yield min(np.subtract(whole, size)) < 0, "The sample has more tokens than there are."
    yield not 0 <= atlas.measured.tokens <= whole[0], "“measured” counts more tokens than all."
    only_built = atlas.masks or atlas.rules or atlas.vectors
    yield bool(only_built), "The file has vectors or masks, which no saved atlas has."
    if atlas.images is not None:
        is_grid = _fills(atlas.images, size) and whole == size
        yield not is_grid, "“images” are no grid that the tokens of the file fill."


def _faults_of_settings(atlas: Atlas) -> Iterator[tuple[bool, str]]:
    yield len(atlas.settings) > _MAX_SETTINGS, f"“settings” has {len(atlas.settings):,} entries."
    for name, value in atlas.settings.items():
        texts = (name, value) if isinstance(value, str) else (name,)
        yield max(map(len, texts)) > _MAX_SETTING, "“settings” has a text that is too long."
        is_count = isinstance(value, int) and value >= 0
        yield name in _COUNTS and not is_count, f"“{name}” among the settings is not a count."


def _faults_of_texts(atlas: Atlas) -> Iterator[tuple[bool, str]]:
    tokens, sentence = atlas.tokens, atlas.tokens.sentence
    steps = np.diff(sentence, prepend=-1)
    starts = np.flatnonzero(steps)
    in_order = sentence.size and sentence[0] == 0 and np.isin(steps, (0, 1)).all()
    yield (
        not in_order or starts.size != len(atlas.sentences),
        "The tokens of the file are not in the order of their sentences.",
    )
    yield (
        bool((tokens.position != np.arange(sentence.size) - starts[sentence]).any()),
        "The positions of the tokens are not in the order of their sentences.",
    )
    lengths, counts = np.array([len(text) for text in atlas.sentences]), np.bincount(sentence)
    yield (
        bool((lengths > max_lengths(counts)).any()),
        "A sentence is longer than its tokens can be.",
    )
    yield (
        bool((tokens.word >= counts[sentence]).any()),
        "“word” counts more words than there are tokens.",
    )
    yield (
        bool((np.diff(tokens.spans) < 0).any() or (tokens.spans[:, 1] > lengths[sentence]).any()),
        "“spans” has pieces of text that end before they begin, or beyond their sentence.",
    )
    yield len(atlas.labels) not in (0, lengths.size), "There are not as many labels as sentences."
    longest = max(map(len, (*tokens.texts, *tokens.displays, *atlas.labels)))
    yield longest > MAX_TEXT, "A token or label is longer than any is."


def _fills(images: CorpusImages, size: tuple[int, int]) -> bool:
    """Whether patches fill the images and, with other tokens, give this many in so many images."""
    _, height, width, _ = images.pixels.shape
    return (
        0 < images.size <= MAX_PATCH
        and min(height, width) > 0 <= images.first
        and height % images.size == width % images.size == 0
        and (images.first + images.patches) * size[1] == size[0]
    )
