"""What Home claims of one head, and the way to that head."""

from __future__ import annotations

import streamlit as st

from core.analysis.found_link import FoundLink
from core.analysis.found_link.words import read_words
from core.analysis.head_patterns.search import HIGHLIGHTED
from core.model import Trace
from core.ui.navigation import go_to
from core.ui.place import choose_head
from core.ui.words.messages import quote
from core.ui.words.prose import Prose
from core.vocabulary import head_name, labels_of

_words = Prose(__file__)
_FAINT = 1.5  # times the uniform baseline: a mean below it is hardly a habit of the head


def describe(trace: Trace, link: FoundLink | None) -> str:
    """The claim in one or two sentences (Markdown), true of this text and this model."""
    if link is None:
        return _words("one_word")
    query, key = _pair(trace, link)
    layer, head = trace.layer_labels[link.layer], link.head + 1
    if link.joins_words:
        segments = {trace.tokens[link.query].segment, trace.key_tokens[link.key].segment}
        return _words(
            "of_words",
            layer=layer,
            head=head,
            link=link,
            query=query,
            key=key,
            tokens_apart=abs(link.query - link.key),
            sentences=len(segments),
        )
    threshold = HIGHLIGHTED[link.why].threshold
    faint = link.mean < _FAINT * link.uniform
    return _words(
        "of_position", layer=layer, head=head, link=link, faint=faint, threshold=threshold
    )


def _pair(trace: Trace, link: FoundLink) -> tuple[str, str]:
    """The query token and the key token (Markdown)."""
    labels, key_labels = labels_of(trace.tokens), labels_of(trace.key_tokens)
    return quote(labels[link.query]), quote(key_labels[link.key])


def beyond_position(trace: Trace, link: FoundLink) -> str:
    """What the head gives such pairs whatever their words, or why no words are named (Markdown)."""
    if link.joins_words:
        return _words("beyond_position", link=link, key=_pair(trace, link)[1])
    words = read_words(trace.tokens)
    pronouns = words.pronouns.any()
    return _words("no_words", prose=words.prose, in_pieces=words.in_pieces, pronouns=pronouns)


def offer_head(trace: Trace, link: FoundLink) -> None:
    """A button that opens the head view on this head, with the query's lines held."""
    st.button(
        "Open this head",
        key="home_open_head",
        type="primary",
        help=f"{head_name(trace, link.layer, link.head)} in the head view",
        on_click=_open,
        args=(trace.layer_labels[link.layer], link.head + 1, link.query + 1, link.key + 1),
    )


def _open(layer: int, head: int, query: int, key: int) -> None:
    """Choose the head on all pages by the numbers that people read, and hold the pair."""
    choose_head(layer, head, heads=[head], to=[], cell=[query, key], **{"from": [query]})
    go_to("head_view")
