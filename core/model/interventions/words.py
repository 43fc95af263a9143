"""The two words whose logits are compared: those that are named, or the model's likeliest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.model.errors import WrongInputError

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedTokenizerFast

Words = Sequence[str | None]  # two; None stands for the likeliest that is not the other
Tokens = tuple[int | None, int | None]


def tokens_of(tokenizer: PreTrainedTokenizerFast, words: Words | None) -> Tokens:
    """The tokens of two words, None as for them.

    Raises
    ------
    WrongInputError
        When a word is no token of the vocabulary, or both are the same one.
    """
    first, second = (
        None if word is None else _token_of(tokenizer, word) for word in words or (None, None)
    )
    if first is not None and first == second:
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


def two_tokens(words: Tokens, logits: torch.Tensor) -> tuple[int, int]:
    """Those tokens, with the likeliest others by `logits`, (1, vocabulary), where none is named."""
    others = (each for each in logits[0].topk(2).indices.tolist() if each not in words)
    first, second = (next(others) if each is None else each for each in words)
    return first, second


def lead(words: Tokens, before: torch.Tensor, read: torch.Tensor) -> torch.Tensor:
    """How far the logit of the first word is above that of the second, (copy,)."""
    first, second = two_tokens(words, before)
    return read[:, first] - read[:, second]
