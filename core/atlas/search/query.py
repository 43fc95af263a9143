"""What is looked for: kinds of searches, the words of a phrase, what is refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal

from core.atlas.search.expression import SearchError, Spans, Step, no_step

Kind = Literal["token", "substring", "phrase", "regex"]
KINDS: tuple[Kind, ...] = ("token", "substring", "phrase", "regex")
MAX_QUERY = 200  # characters


def check_query(query: str) -> str:
    """The query without blanks around it; `SearchError` when it is empty or too long."""
    query = query.strip()
    if not query:
        raise SearchError("Type what to look for.")
    if len(query) > MAX_QUERY:
        raise SearchError(f"The search has {len(query):,} characters; the limit is {MAX_QUERY}.")
    return query


def phrase(query: str, step: Step = no_step) -> Callable[[str], Spans]:
    """Whole words: no letter or digit may touch the first or the last one; as in `expression`."""
    first, *others = map(re.escape, query.split())
    # Behind the first word, not before it: letters are compared faster than looked around.
    before = rf"(?<!\w{first})" if re.match(r"\w", query) else ""
    after = r"(?!\w)" if re.match(r"\w", query[-1]) else ""
    pattern = re.compile(r"\s+".join([first + before, *others]) + after, re.IGNORECASE)

    def spans(text: str) -> Spans:
        step()
        return map(re.Match.span, pattern.finditer(text))

    return spans
