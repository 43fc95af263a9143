"""What a lesson's measures are made of: answers, their registries, and words in a trace.

A record names functions of these registries: see ``measures.py`` and ``of_heads.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple, TypeVar

import numpy as np

from core.model.trace import Array, Trace
from core.vocabulary import head_name, labels_of

Guess = int | float | tuple[int, int]


class Place(NamedTuple):
    """A layer and a head, from 0; None for the mean over all of them."""

    layer: int | None
    head: int | None


@dataclass(frozen=True)
class Answer:
    """The right answer to a question, computed from a trace.

    Attributes
    ----------
    right : all that is right: positions of key tokens from 0, pairs (layer, head) from 0, one
        number, or the index of a choice from 0.
    fields : for the words: tokens as they are, numbers as numbers. Fields whose names end in
        `token` or `word` are quoted; those that `SAFE` lists also reach the question.
    lacks : whether this text or model does not have what the step is about.
    query, row : for a token, the position that looks at it, and what that gives each key token.
    """

    right: tuple[Guess, ...]
    fields: Mapping[str, object]
    lacks: bool = False
    query: int = -1
    row: Array | None = None


class NotInTextError(LookupError):
    """The text has no such word; the message is the word."""


Measure = Callable[..., Answer]  # (trace, place, **arguments)
Mistake = Callable[[Trace, Answer], Iterable[Guess]]  # the guesses that it explains
Found = Mapping[str, Any]  # layer, head, query, key from 1; query_token, key_token
# A text of one's own: None if it lacks what is asked for, else arguments to measure it with.
Predicate = Callable[[Trace], Mapping[str, Any] | None]
_Function = TypeVar("_Function", bound=Callable[..., Any])


class _Registry(dict[str, _Function]):
    """Functions by name; a module that registers some is imported when one of them is asked for."""

    def __missing__(self, name: str) -> _Function:
        for module in ("measures", "of_heads"):
            import_module(f"core.ui.lessons.{module}")
            if name in self:
                return self[name]
        raise KeyError(name)


MEASURES: dict[str, Measure] = _Registry()
MISTAKES: dict[str, Mistake] = _Registry()
PLACES: dict[str, Callable[[Trace], Found | None]] = _Registry()  # None: the text has no such place
PREDICATES: dict[str, Predicate] = _Registry()
SAFE = ("query_token", "key_token", "layer", "head", "name", "tokens")  # give no answer away


def _registering(registry: dict[str, Any]) -> Callable[[_Function], _Function]:
    def register(function: _Function) -> _Function:
        registry[function.__name__] = function
        return function

    return register


measure, mistake = _registering(MEASURES), _registering(MISTAKES)
place_of, predicate = _registering(PLACES), _registering(PREDICATES)


def find_word(trace: Trace, word: str) -> int:
    """The position of the first token that is this word, in any case, or has this label ("it₂").

    Raises NotInTextError.
    """
    for token, label in zip(trace.tokens, labels_of(trace.tokens), strict=True):
        if word.casefold() in {token.display.casefold(), label.casefold()}:
            return token.position
    raise NotInTextError(word)


def weights_at(trace: Trace, place: Place) -> Array:
    """Attention weights at a place, float32 (token, key token)."""
    layers = range(trace.shape[0]) if place.layer is None else (place.layer,)
    each = [trace.attention(layer, place.head) for layer in layers]
    mean: Array = np.mean(each if place.head is not None else np.concatenate(each), axis=0)
    return mean


def fields_of(trace: Trace, place: Place) -> dict[str, Any]:
    """`layer` and `head` as people read them, and the `name` of the place."""
    layer, head = place
    if layer is not None and head is not None:
        number = trace.layer_labels[layer]
        return {"layer": number, "head": head + 1, "name": head_name(trace, layer, head)}
    mean = "all heads" if layer is None else f"all heads of layer {trace.layer_labels[layer]}"
    return {"name": f"the mean of {mean}"}
