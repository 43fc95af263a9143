"""What is looked for: words, phrases, and regular expressions that always terminate.

These are of RE2, which reads a text once, whatever the pattern.

Backtracking libraries take exponential time for some expressions and gigabytes for others. RE2
(Cox, "Regular Expression Matching in the Wild", 2010) is linear in the text and has a memory limit;
in exchange it has no look-around, back-references or recursion.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias

import re2

Step: TypeAlias = Callable[[], object]  # between two pieces of a search; what it raises ends it
Spans = Iterator[tuple[int, int]]
Kind = Literal["token", "substring", "phrase", "regex"]
KINDS: tuple[Kind, ...] = ("token", "substring", "phrase", "regex")
MAX_QUERY = 200  # characters
MEMORY = 2 * 2**20  # bytes for an expression, compiled and running: ninety of any letter fit
_UNSUPPORTED = {  # how each is written, outside of classes and quotes, in this library or others
    "look-ahead and look-behind": r"\(\?<?[=!]",
    "recursion": r"\(\?(?:R|&|P>|[+-]?\d)",
    "back-references": r"\\[1-9]|\\[kg]|\(\?P=",
    "atomic groups": r"\(\?>",
    "possessive repetitions": r"(?:[*+?]|\{[\d,]+\})\+",
    "conditions": r"\(\?\(",
    "comments": r"\(\?\#",
    "single bytes": r"\\C",
    "repetitions of more than 1,000": r"\{(?=[\d,]*\d{5})[\d,]+\}",
    "fuzzy matching (write \\{ for a brace)": r"\{[\deids<=,+ ]*[eids][\deids<=,+ ]*(?::[^}]*)?\}",
}
_MISREAD = set(list(_UNSUPPORTED)[-3:])  # RE2 would take them literally, or split a character
_PIECE = re.compile(
    "|".join(f"({form})" for form in _UNSUPPORTED.values())
    + r"|\\Q.*?(?:\\E|\Z)|\\[pPx]\{[^}]*\}|\\.|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]",
    re.DOTALL,
)
_BACKWARDS = re.compile(r"\{(\d+),(\d+)\}$")
SURROGATE = re.compile("[\ud800-\udfff]")  # half of a character, which UTF-8 cannot encode


class SearchError(ValueError):
    """The search cannot be run; the message says why."""


def no_step() -> None:
    """A `Step` that lets every search go on."""


def within(seconds: float, on_step: Step) -> Step:
    """A step that raises `SearchError` once the search has taken so many seconds from now on.

    They are of the processor, and of this thread: others' work on this machine does not count.
    """
    start = time.thread_time()

    def step() -> None:
        on_step()
        if time.thread_time() - start > seconds:
            raise SearchError(
                f"This search was stopped after {seconds} seconds. Simplify its repetitions, or"
                " search a smaller corpus."
            )

    return step


def expression(query: str, step: Step = no_step) -> Callable[[str], Spans]:
    """A function that gives the spans (first, last + 1) of an expression's matches in a text.

    Case is ignored; `step` is called before each text and after each match. Raises `SearchError`
    when the query is not an expression, needs what RE2 does not support, or is too large.
    """
    pattern = _compile(query)

    def spans(text: str) -> Spans:
        step()
        for match in pattern.finditer(SURROGATE.sub("�", text)):
            yield match.span()
            step()

    return spans


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


def _compile(query: str) -> re2._Regexp:
    names = list(_UNSUPPORTED)
    used = [names[chunk.lastindex - 1] for chunk in _PIECE.finditer(query) if chunk.lastindex]
    misread = [name for name in used if name in _MISREAD]
    if misread:
        raise _unsupported(misread[0])
    if SURROGATE.search(query):
        raise SearchError("This is not a regular expression: it has half of a character in it.")
    options = re2.Options()
    options.case_sensitive = False
    options.max_mem = MEMORY
    options.never_capture = True  # only whole matches are needed
    options.log_errors = False  # what visitors type must not be logged
    try:
        return re2.compile(query, options)
    except re2.error as error:
        raise (_unsupported(used[0]) if used else _refused(error)) from None
    finally:
        re2.purge()  # or the library would keep the last 128, with all their memory


def _unsupported(name: str) -> SearchError:
    return SearchError(
        f"This search does not support {name}: it reads each text once, so that it always ends."
    )


def _refused(error: re2.error) -> SearchError:
    """Why RE2 refuses an expression; its own message is bytes, cut anywhere."""
    (raw,) = error.args
    reason = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw)
    counts = _BACKWARDS.search(reason)
    backwards = counts is not None and int(counts[1]) > int(counts[2])
    if "pattern too large" in reason or ("repetition size" in reason and not backwards):
        return SearchError(
            "This expression repeats too much: use smaller numbers in braces. Nested ones multiply,"
            " up to 1,000."
        )
    return SearchError(f"This is not a regular expression: {reason}.")
