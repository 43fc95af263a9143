"""Whether a regular expression of a tokenizer ends soon, whatever the text.

Its engine backtracks (Oniguruma): `(a|a)*[^a]` takes longer than anyone waits on forty letters, and
`a*a*a*[^a]` on a thousand. Those of published tokenizers are a list of alternatives with one or two
loops each, and where there are two, nothing must follow: n characters then take n^2 steps at most.
Only such pass; named groups, references to groups and conditions do not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from math import prod
from typing import NamedTuple

_MAX_LENGTH = 1_000  # characters; GPT-4o's pattern has 340
_MAX_REPEATS = 16  # of what has an end; more count as a loop
_MAX_WAYS = 256  # in which the parts of one alternative that may vary in length can be combined
_OPENING = re.compile(r"\((?:\?(?:[:=!>]|<[=!]|[ims-]+:))?")
_FLAGS_AT_START = re.compile(r"\(\?[ims]+\)")
_ESCAPE = re.compile(
    r"\\(?:[pP]\{[^{}]*\}|x\{[0-9A-Fa-f]+\}|[dDwWsShHnrtfvaebBAzZpPxu]|[^0-9A-Za-z])"
)
_QUANTIFIER = re.compile(r"(?:([*+?])([+?]?)|\{(\d*)(,?)(\d*)\}(\??))(?![*+?])", re.ASCII)
_ENDLESS = 10**9


class _WildError(Exception):
    """It may take for ever, or is not understood."""


@dataclass(frozen=True)
class _Part:
    """What is known of a part of a pattern.

    Attributes
    ----------
    loops : how many loops without an end it runs through, one after the other.
    ways : in how many ways the rest of it may vary in length.
    needed : whether it can fail to match.
    needs_more : whether something needed stands behind the last loop in it.
    forks : whether there are alternatives in it.
    """

    loops: int = 0
    ways: int = 1
    needed: bool = True
    needs_more: bool = False
    forks: bool = False


class _Read(NamedTuple):
    part: _Part
    end: int


def ends_soon(pattern: str) -> bool:
    """Whether a pattern is of the kind that ends soon."""
    if len(pattern) > _MAX_LENGTH:
        return False
    start = _FLAGS_AT_START.match(pattern)
    try:
        read = _alternatives(pattern, start.end() if start else 0)
    except (_WildError, RecursionError):
        return False
    return read.end == len(pattern)


def _alternatives(pattern: str, place: int) -> _Read:
    """What stands up to the end of a group, or of the pattern."""
    branches = []
    while True:
        part, place = _sequence(pattern, place)
        branches.append(part)
        if pattern[place : place + 1] != "|":
            break
        place += 1
    return _Read(
        _Part(
            loops=max(each.loops for each in branches),
            ways=max(each.ways for each in branches),
            needs_more=any(each.needs_more for each in branches),
            forks=len(branches) > 1 or branches[0].forks,
        ),
        place,
    )


def _sequence(pattern: str, place: int) -> _Read:
    """One alternative."""
    parts = []
    while place < len(pattern) and pattern[place] not in "|)":
        part, place = _item(pattern, place)
        if found := _QUANTIFIER.match(pattern, place):
            part, place = _repeated(part, found), found.end()
        parts.append(part)
    return _Read(_in_a_row(parts), place)


def _in_a_row(parts: list[_Part]) -> _Part:
    loops, needs_more = 0, False
    for part in parts:
        if loops > 1 and part.needed and not part.loops:
            raise _WildError
        loops += part.loops
        needs_more = part.needs_more if part.loops else needs_more or part.needed
        if loops > 1 and needs_more and part.loops:
            raise _WildError
        if loops > 2 and part.needed:
            raise _WildError
    ways = prod(part.ways for part in parts)
    if ways > _MAX_WAYS:
        raise _WildError
    forks = any(part.forks for part in parts)
    return _Part(loops=loops, ways=ways, needs_more=needs_more and loops > 0, forks=forks)


def _item(pattern: str, place: int) -> _Read:
    """A group, a class of characters, or one character."""
    character = pattern[place]
    if character == "(":
        opening = _OPENING.match(pattern, place)
        if opening is None or pattern[opening.end() : opening.end() + 1] == "?":
            raise _WildError
        part, end = _alternatives(pattern, opening.end())
        if pattern[end : end + 1] != ")":
            raise _WildError
        return _Read(part, end + 1)
    if character == "[":
        return _Read(_Part(), _end_of_class(pattern, place))
    if character == "\\":
        escape = _ESCAPE.match(pattern, place)
        if escape is None:
            raise _WildError
        return _Read(_Part(), escape.end())
    if character in "*+?{":  # a quantifier of nothing, or of another
        raise _WildError
    return _Read(_Part(), place + 1)


def _end_of_class(pattern: str, place: int) -> int:
    """Where a class ends; classes may hold others."""
    depth = 0
    while place < len(pattern):
        character = pattern[place]
        if character == "[":
            depth += 1
            place += 1 + pattern.startswith("^", place + 1)
            place += pattern.startswith("]", place)  # the first one is itself
            continue
        depth -= character == "]"
        place += 2 if character == "\\" else 1
        if depth == 0:
            return place
    raise _WildError


def _repeated(part: _Part, quantifier: re.Match[str]) -> _Part:
    low, high = _bounds(quantifier)
    if high > 1 and (part.loops or part.ways > 1 or part.forks):  # each round could go another way
        raise _WildError
    needed = part.needed and low > 0
    if high > _MAX_REPEATS and low != high:
        return replace(part, loops=1, needed=needed)
    return replace(part, ways=part.ways * (high - low + 1), needed=needed)


def _bounds(quantifier: re.Match[str]) -> tuple[int, int]:
    """The fewest and the most repeats."""
    sign, _, low, comma, high, _ = quantifier.groups()
    if sign:
        return int(sign == "+"), 1 if sign == "?" else _ENDLESS
    if not low and not high:  # `{}` and `{,}` are no quantifiers in every engine
        raise _WildError
    least = int(low or 0)
    most = int(high) if high else (_ENDLESS if comma else least)
    if not least <= most or least > _MAX_REPEATS:
        raise _WildError
    return least, most
