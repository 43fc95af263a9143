"""Texts in an atlas's file: none so long that drawing it many times is expensive.

A token is drawn in every head, so its text is sent to the browser many times. Real tokens have a
few letters, but one that a tokenizer does not know can be as long as its whole line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.atlas.data import CorpusTexts, CorpusTokens, Ints
from core.atlas.files.errors import AtlasFileError

MAX_TEXT = 200  # characters of a token or a label; GPT-2's longest, 128 blanks, fits
MAX_TEXTS = 64 * 2**20  # bytes of all texts in one file
_LONE_HALVES = dict.fromkeys(range(55296, 57344), "�")


def shortened(text: str) -> str:
    """At most `MAX_TEXT` characters, ending in an ellipsis if some were left out."""
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"


def well_formed(text: str) -> str:
    """With � for each lone surrogate, which no file and no browser can hold."""
    return text if text.isascii() else text.translate(_LONE_HALVES)


def stored_texts(texts: Sequence[str]) -> list[str]:
    """Tokens or labels as they are written."""
    stored = {text: shortened(well_formed(text)) for text in dict.fromkeys(texts)}
    return [stored[text] for text in texts]


def check_lengths(texts: Sequence[str], name: str) -> None:
    """`AtlasFileError` for tokens or labels of a file that are too long."""
    longest = max(map(len, texts), default=0)
    if longest > MAX_TEXT:
        raise AtlasFileError(
            f"“{name}” has a text of {longest:,} characters, longer than any token or label is."
        )


def pack_texts(name: str, texts: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Texts as two arrays: their bytes in UTF-8, one after the other, and where each ends."""
    chunks = [text.encode() for text in texts]
    return {
        name: np.frombuffer(b"".join(chunks), dtype=np.uint8),
        f"{name}.ends": np.cumsum([0, *map(len, chunks)], dtype=np.int64)[1:],
    }


def unpack_texts(name: str, arrays: Mapping[str, NDArray[Any]]) -> list[str]:
    """What :func:`pack_texts` packed; `AtlasFileError` when it is damaged."""
    raw, ends = arrays[name].tobytes(), arrays[f"{name}.ends"]
    starts = np.concatenate([[0], ends[:-1]])
    if ends.size == 0 or (starts > ends).any() or starts.min() < 0 or ends[-1] != len(raw):
        raise AtlasFileError(f"“{name}” has texts that end before they begin.")
    try:
        return [raw[a:b].decode() for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]
    except UnicodeDecodeError as error:
        raise AtlasFileError(f"“{name}” has bytes that are not text.") from error


def as_stored(texts: CorpusTexts) -> CorpusTexts:
    """Sentences, tokens and labels as they are written."""
    tokens = texts.tokens
    own = np.searchsorted(texts.numbers, tokens.sentence).astype(np.int32)
    sentences, spans = storable_sentences(texts.sentences, replace(tokens, sentence=own))
    words, displays, labels = (
        tuple(stored_texts(each)) for each in (tokens.texts, tokens.displays, texts.labels)
    )
    return CorpusTexts(
        replace(tokens, texts=words, displays=displays, spans=spans), sentences, labels
    )


def storable_sentences(
    sentences: Sequence[str], tokens: CorpusTokens
) -> tuple[tuple[str, ...], Ints]:
    """Sentences as written to the file, and the spans of the tokens in them.

    Tokens, and the gaps between them, are cut to `MAX_TEXT` characters, so a sentence of n tokens
    has at most (2 n + 1) times as many. There is no ellipsis: the model should split it into as
    many tokens as before.
    """
    texts = [well_formed(text) for text in sentences]
    lengths = np.array([len(text) for text in texts])
    spans = np.minimum(tokens.spans, lengths[tokens.sentence][:, None]).astype(np.int32)
    for index in np.flatnonzero(lengths > MAX_TEXT):
        own = tokens.of_sentence(int(index))
        texts[index], spans[own] = _cut(texts[index], spans[own])
    return tuple(texts), spans


def check_sentences(sentences: Sequence[str], tokens: CorpusTokens) -> None:
    """`AtlasFileError` for sentences longer than their tokens allow, or without all spans."""
    lengths = np.array([len(text) for text in sentences])
    counts = np.bincount(tokens.sentence, minlength=len(sentences))
    too_long = np.flatnonzero(lengths > MAX_TEXT * (2 * counts + 1))
    if too_long.size:
        first = int(too_long[0])
        raise AtlasFileError(
            f"Sentence {first + 1:,} has {lengths[first]:,} characters, more than its"
            f" {counts[first]:,} tokens can have."
        )
    if (tokens.spans[:, 1] > lengths[tokens.sentence]).any():
        raise AtlasFileError("“spans” has pieces of text that end beyond their sentence.")
    if (tokens.word < -1).any() or (tokens.word >= counts[tokens.sentence]).any():
        raise AtlasFileError("“word” counts more words than a sentence has tokens.")


def _cut(text: str, spans: Ints) -> tuple[str, Ints]:
    """`text` with each piece between two borders of `spans` cut, and the spans in it."""
    borders = np.unique([0, len(text), *spans.ravel().tolist()])
    sizes = np.minimum(np.diff(borders), MAX_TEXT)
    if (sizes == np.diff(borders)).all():
        return text, spans
    chunks = [text[start : start + size] for start, size in zip(borders[:-1], sizes, strict=True)]
    moved = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    return "".join(chunks), moved[np.searchsorted(borders, spans)]
