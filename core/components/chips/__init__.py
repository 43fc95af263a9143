"""Tokens as chips: word pieces joined, special tokens set apart, ids underneath."""

from __future__ import annotations

from core.components.scripts import register_component
from core.model.trace import Token
from core.vocabulary import labels_of

_chips = register_component("chips")


def show_chips(tokens: tuple[Token, ...], *, key: str) -> None:
    """Draw the tokens of a text in reading order."""
    _chips(
        key=key,
        data=[  # Streamlit would import pandas to look for tables in a dict
            {
                "label": label,
                "text": token.text,
                "id": token.id,
                "special": token.special,
                "segment": token.segment,
                "word": token.word,
            }
            for token, label in zip(tokens, labels_of(tokens), strict=True)
        ],
    )
