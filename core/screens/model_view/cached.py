"""What the model view keeps of related words, shared by all visitors."""

from __future__ import annotations

import streamlit as st

from core.analysis.head_patterns.search import Search, find_heads
from core.analysis.related_words import words
from core.analysis.related_words.heads import RelatedHeads, Scope, related_heads
from core.model.weights import embeddings
from core.ui import cache
from core.ui.cache import TraceKey

# How many of each; sizes are of one, for the bundled model.
MAX_SEARCHES = 32  # two numbers a head
MAX_RELATED = 8  # a byte a pair of tokens, 1 MB at 1,024 tokens, and 3 numbers a head


@st.cache_resource(max_entries=MAX_SEARCHES, show_spinner=False)
def heads_that(key: TraceKey, pattern: str) -> Search:
    """The heads of a text or an image that follow a pattern of `HIGHLIGHTED`."""
    return find_heads(cache.trace(*key), pattern)


@st.cache_resource(max_entries=cache.MAX_MODELS, show_spinner=False)
def vocabulary(model_name: str) -> words.Vocabulary | None:
    """How close random words of the vocabulary are; None without input embeddings."""
    sample = embeddings.sample_embeddings(cache.model(model_name))
    return None if sample is None else words.measure_vocabulary(sample)


@st.cache_resource(max_entries=MAX_RELATED, show_spinner="Looking for related words …")
def related(key: TraceKey, scope: Scope) -> tuple[words.RelatedWords, RelatedHeads] | None:
    """A text's related words and what each head gives to them; None as for `vocabulary`."""
    baseline, text_trace = vocabulary(key[0]), cache.trace(*key)
    vectors = embeddings.token_embeddings(cache.model(key[0]), text_trace)
    if baseline is None or vectors is None:
        return None
    related_words = words.related_words(text_trace.tokens, vectors, baseline)
    return related_words, related_heads(text_trace, related_words, scope)
