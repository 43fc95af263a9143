"""A search as plain loops: every token is compared, every sentence read, every pair looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.atlas.search.expression import SURROGATE, check_query, expression, phrase

if TYPE_CHECKING:
    from core.atlas import Atlas
    from core.atlas.search.expression import Kind


def search_plainly(atlas: Atlas, query: str, kind: Kind) -> tuple[list[int], int, int]:
    """Tokens that match, how many matches have one, and in how many sentences; errors too."""
    query = check_query(query)
    if kind in ("token", "substring"):
        found = _tokens(atlas, query.casefold(), whole=kind == "token")
        count = len(found)
    else:
        found, count = _in_texts(atlas, query, kind)
    return found, count, len({int(atlas.tokens.sentence[token]) for token in found})


def _tokens(atlas: Atlas, query: str, *, whole: bool) -> list[int]:
    return [
        place
        for place, names in enumerate(zip(atlas.tokens.texts, atlas.tokens.displays, strict=True))
        if any(name.casefold() == query if whole else query in name.casefold() for name in names)
    ]


def _in_texts(atlas: Atlas, query: str, kind: Kind) -> tuple[list[int], int]:
    tokens = atlas.tokens
    spans = phrase(SURROGATE.sub("�", query)) if kind == "phrase" else expression(query)
    found, count = set[int](), 0
    for number, text in enumerate(atlas.sentences):
        own = [token for token in tokens.of_sentence(number) if not tokens.special[token]]
        for first, end in spans(text):
            inside = {
                int(token)
                for token in own
                if tokens.spans[token, 0] < end and tokens.spans[token, 1] > first
            }
            if end > first and inside:
                found |= inside
                count += 1
    return sorted(found), count
