"""What a trace was made of, as pages ask for it: names, neighbours, distances.

A text whose tokens attend to one another, cross attention from one text to another, or an image.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from core.model.trace.parts import Array, AttentionType, Patches, Token
from core.vocabulary import Modality

Kind = Literal["text", "cross", "image"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Input:
    """A text, or a pair of them, whose tokens attend to one another.

    Attributes
    ----------
    tokens, key_tokens : those that attend, and those that are attended to.
    kind : whose tokens attend to whose; where a page must differ in more than the words below.
    modality : what the model reads.
    has_words : whether tokens are words or pieces of words, which can be merged or related.
    word : what is compared, "word" or "patch"; its plural is `words`.
    this : "this text", where what holds for it need not hold for the next.
    read : whose tokens attend: "your text".
    queries : what these tokens are called where they are counted.
    specials : what the tokens are called that are no word and no patch; "" where there are none.
    first : what the first key token is called.
    previous : what the neighbour at offset -1 is called.
    back : the way there.
    more : what to do about too few tokens, after a comma.
    key_parts : the keys that views may divide attention by the sum over: all of them first.
    """

    tokens: tuple[Token, ...]
    key_tokens: tuple[Token, ...]
    kind: Kind = "text"
    modality: Modality = "text"
    has_words: bool = True
    word: str = "word"
    words: str = "words"
    this: str = "this text"
    read: str = "your text"
    queries: str = "tokens"
    specials: str = "special tokens"
    first: str = "the first token"
    previous: str = "the token before"
    back: str = "one token back"
    more: str = "use a longer text"
    key_parts: tuple[slice, ...] = (slice(None),)

    def name(self, token: Token) -> str:
        """One of the tokens in a sentence, by its place."""
        return f"token {token.position + 1}"

    def quoted(self, text: str) -> str:
        """The text that attention goes to, after what goes to it where that is another one."""
        return text

    def beside(self, offset: int) -> NDArray[np.bool_]:
        """From each token to its neighbour at an offset, -1 for the one before; (token, key)."""
        return neighbours(self.tokens, offset)

    def apart(self) -> Array:
        """How many words stand from one to the other, (token, key); inf between two texts."""
        return _chessboard([(token.word,) for token in self.tokens])


@dataclass(frozen=True, eq=False, kw_only=True)
class _CrossInput(Input):
    """Two texts: the tokens of what a decoder reads attend to those of the other."""

    kind: Kind = "cross"
    queries: str = "query tokens"
    first: str = "the first token of your text"

    def quoted(self, text: str) -> str:
        return f"{' '.join(token.display for token in self.tokens)} → {text}"

    def beside(self, offset: int) -> NDArray[np.bool_]:  # noqa: ARG002 - no neighbour at any
        return np.zeros((len(self.tokens), len(self.key_tokens)), dtype=np.bool_)

    def apart(self) -> Array:
        return np.full((len(self.tokens), len(self.key_tokens)), np.inf, dtype=np.float32)


@dataclass(frozen=True, eq=False, kw_only=True)
class _ImageInput(Input):
    """An image: its tokens are patches in a grid, after what special ones the model has."""

    kind: Kind = "image"
    modality: Modality = "image"
    has_words: bool = False
    word: str = "patch"
    words: str = "patches"
    this: str = "this image"
    read: str = "this image"
    previous: str = "the patch to the left"
    back: str = "one patch to the left"
    more: str = "choose a larger size"

    def name(self, token: Token) -> str:
        return f"patch {token.display}" if token.row >= 0 else token.display

    def apart(self) -> Array:
        return _chessboard([(token.row, token.column) for token in self.tokens])


def input_of(
    tokens: tuple[Token, ...],
    source: tuple[Token, ...] | None,
    attention_type: AttentionType,
    patches: Patches | None,
) -> Input:
    """The input of a trace with these parts."""
    if patches is not None:
        specials = "CLS and registers" if patches.first > 1 else "CLS" * patches.first
        first = "CLS" if patches.first else "the first patch"
        parts = (slice(None), patches.tokens)
        return _ImageInput(
            tokens=tokens, key_tokens=tokens, specials=specials, first=first, key_parts=parts
        )
    key_tokens = tokens if source is None else source
    of_kind = Input if source is None else _CrossInput
    if attention_type in {"self", "encoder"}:
        return of_kind(tokens=tokens, key_tokens=key_tokens)
    read, more = "what the decoder reads", "give the decoder more to read"
    return of_kind(tokens=tokens, key_tokens=key_tokens, read=read, more=more)


def neighbours(tokens: tuple[Token, ...], offset: int) -> NDArray[np.bool_]:
    """From each token to the one `offset` positions after it (before, if negative).

    From a patch of an image, only to patches of its own row: the next row begins on the other side.
    Boolean (token, token).
    """
    beside = np.eye(len(tokens), k=offset, dtype=np.bool_)
    rows = np.array([token.row for token in tokens])
    if offset == 0 or (rows < 0).all():
        return beside
    return np.asarray(beside & (rows[:, None] == rows) & (rows >= 0))


def _chessboard(places: list[tuple[int, ...]]) -> Array:
    """The largest difference of two places along any of their axes, (token, token)."""
    axes = np.array(places, dtype=np.float32)
    return np.asarray(np.abs(axes[:, None] - axes).max(axis=-1))
