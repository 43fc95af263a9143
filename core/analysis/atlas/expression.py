"""Regular expressions that always end: RE2, which reads a text once whatever is asked for.

A backtracking library takes exponential time for some expressions, and gigabytes for others. RE2
(Cox, "Regular Expression Matching in the Wild", 2010) is linear in the text, and its memory has a
limit; for that it does without what cannot be had so: look-around, back-references, recursion.
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

import re2

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Spans = Iterator[tuple[int, int]]

TIME_LIMIT = 0.8  # seconds an expression may take over the whole corpus
MEMORY = 2 * 2**20  # bytes for an expression, compiled and at work: ninety of any letter fit
_UNKNOWN = {  # outside of classes and quotes; how each is written, in this library or in others
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
_READ_OTHERWISE = set(list(_UNKNOWN)[-3:])  # as itself, or where a character is cut in two
_PIECE = re.compile(
    "|".join(f"({form})" for form in _UNKNOWN.values())
    + r"|\\Q.*?(?:\\E|\Z)|\\[pPx]\{[^}]*\}|\\.|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]",
    re.DOTALL,
)
_BACKWARDS = re.compile(r"\{(\d+),(\d+)\}$")
_HALF = re.compile("[\ud800-\udfff]")  # of a character beyond 16 bits: UTF-8 has no place for it


class SearchError(ValueError):
    """What was typed cannot be searched for; the message says why."""


def expression(query: str) -> Callable[[str], Spans]:
    """Where an expression matches in a text, one match after the other: first and last + 1.

    Case never matters. All texts together may take ``TIME_LIMIT``.

    Raises
    ------
    SearchError
        When it is no expression, asks for what RE2 does not know, or is too large; from the
        function that is given back, when it takes too long.
    """
    pattern = _compile(query)
    left = TIME_LIMIT

    def spans(text: str) -> Spans:
        nonlocal left
        _stop_if(left <= 0)
        began = time.monotonic()
        try:
            for found in pattern.finditer(_HALF.sub("�", text)):
                yield found.span()
                _stop_if(time.monotonic() - began > left)
        finally:
            left -= time.monotonic() - began

    return spans


def _stop_if(late: bool) -> None:
    if late:
        raise SearchError(
            f"This expression was stopped after {TIME_LIMIT} seconds. Make its repetitions simpler,"
            " or search a smaller corpus."
        )


def _compile(query: str) -> re2._Regexp:
    asked = [_name_of(piece) for piece in _PIECE.finditer(query) if piece.lastindex]
    unknown = [name for name in asked if name in _READ_OTHERWISE]
    if unknown:
        raise _not_known(unknown[0])
    if _HALF.search(query):
        raise SearchError("This is no regular expression: it holds half a character.")
    options = re2.Options()
    options.case_sensitive = False
    options.max_mem = MEMORY
    options.never_capture = True  # only whole matches are asked for
    options.log_errors = False  # what a visitor types is in no log
    try:
        return re2.compile(query, options)
    except re2.error as error:
        if asked:
            raise _not_known(asked[0]) from None
        raise _refused(error) from None
    finally:
        re2.purge()  # the library would keep the last 128, with all their memory


def _name_of(piece: re.Match[str]) -> str:
    return list(_UNKNOWN)[(piece.lastindex or 1) - 1]


def _not_known(name: str) -> SearchError:
    return SearchError(
        f"This search does not know {name}: it reads each text once, so that it always ends."
    )


def _refused(error: re2.error) -> SearchError:
    """In words; the library's are bytes, cut anywhere."""
    (said,) = error.args
    words = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
    counts = _BACKWARDS.search(words)
    backwards = counts is not None and int(counts[1]) > int(counts[2])
    if "pattern too large" in words or ("repetition size" in words and not backwards):
        return SearchError(
            "This expression repeats too much: make the numbers in braces smaller. Nested ones"
            " count multiplied, up to 1,000."
        )
    return SearchError(f"This is no regular expression: {words}.")
