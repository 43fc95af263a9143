"""What lessons ask about words, rows, heads and layers of one text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.analysis import strongest_link as links
from core.model.trace import Trace
from core.ui.lessons.answers import (
    Answer,
    Found,
    Place,
    fields_of,
    find_word,
    measure,
    mistake,
    place_of,
    predicate,
    weights_at,
)

PRONOUNS = ("it", "she", "he", "they", "him", "her", "them")


@place_of
def strongest_link(trace: Trace) -> Found | None:
    """The strongest link between two words."""
    link = links.strongest_link(trace)
    if link is None:
        return None
    return fields_of(trace, Place(link.layer, link.head)) | {
        "query": link.query + 1,
        "key": link.key + 1,
        "query_token": trace.tokens[link.query].display,
        "key_token": trace.key_tokens[link.key].display,
    }


@measure
def strongest_key(trace: Trace, place: Place, *, query: str) -> Answer:
    """The key token that a query word attends to most."""
    position = find_word(trace, query)
    row = weights_at(trace, place)[position]
    key = int(row.argmax())
    fields = fields_of(trace, place) | {
        "query_token": trace.tokens[position].display,
        "token": trace.key_tokens[key].display,
        "weight": float(row[key]),
    }
    return Answer((key,), fields, query=position, row=row)


@mistake
def neighbour(trace: Trace, answer: Answer) -> list[int]:
    """The tokens right before and after the query word."""
    beside = {answer.query - 1, answer.query + 1}
    return sorted(beside & set(range(len(trace.key_tokens))))


@predicate
def has_pronoun(trace: Trace) -> Mapping[str, Any] | None:
    """A pronoun that is not the first word; it is the query."""
    for token in trace.tokens:
        if token.word > 0 and token.display.casefold() in PRONOUNS:
            return {"query": token.display}
    return None
