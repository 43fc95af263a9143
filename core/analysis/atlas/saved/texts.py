"""Texts as an atlas's file holds them: none so long that drawing it again and again costs much.

A token is drawn in every head, so its text is sent to the browser many times. A real token has a
few letters, but what a tokenizer does not know can be as long as the line it stands in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from core.analysis.atlas.saved.errors import AtlasFileError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.analysis.atlas.data import CorpusTokens, Ints

LONGEST_TEXT = 200  # characters of a token or a label; GPT-2's longest, 128 blanks, has room
# Characters of one that is still read, and then shortened: files written before texts were
# shortened hold what stood in a line without a blank. Twice the characters of 1,024 tokens.
LONGEST_READ = 65_536
_LONE_HALVES = dict.fromkeys(range(55296, 57344), "�")


def shortened(text: str) -> str:
    """At most `LONGEST_TEXT` characters, the last an ellipsis where some were left out."""
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"


def well_formed(text: str) -> str:
    """Without halves of surrogate pairs, which no file and no browser can hold: each becomes �."""
    return text if text.isascii() else text.translate(_LONE_HALVES)


def is_well_formed(text: str) -> bool:
    """Whether it has no half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def storable_texts(texts: Sequence[str]) -> list[str]:
    """Tokens or labels as they are written."""
    return [shortened(well_formed(text)) for text in texts]


def read_texts(texts: Sequence[str], name: str) -> list[str]:
    """Tokens or labels as they are read, each different one once.

    Raises
    ------
    AtlasFileError
        When one is longer than any that was ever written, or no text.
    """
    longest = max(map(len, texts), default=0)
    if longest > LONGEST_READ:
        raise AtlasFileError(
            f"“{name}” holds a text of {longest:,} characters, longer than any token or label is."
        )
    if not all(map(is_well_formed, texts)):
        raise AtlasFileError(f"“{name}” holds half of a character (a lone surrogate).")
    return [shortened(text) for text in texts]


def storable_sentences(
    sentences: Sequence[str], tokens: CorpusTokens
) -> tuple[tuple[str, ...], Ints]:
    """Sentences as they are written, and the spans of the tokens in them.

    Tokens, and what stands between two tokens, are cut to `LONGEST_TEXT` characters: a sentence of
    n tokens has at most (2 n + 1) times as many. Without an ellipsis, so that the model splits it
    into as many tokens as before.
    """
    whole = [well_formed(text) for text in sentences]
    lengths = np.array([len(text) for text in whole])
    spans = np.minimum(tokens.spans, lengths[tokens.sentence][:, None]).astype(np.int32)
    for index in np.flatnonzero(lengths > LONGEST_TEXT):
        of_sentence = tokens.of_sentence(int(index))
        whole[index], spans[of_sentence] = _cut(whole[index], spans[of_sentence])
    return tuple(whole), spans


def check_sentences(sentences: Sequence[str], tokens: CorpusTokens) -> None:
    """See that sentences are as long as their tokens can make them, and hold all spans.

    Raises
    ------
    AtlasFileError
        When they do not.
    """
    lengths = np.array([len(text) for text in sentences])
    counts = np.bincount(tokens.sentence, minlength=len(sentences))
    too_long = np.flatnonzero(lengths > LONGEST_TEXT * (2 * counts + 1) + LONGEST_READ)
    if too_long.size:
        first = int(too_long[0])
        raise AtlasFileError(
            f"Sentence {first + 1:,} has {lengths[first]:,} characters, more than its"
            f" {counts[first]:,} tokens can have."
        )
    if (tokens.spans[:, 1] > lengths[tokens.sentence]).any():
        raise AtlasFileError("“spans” holds pieces of text that end beyond their sentence.")
    if (tokens.word < -1).any() or (tokens.word >= counts[tokens.sentence]).any():
        raise AtlasFileError("“word” counts more words than a sentence has tokens.")


def _cut(text: str, spans: Ints) -> tuple[str, Ints]:
    """`text` with each piece between two borders of `spans` cut, and where the borders are then."""
    borders = np.unique([0, len(text), *spans.ravel().tolist()])
    kept = np.minimum(np.diff(borders), LONGEST_TEXT)
    if (kept == np.diff(borders)).all():
        return text, spans
    pieces = [text[start : start + size] for start, size in zip(borders[:-1], kept, strict=True)]
    moved = np.concatenate([[0], np.cumsum(kept)]).astype(np.int32)
    return "".join(pieces), moved[np.searchsorted(borders, spans)]
