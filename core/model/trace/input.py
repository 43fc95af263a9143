"""The input of a trace, as pages need it: names, neighbours, distances.

A text whose tokens attend to one another, cross attention from one text to another, or an image.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from core.model.trace.parts import Array, AttentionType, Patches, Token
from core.vocabulary import Modality

AttentionKind = Literal["text", "cross", "image"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Input:
    """What attends to what: a text or a pair to itself, one text to another, or an image to itself.

    Attributes
    ----------
    tokens, key_tokens : the tokens that attend, and those that are attended to.
    kind : which tokens attend to which; for pages that differ in more than the words below.
    word : what is compared, "word" or "patch"; its plural is `words`.
    this : "this text", where what holds for it need not hold for the next.
    read : whose tokens attend: "your text".
    queries : what these tokens are called where they are counted.
    specials : what tokens that are neither words nor patches are called; "" without any.
    first : what the first key token is called.
    previous : what the neighbour at offset -1 is called.
    back : how far away that neighbour is.
    more : what to do about too few tokens, after a comma.
    key_parts : sets of keys over which views may renormalise attention; all keys come first.
    """

    tokens: tuple[Token, ...]
    key_tokens: tuple[Token, ...]
    kind: AttentionKind = "text"
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

    @property
    def modality(self) -> Modality:
        """What the model reads."""
        return "image" if self.kind == "image" else "text"

    @property
    def has_words(self) -> bool:
        """Whether tokens are words or pieces of words, which can be merged or related."""
        return self.kind != "image"

    def name(self, token: Token) -> str:
        """What a sentence calls a token, by its place."""
        if self.has_words:
            return f"token {token.position + 1}"
        return f"patch {token.display}" if token.row >= 0 else token.display

    def quoted(self, text: str) -> str:
        """The text that is attended to, preceded by the attending one where they differ."""
        if self.kind != "cross":
            return text
        return f"{' '.join(token.display for token in self.tokens)} → {text}"

    def beside(self, offset: int) -> NDArray[np.bool_]:
        """From each token to its neighbour at an offset, -1 for the one before; (token, key)."""
        if self.kind == "cross":
            return np.zeros((len(self.tokens), len(self.key_tokens)), dtype=np.bool_)
        return neighbours(self.tokens, offset)

    def apart(self) -> Array:
        """The distance from token to key in words, (token, key); inf between two texts.

        In an image, rows or columns of patches, whichever are more.
        """
        if self.kind == "cross":
            return np.full((len(self.tokens), len(self.key_tokens)), np.inf, dtype=np.float32)
        places = [
            (each.word,) if self.has_words else (each.row, each.column) for each in self.tokens
        ]
        axes = np.array(places, dtype=np.float32)
        return np.asarray(np.abs(axes[:, None] - axes).max(axis=-1))


def input_of(
    tokens: tuple[Token, ...],
    source: tuple[Token, ...] | None,
    attention_type: AttentionType,
    patches: Patches | None,
) -> Input:
    """The input of a trace with these parts."""
    if patches is not None:
        return Input(
            tokens=tokens,
            key_tokens=tokens,
            kind="image",
            word="patch",
            words="patches",
            this="this image",
            read="this image",
            specials="CLS and registers" if patches.first > 1 else "CLS" * patches.first,
            first="CLS" if patches.first else "the first patch",
            previous="the patch to the left",
            back="one patch to the left",
            more="choose a larger size",
            key_parts=(slice(None), patches.tokens),
        )
    words: dict[str, Any] = {}
    if attention_type not in {"self", "encoder"}:
        words = {"read": "what the decoder reads", "more": "give the decoder more to read"}
    if source is not None:
        words |= {"queries": "query tokens", "first": "the first token of your text"}
        return Input(tokens=tokens, key_tokens=source, kind="cross", **words)
    return Input(tokens=tokens, key_tokens=tokens, **words)


def neighbours(tokens: tuple[Token, ...], offset: int) -> NDArray[np.bool_]:
    """From each token to the one `offset` positions after it (before, if negative).

    From a patch of an image, only to patches of its own row: the next row begins on the other side.
    Boolean (token, token).
    """
    adjacent = np.eye(len(tokens), k=offset, dtype=np.bool_)
    rows = np.array([token.row for token in tokens])
    if offset == 0 or (rows < 0).all():
        return adjacent
    return np.asarray(adjacent & (rows[:, None] == rows) & (rows >= 0))
