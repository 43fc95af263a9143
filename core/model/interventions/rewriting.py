"""A text in which one word is another, or hidden, and which tokens are still the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.model.errors import UnsupportedModelError, WrongInputError

if TYPE_CHECKING:
    from core.model.running.loaded import LoadedModel
    from core.model.text.inputs import Input
    from core.model.trace import Token


def pieces_of(tokens: Sequence[Token], position: int) -> list[int]:
    """The positions of all tokens of the word at a position.

    Raises
    ------
    WrongInputError
        Where no word is: beyond the text, or at a token that nobody typed.
    """
    token = tokens[position] if 0 <= position < len(tokens) else None
    if token is None or token.word < 0:
        raise WrongInputError("There is no word at that place of the text.", "Choose a word.")
    return [each.position for each in tokens if each.word == token.word]


def rewritten(
    model: LoadedModel, item: Input, texts: tuple[str, str | None], word: int, by: str | None
) -> tuple[str, str | None]:
    """The text and its pair with another word at the position `word`.

    `by` stands in its place: "" leaves it out, None is the model's mask, once for each token.

    Raises
    ------
    UnsupportedModelError
        When the model has no mask.
    """
    mask = model.tokenizer.mask_token
    if by is None and mask is None:
        raise UnsupportedModelError(
            "{name} has no mask to hide a word behind.", "Type another word, or leave it out."
        )
    pieces = [item.tokens[place] for place in pieces_of(item.tokens, word)]
    of_pair = pieces[0].segment
    text = texts[of_pair] or ""
    start, end = pieces[0].span[0], pieces[-1].span[1]
    start += len(text[start:end]) - len(text[start:end].lstrip())  # some spans begin with a blank
    before, after = text[:start], text[end:]
    if by == "":
        written = (before.rstrip() + after) if before.strip() else after.lstrip()
    else:
        written = before + (" ".join([str(mask)] * len(pieces)) if by is None else by) + after
    return (texts[0], written) if of_pair else (written, texts[1])


def aligned_tokens(before: Input, after: Input, word: int | None) -> tuple[tuple[int, int], ...]:
    """The positions, before and after, of tokens that are the same; all but those of the `word`.

    Where a text was cut, those of its end may have no counterpart.
    """
    if word is None:
        return tuple((place, place) for place in range(len(before.tokens)))
    pieces = pieces_of(before.tokens, word)
    step = len(after.tokens) + after.dropped - len(before.tokens) - before.dropped
    places = [
        (place, place if place < pieces[0] else place + step)
        for place in range(len(before.tokens))
        if place not in pieces
    ]
    return tuple(
        (old, new)
        for old, new in places
        if new < len(after.tokens) and before.tokens[old].id == after.tokens[new].id
    )
