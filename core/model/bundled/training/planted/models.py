"""The planted models: for each, the heads that are set. Scores are in nats."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from core.model.bundled.training.planted.network import (
    BEGIN_ONLY,
    EARLIER,
    FLAG,
    HEAD_DIM,
    POSITION,
    PREDICTION,
    TOKEN,
    WIDTH,
    WORDS_ONLY,
    Array,
    Network,
    always,
    one_step_back,
    reads,
    writes,
)
from core.model.bundled.training.planted.words import CODE_DIM, VOCABULARY, word_vectors

_SCALING = HEAD_DIM**-0.5  # of scores, in GPT-2
_NEAR = 4.0  # score by position, times 4 for the right one and 1.2 or less for others
_NOTHING = np.zeros((WIDTH + 1, HEAD_DIM), np.float32)
_COPY = {"value": reads(TOKEN, WORDS_ONLY), "output": writes(PREDICTION)}


def _sized(score: float) -> float:
    """By how much query and key are both multiplied for a score of that size."""
    return float(np.sqrt(score / _SCALING))


def _previous(part: slice = PREDICTION) -> dict[str, Array]:
    """Attends to the previous token, and writes its word into a part."""
    size = _sized(_NEAR)
    return {
        "query": size * reads(POSITION, one_step_back()),
        "key": size * reads(POSITION),
        "value": reads(TOKEN, WORDS_ONLY),
        "output": writes(part),
    }


def _same_word(sharpness: float, rest: float, part: slice) -> dict[str, Array]:
    """Query and key of a head that looks for the current word in a part of every token.

    The word scores `CODE_DIM` x sharpness, another word half of that or less, and the begin token
    `rest` of it: there the head rests when the word is nowhere.
    """
    size = _sized(sharpness)
    at_begin = reads(TOKEN, BEGIN_ONLY)
    return {
        "query": size * (reads(TOKEN, WORDS_ONLY) + always(rest)),
        "key": size * (at_begin + reads(part, WORDS_ONLY)),
    }


def _induction(sharpness: float, rest: float = 0.75) -> dict[str, Array]:
    """Attends to the token after an earlier copy, found by what a previous-token head wrote."""
    return _same_word(sharpness, rest, EARLIER) | _COPY


def _earlier_copy() -> dict[str, Array]:
    """Query and key of a head that attends to an earlier copy of the token, and not to itself.

    By word and position, a copy scores 51 or more, itself 40, another word 39 or less, and the
    begin token 45.7.
    """
    match, apart = _same_word(7, 0.816, TOKEN), _sized(_NEAR)
    return {
        "query": match["query"] - apart * reads(POSITION, dim=CODE_DIM),
        "key": match["key"] + apart * reads(POSITION, dim=CODE_DIM),
    }


def previous() -> Network:
    """One head does it all."""
    network = Network(seed=1)
    network.set_head(1, 2, **_previous())
    return network


def induction(seed: int = 2, sharpness: float = 1.5) -> Network:
    """A previous-token head in layer 1, and an induction head in layer 2 that needs it."""
    network = Network(seed)
    network.set_head(1, 3, **_previous(EARLIER))
    network.set_head(2, 2, **_induction(sharpness))
    return network


def saturated() -> Network:
    """The same, so sharp that attention in layer 2 has no slope left."""
    return induction(seed=3, sharpness=6.0)


def twins() -> Network:
    """The same with two previous-token heads, either of which is enough."""
    network = induction(seed=4, sharpness=4.0)
    network.set_head(1, 1, **_previous(EARLIER))
    return network


def duplicate() -> Network:
    """A head that says of a word that it stood before, and one that sees it and says nothing."""
    network = Network(seed=5)
    words_only = always(1, 1) - reads(TOKEN, BEGIN_ONLY[:, :1])  # 1 of a word, 0 at the begin token
    network.set_head(1, 4, **_earlier_copy(), value=words_only, output=writes(FLAG))
    network.set_head(2, 1, **_earlier_copy(), value=_NOTHING, output=writes(FLAG))
    usual, flagged = VOCABULARY.index("."), VOCABULARY.index("again")
    network.expected[PREDICTION] = word_vectors()[usual]
    network.head_for_words[flagged, FLAG] = 20
    return network


def sink() -> Network:
    """A head that rests on the begin token, where it finds no value, and one that works."""
    network = Network(seed=6)
    size = _sized(4)
    at_begin = {"query": size * always(1), "key": size * reads(TOKEN, BEGIN_ONLY)}
    network.set_head(1, 1, **at_begin, **_COPY)
    network.set_head(2, 3, **_previous())
    return network


MODELS: dict[str, Callable[[], Network]] = {
    "previous": previous,
    "induction": induction,
    "duplicate": duplicate,
    "sink": sink,
    "twins": twins,
    "saturated": saturated,
}
