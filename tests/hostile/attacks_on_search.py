"""Expressions and phrases that fill the memory or never end, over a corpus of the sample's size."""

from __future__ import annotations

from core.analysis.corpus.sample import sample_sentences
from core.atlas import Atlas, build_atlas, search_tokens
from core.atlas.search import SearchError
from core.atlas.search.expression import MAX_QUERY
from tests.atlas.corpora import read_words, trace_of

EXTRA_MB = 60  # an expression's own limit is 2 MB; the rest is Python's
LONG_LINE = "wordwordwordwordwordwordword " * 1_000  # thirty characters a token: the longest texts
EXPRESSIONS = (
    "(?R)?e",
    "(?:a|(?R))*e",
    "(?P<n>a|(?&n)(?&n))*e",
    "(?:a{1000}){1000}",
    "((a{1000}){1000}){1000}",
    "(?:(?:a{1,31}){1,31})[z?]",
    "(a|aa)+[z?]",
    "((((.*)*)*)*)*x",
    "(?:word){e<=20}",
    "(?b)(?:wordwordword){e}",
    r"\pL{1000}",
    r"(?:\pL\pN\pM\pS\pP){20}",
    r"(?:[\x{0}-\x{10FFFF}]?){1000}!!",
    r"[\pL\pN\pM]{90}",
    r"(?:.?){1000}z",
    "(?:.{0,500}o){2}z",
    "(?:(?:.?){1000}z|.)",
    ".",
    "(" * 100,
    "(" * 60 + "a" + ")*" * 60,
    "a?" * 100,
    ".*" * 100,
    "[a-z]" * 40,
    "(?:[^q]{0,99}[^r]{0,99}){0,9}zz",
    r"\Q" * 100,
)


def prepare() -> None:
    """What a server has before: the corpus, the library, and its thread's own memory."""
    global _atlas  # noqa: PLW0603 - one for all attacks
    _atlas = _written([*sample_sentences(), LONG_LINE])
    search_tokens(_atlas, "she", "regex")


def expressions() -> None:
    """Each is answered, or refused with a sentence; together they leave nothing behind."""
    for query in EXPRESSIONS:
        _ask(query, "regex")


def phrases() -> None:
    """Words that almost match, over and over."""
    for query in ("word " * 40, "w" * MAX_QUERY, "a " * 100, "((((" * 50, "\\" * MAX_QUERY):
        _ask(query, "phrase")


def _ask(query: str, kind: str) -> None:
    try:
        search_tokens(_atlas, query[:MAX_QUERY], kind)  # type: ignore[arg-type]
    except SearchError as error:
        assert str(error)  # noqa: PT017


def _written(texts: list[str]) -> Atlas:
    traces = [trace_of(read_words(text), 0, layers=1, heads=1, kv_heads=1, dim=1) for text in texts]
    return build_atlas(traces, texts)


_atlas: Atlas


ATTACKS = (expressions, phrases)
