"""Sentences as a head reads them: each token shaded by the attention of one query token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.components.packing import pack
from core.components.scripts import register_component

_contexts = register_component("contexts")
_MAX_WHOLE = 60  # tokens: longer sentences are cut
_REACH = 14  # tokens shown on either side of the query and key tokens


@dataclass(frozen=True, eq=False)
class Context:
    """One query token's attention over its sentence.

    Attributes
    ----------
    tokens : as people read them.
    weights : (token,), the attention of the query token, 0 to 1.
    query, key : positions of the query token and of the marked key token.
    number : the sentence's number, as people read it.
    """

    tokens: Sequence[str]
    weights: NDArray[np.floating[Any]]
    query: int
    key: int
    number: int


@dataclass(frozen=True, eq=False)
class ContextGroup:
    """Contexts under one title."""

    title: str
    contexts: Sequence[Context]


def show_contexts(groups: Sequence[ContextGroup], *, key: str) -> None:
    """Draw the groups one below the other."""
    _contexts(key=key, data=_packed(groups))


def _packed(groups: Sequence[ContextGroup]) -> bytes:
    """What the component receives.

    Raises ValueError unless each context has one weight per token.
    """
    weights = [context.weights for group in groups for context in group.contexts]
    settings = [
        {"title": group.title, "contexts": [_settings(context) for context in group.contexts]}
        for group in groups
    ]
    return pack({"groups": settings}, weights=np.concatenate([np.zeros(0), *weights]))


def _settings(context: Context) -> dict[str, Any]:
    if len(context.tokens) != len(context.weights):
        raise ValueError(
            f"{len(context.tokens)} tokens have {len(context.weights)} weights of attention"
        )
    names = ("query", "key", "number")
    sent = {"tokens": list(context.tokens), "shown": shown_places(context)}
    return sent | {name: getattr(context, name) for name in names}


def shown_places(context: Context) -> list[int]:
    """Positions of the tokens shown: all, or in a long sentence those near the query or key."""
    places, ends = range(len(context.tokens)), (context.query, context.key)
    if len(places) <= _MAX_WHOLE:
        return list(places)
    return [place for place in places if any(abs(place - end) <= _REACH for end in ends)]
