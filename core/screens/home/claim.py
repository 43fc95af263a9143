"""What Home claims of one head."""

from __future__ import annotations

from core.analysis.found_link import RANDOM_LINKS, FoundLink
from core.analysis.found_link.words import read_words
from core.analysis.head_patterns.search import HIGHLIGHTED
from core.components.arcs import Claim
from core.model import Trace
from core.ui.words.messages import quote
from core.ui.words.prose import Prose
from core.ui.words.remarkable import looks_and_need
from core.vocabulary import head_name, labels_of

_words = Prose(__file__)
_FAINT = 1.5  # times the uniform baseline: a mean below it is hardly a habit of the head


def claim_of(trace: Trace, link: FoundLink) -> Claim:
    """What is true of this text and this model, in one or two sentences of plain text."""
    if link.joins_words:
        segments = {trace.tokens[link.query].segment, trace.key_tokens[link.key].segment}
        apart = abs(link.query - link.key)
        return Claim(
            tail=_words("of_words", link=link, tokens_apart=apart, sentences=len(segments))
        )
    return Claim(
        _words(
            "of_position",
            layer=trace.layer_labels[link.layer],
            head=link.head + 1,
            link=link,
            faint=link.mean < _FAINT * link.uniform,
            threshold=HIGHLIGHTED[link.why].threshold,
        )
    )


def beyond_position(trace: Trace, link: FoundLink) -> str:
    """What the head gives such pairs whatever their words, or why no words are named (Markdown)."""
    if link.joins_words:
        key_labels = labels_of(trace.key_tokens)
        return _words(
            "beyond_position",
            link=link,
            name=head_name(trace, link.layer, link.head),
            key=quote(key_labels[link.key]),
            sharp=RANDOM_LINKS[0.2],
            usual=RANDOM_LINKS[0.02],
        )
    words = read_words(trace.tokens)
    pronouns = words.pronouns.any()
    return _words("no_words", prose=words.prose, in_pieces=words.in_pieces, pronouns=pronouns)


def one_word() -> str:
    """Why there is no picture of a text of one word (Markdown)."""
    return _words("one_word")


def about_arcs(trace: Trace, link: FoundLink, missing: int) -> str:
    """What the arcs are, and what is not in the browser (Markdown)."""
    beyond = beyond_position(trace, link)
    need = looks_and_need(trace, link.layer, link.head)
    return _words("arcs", beyond=beyond, need=need, missing=missing, layers=trace.shape[0])
