"""What the neuron view says: how to read it, examples that set its controls, the mathematics."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from core.analysis.head_patterns.search import strongest_head
from core.analysis.neuron import NeuronHead, read_head
from core.analysis.strongest_link import strongest_link
from core.components.neuron_view import NeuronState
from core.model.trace import Token
from core.ui.presets import Preset
from core.ui.words.messages import quote
from core.ui.words.numbers import number
from core.ui.words.prose import Prose
from core.vocabulary import head_name, labels_of

if TYPE_CHECKING:
    from core.model import Trace

_MANY = 24  # tokens; from about here the picture scrolls
_words = Prose(__file__)
MATHEMATICS = _words("mathematics")


def explain(head: NeuronHead, state: NeuronState) -> str:
    """How to read the rows, true for what is drawn (Markdown)."""
    many = max(len(head.queries), len(head.keys)) > _MANY
    return _words("reading", pairs=state.pairs, many=many)


def examples(trace: Trace) -> list[Preset]:
    """Pairs worth seeing, each with what was measured on this text."""
    presets = []
    link = strongest_link(trace)
    if link is not None:
        sentence = _words(
            "strongest_link",
            head=head_name(trace, link.layer, link.head),
            query=_name(trace.tokens, link.query),
            weight=link.weight,
            key=_name(trace.key_tokens, link.key),
        )
        state = _state(trace, link.layer, link.head, link.query, link.key)
        presets = [
            Preset("The strongest link", sentence, state),
            _lowest_score(trace, link.layer, link.head, link.query),
        ]
    if trace.input.beside(-1).any():
        presets.append(_previous_token(trace))
    return presets


def _previous_token(trace: Trace) -> Preset:
    """The head that looks back one token most, at its strongest pair."""
    layer, head, mean = strongest_head(trace, "previous")
    # The first pair is left out: in causal models it has little choice.
    back = np.diagonal(trace.attention(layer, head) * trace.input.beside(-1), -1)
    query = int(back[1:].argmax()) + 2 if len(back) > 1 else 1
    name = head_name(trace, layer, head)
    sentence = _words("previous_token", head=name, mean=mean, previous=trace.input.previous)
    state = _state(trace, layer, head, query, query - 1)
    return Preset(trace.input.back.capitalize(), sentence, state)


def _lowest_score(trace: Trace, layer: int, head: int, query: int) -> Preset:
    """In the same row, the permitted key with the lowest score."""
    scores = read_head(trace, layer, head).scores(query)
    key = int(np.where(np.isfinite(scores), scores, np.inf).argmin())
    score, name = number(scores[key]), _name(trace.key_tokens, key)
    sentence = _words("lowest_score", score=score, key=name)
    state = _state(trace, layer, head, query, key)
    return Preset("The pair with the lowest score", sentence, state)


def _name(tokens: tuple[Token, ...], position: int) -> str:
    return quote(labels_of(tokens)[position])


def file_note(trace: Trace) -> str:
    """The text of a saved picture."""
    return trace.input.quoted(" ".join(token.display for token in trace.key_tokens))


def _state(trace: Trace, layer: int, head: int, query: int, key: int) -> dict[str, str]:
    places = {"head": head, "query": query, "key_token": key}
    return {
        "layer": str(trace.layer_labels[layer]),
        **{name: str(place + 1) for name, place in places.items()},
        "sort": "contribution",
    }
