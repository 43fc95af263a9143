"""Phrases that could fill the memory or never end, over a corpus of the sample's size."""

from __future__ import annotations

from core.atlas import Atlas, build_atlas, search_tokens
from core.atlas.source import MAX_QUERY
from core.corpus.sample import sample_sentences
from tests.atlas.files import read_words, trace_of

EXTRA_MB = 60
LONG_LINE = "wordwordwordwordwordwordword " * 1_000  # thirty characters a token: the longest texts


def prepare() -> None:
    """What a server has before: the corpus, the library, and its thread's own memory."""
    global _atlas  # noqa: PLW0603 - one for all attacks
    _atlas = _written([*sample_sentences(), LONG_LINE])
    search_tokens(_atlas, "she", "phrase")


def phrases() -> None:
    """Words that almost match, over and over."""
    for query in (
        "word " * 40,
        "w" * MAX_QUERY,
        "a " * 100,
        "((((" * 50,
        "\\" * MAX_QUERY,
        "(a+)+$",
    ):
        search_tokens(_atlas, query[:MAX_QUERY], "phrase")


def _written(texts: list[str]) -> Atlas:
    traces = [trace_of(read_words(text), 0, layers=1, heads=1, kv_heads=1, dim=1) for text in texts]
    return build_atlas(traces, texts)


_atlas: Atlas


ATTACKS = (phrases,)
