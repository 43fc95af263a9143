"""Tokens as chips: word pieces joined, special tokens set apart, ids underneath."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.analysis.attention_table import labels_of
from core.components.scripts import register

if TYPE_CHECKING:
    from core.model.trace import Token

_chips = register("chips")


def show_chips(tokens: tuple[Token, ...], *, key: str) -> None:
    """Draw the tokens of a text in reading order."""
    _chips(
        key=key,
        data={
            "tokens": [
                {
                    "label": label,
                    "text": token.text,
                    "id": token.id,
                    "special": token.special,
                    "segment": token.segment,
                    "word": token.word,
                }
                for token, label in zip(tokens, labels_of(tokens), strict=True)
            ]
        },
    )
