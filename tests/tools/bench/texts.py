"""Sentences of a given number of tokens of the bundled model."""

from __future__ import annotations

# Each is one entry of the vocabulary of bert-base-uncased.
_TEXT = (
    "my friend told me about this class and i love it so far she was right the brown book is "
    "sleeping now while leaves fall in autumn near old houses where a small dog found another "
    "planet behind some trees"
)
WORDS = _TEXT.split()
SPECIAL_TOKENS = 2  # [CLS] and [SEP]


def sentence_of(tokens: int, start: int = 0) -> str:
    """A text of exactly `tokens` tokens, special ones counted; another one for each `start`."""
    return " ".join(WORDS[(start + i) % len(WORDS)] for i in range(tokens - SPECIAL_TOKENS))
