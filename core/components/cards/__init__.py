"""Cards from tokens to attention, with the numbers of one query and one key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.analysis.arrays import Floats
from core.components.packing import pack
from core.components.scripts import register

_cards = register("cards")


@dataclass(frozen=True)
class Card:
    """The words of one card: a title, and a sentence under it."""

    title: str
    sentence: str


def show_cards(
    cards: Sequence[Card],
    tokens: Sequence[str],
    pair: tuple[int, int],
    vectors: tuple[Floats, Floats],
    lines: Sequence[tuple[str, str]],
    weights: Sequence[tuple[str, float, bool]],
    *,
    key: str,
) -> None:
    """Draw four cards: tokens, query and key, score, attention; in a row, or stacked on a phone.

    Parameters
    ----------
    cards : the words of the four.
    tokens : as labels, with "…" where some are left out; `pair` are the places of the query's and
        the key's among them.
    vectors : of the query and the key, (dim,) each.
    lines : what is computed and its result, as text.
    weights : label, attention, and whether it is the key's, for each row of bars.
    """
    query, key_vector = vectors
    settings = {
        "cards": [vars(card) for card in cards],
        "tokens": list(tokens),
        "pair": list(pair),
        "lines": [list(line) for line in lines],
        "weights": [list(row) for row in weights],
    }
    _cards(key=key, data=pack(settings, query=query, key=key_vector))
