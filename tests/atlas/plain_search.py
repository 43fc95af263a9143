"""A search as plain loops: every token is compared, every sentence read, every pair looked at."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from core.atlas.source import MAX_QUERY, SearchError

if TYPE_CHECKING:
    from core.atlas import Atlas
    from core.atlas.source import Kind


def search_plainly(atlas: Atlas, query: str, kind: Kind) -> tuple[list[int], int, int]:
    """Tokens that match, how many matches have one, and in how many sentences; errors too."""
    query = query.strip()
    if not 0 < len(query) <= MAX_QUERY:
        raise SearchError(query)
    if kind == "phrase":
        found, count = _in_texts(atlas, query.replace("\ud83d", "\ufffd"))
    else:
        found = _tokens(atlas, query.casefold(), whole=kind == "token")
        count = len(found)
    return found, count, len({int(atlas.tokens.sentence[token]) for token in found})


def _tokens(atlas: Atlas, query: str, *, whole: bool) -> list[int]:
    return [
        place
        for place, names in enumerate(zip(atlas.tokens.texts, atlas.tokens.displays, strict=True))
        if any(name.casefold() == query if whole else query in name.casefold() for name in names)
    ]


def _in_texts(atlas: Atlas, query: str) -> tuple[list[int], int]:
    tokens = atlas.tokens
    before, after = (r"(?<!\w)" if query[0].isalnum() or query[0] == "_" else ""), ""
    if query[-1].isalnum() or query[-1] == "_":
        after = r"(?!\w)"
    pattern = before + r"\s+".join(map(re.escape, query.split())) + after
    found, count = set[int](), 0
    for number, text in enumerate(atlas.sentences):
        own = [token for token in tokens.of_sentence(number) if not tokens.special[token]]
        for match in re.finditer(pattern, text, re.IGNORECASE):
            inside = {
                int(token)
                for token in own
                if tokens.spans[token, 0] < match.end() and tokens.spans[token, 1] > match.start()
            }
            found |= inside
            count += bool(inside)
    return sorted(found), count
