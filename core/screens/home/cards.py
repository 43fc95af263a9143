"""From the sentence to attention, with the model's own numbers: cards on Home."""

from __future__ import annotations

from collections.abc import Sequence

from core.analysis.found_link import FoundLink
from core.analysis.found_link.steps import Steps, attention_steps
from core.components.cards import Card, show_cards
from core.model import Trace
from core.ui.words.numbers import number
from core.vocabulary import head_name, labels_of

_AROUND = 3  # tokens shown on either side of the query and of the key
_FEW = 14  # tokens that are all shown


def show_attention_cards(trace: Trace, link: FoundLink) -> None:
    """Four cards: tokens, query and key, score, attention."""
    steps = attention_steps(trace, link)
    labels, key_labels = labels_of(trace.tokens), labels_of(trace.key_tokens)
    query, key = labels[link.query], key_labels[link.key]
    shown = _tokens(labels, link.query, link.key) if trace.source is None else [query, "…", key]
    places = (shown.index(query), len(shown) - 1 - shown[::-1].index(key))
    rows = [(key_labels[at], weight, at == link.key) for at, weight in steps.weights]
    if steps.rest_count > 0:
        others = "1 other" if steps.rest_count == 1 else f"{steps.rest_count} others"
        rows.append((others, steps.rest, False))
    if steps.sink > 0:
        rows.append(("the sink", steps.sink, False))
    name = head_name(trace, link.layer, link.head)
    show_cards(
        _cards(trace, steps, name, query),
        shown,
        places,
        (steps.query, steps.key),
        _computed(steps),
        rows,
        key="home_cards",
    )


def _cards(trace: Trace, steps: Steps, name: str, query: str) -> list[Card]:
    dim = len(steps.query)
    tokens = f"The model reads your text as {len(trace.tokens)} tokens."
    if trace.source is not None:
        tokens = f"The decoder reads {len(trace.tokens)} tokens, the encoder {len(trace.source)}."
    return [
        Card("Tokens", tokens),
        Card("Query and key", f"In {name} each token has a query and a key: {dim} numbers each."),
        Card("Score", "Multiply them number by number, and add up."),
        Card(
            "Attention",
            f"Softmax turns the scores of “{query}” into shares of 1; with them the head averages"
            " the values.",
        ),
    ]


def _computed(steps: Steps) -> list[tuple[str, str]]:
    """What the score is made of, and each result."""
    dim = len(steps.query)
    scaled = f"divided by √{dim}" if steps.usual_scaling else f"times {steps.scaling:.3g}"
    lines = [
        ("query · key", number(steps.product)),
        (scaled, number(steps.product * steps.scaling)),
    ]
    if not steps.plain:
        lines.append(("with what this model adds", number(steps.score)))
    return lines


def _tokens(labels: Sequence[str], query: int, key: int) -> list[str]:
    """All tokens of a short text, else those around the pair, with "…" where some are left out."""
    if len(labels) <= _FEW:
        return list(labels)
    shown: list[str] = []
    last = -1
    for at, label in enumerate(labels):
        if min(abs(at - query), abs(at - key)) <= _AROUND:
            if at != last + 1:
                shown.append("…")
            shown.append(label)
            last = at
    return shown if last == len(labels) - 1 else [*shown, "…"]
