"""The two words whose logits are compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.model.errors import WrongInputError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast


def tokens_of(tokenizer: PreTrainedTokenizerFast, words: tuple[str, str]) -> tuple[int, int]:
    """The tokens of two words.

    Raises
    ------
    WrongInputError
        When a word is no token of the vocabulary, or both are the same one.
    """
    first, second = (_token_of(tokenizer, word) for word in words)
    if first == second:
        raise WrongInputError("Both words are the same token.", "Name two words that differ.")
    return first, second


def _token_of(tokenizer: PreTrainedTokenizerFast, word: str) -> int:
    """The token of a word after a blank, else of what is written, else of that name."""
    for text in (f" {word}", word):
        ids = tokenizer(text, add_special_tokens=False).input_ids
        if len(ids) == 1 and ids[0] != tokenizer.unk_token_id:
            return int(ids[0])
    named = tokenizer.get_vocab().get(word)
    if named is None:
        raise WrongInputError(
            f"{word[:80]!r} is not one token of this model's vocabulary.",
            "Name a shorter or more common word.",
        )
    return int(named)
