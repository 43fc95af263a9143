"""What Home claims of one head, and the way to that head."""

from __future__ import annotations

import streamlit as st

from core.analysis.found_link import FoundLink
from core.analysis.found_link.words import read_words
from core.analysis.head_patterns.search import HIGHLIGHTED
from core.model import Trace
from core.ui.navigation import go_to
from core.ui.selectors import choose_head
from core.ui.words.messages import quote
from core.vocabulary import head_name, labels_of

_FAINT = 1.5  # times the uniform baseline: a mean below it is hardly a habit of the head
_UNRECOGNISED = (
    " No pair of words is picked out: this text was not recognised as English sentences."
)
_ALONE = (
    "**One word has no other word to attend to.** Type a sentence, such as “The cat slept because"
    " it was tired.”"
)


def describe(trace: Trace, link: FoundLink | None) -> str:
    """The claim in one or two sentences (Markdown), true of this text and this model."""
    if link is None:
        return _ALONE
    return _of_words(trace, link) if link.joins_words else _of_position(trace, link)


def _of_words(trace: Trace, link: FoundLink) -> str:
    query, key = (quote(label) for label in _labels(trace, link))
    what = {
        "pronoun": f"a pronoun that looks back at a noun, {_apart(link)}",
        "words": f"two words of {_where(trace, link)}",
        "across": "a word of the decoder and one of your text",
    }[link.why]
    return (
        f"**Layer {trace.layer_labels[link.layer]}, head {link.head + 1} gives {link.weight:.2f} of"
        f" the attention of** {query} **to** {key}: {what}."
    )


def _labels(trace: Trace, link: FoundLink) -> tuple[str, str]:
    return labels_of(trace.tokens)[link.query], labels_of(trace.key_tokens)[link.key]


def beyond_position(trace: Trace, link: FoundLink) -> str:
    """What the head gives such pairs whatever their words, or why no words are named (Markdown)."""
    if not link.joins_words:
        return _why_no_words(trace)
    key = quote(_labels(trace, link)[1])
    if link.why == "across":
        return f" Other tokens give {key} {link.mean:.2f} on average."
    return (
        f" It is not a matter of position: to other tokens at this distance, or to {key} from other"
        f" tokens, this head gives at most {link.mean:.2f} on average."
    )


def _apart(link: FoundLink) -> str:
    return f"{abs(link.query - link.key)} tokens away"


def _where(trace: Trace, link: FoundLink) -> str:
    if trace.tokens[link.query].segment != trace.tokens[link.key].segment:
        return "your two sentences"
    return f"one sentence, {_apart(link)}"


def _of_position(trace: Trace, link: FoundLink) -> str:
    place = "before" if link.why == "previous" else "after"
    name = f"Layer {trace.layer_labels[link.layer]}, head {link.head + 1}"
    habit = (
        f"gives {link.mean:.2f} of a token's attention to the token {place} it, on average"
        f" (a head that attends equally to all: {link.uniform:.2f})"
    )
    if link.mean < _FAINT * link.uniform:
        return f"**No head has a clear habit here.** {name} {habit}, the most of any head."
    threshold = HIGHLIGHTED[link.why].threshold
    side, more = ("above", "") if link.mean > threshold else ("below", "; no head gives more")
    return (
        f"**{name} {habit}.** That is {side} {threshold:.2f}, the threshold of a head that follows"
        f" position{more}."
    )


def _why_no_words(trace: Trace) -> str:
    """Why the head that is shown is not one that joins two words, by what the search looked at."""
    words = read_words(trace.tokens)
    if not words.prose:
        return _UNRECOGNISED
    ones = "words of one token" if words.in_pieces else "words"
    beyond = "clearly beyond what their positions explain"
    if words.pronouns.any():
        return f" No pronoun looks back at a noun, and no two {ones} are joined, {beyond}."
    return f" There is no pronoun to look back, and no two {ones} are joined {beyond}."


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
