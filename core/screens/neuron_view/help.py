"""What the neuron view says: how to read it, examples that set its controls, the mathematics."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from core.analysis.head_patterns.search import strongest_head
from core.analysis.neuron import NeuronHead, read_head, strongest_position
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


def explain(head: NeuronHead, state: NeuronState, *, is_cross: bool = False) -> str:
    """How to read the rows, true for what is drawn (Markdown)."""
    rule = head.rule
    return _words(
        "reading",
        pairs=state.pairs,
        is_cross=is_cross,
        many=max(len(head.queries), len(head.keys)) > _MANY,
        first=head.sharers.start + 1,
        last=head.sharers.stop,
        masked=rule.mask is not None and not np.isfinite(rule.mask).all(),
    )


def examples(trace: Trace) -> list[Preset]:
    """Pairs worth seeing, each with what was measured on this text."""
    presets = []
    link = strongest_link(trace)
    if link is not None:
        query, key = _name(trace.tokens, link.query), _name(trace.key_tokens, link.key)
        names = _words("strongest_link", query=query, weight=link.weight, key=key)
        pair = (link.layer, link.head, link.query, link.key)
        presets = [
            _preset(trace, "The strongest link", names, *pair),
            _lowest_score(trace, *pair[:3]),
        ]
    if trace.input.beside(-1).any():
        presets.append(_previous_token(trace))
    layer, head, position, weight = strongest_position(trace)
    if weight > 0:
        presets.append(_resting_place(trace, layer, head, position, weight))
    return presets


def _previous_token(trace: Trace) -> Preset:
    """The head that looks back one token most, at its strongest pair."""
    layer, head, mean = strongest_head(trace, "previous")
    # The first pair is left out: in causal models it has little choice.
    back = np.diagonal(trace.attention(layer, head) * trace.input.beside(-1), -1)
    query = int(back[1:].argmax()) + 2 if len(back) > 1 else 1
    sentence = _words("previous_token", mean=mean, previous=trace.input.previous)
    return _preset(trace, trace.input.back.capitalize(), sentence, layer, head, query, query - 1)


def _resting_place(trace: Trace, layer: int, head: int, position: int, weight: float) -> Preset:
    """The head that rests most on one position, with the query that gives it most."""
    weights = trace.attention(layer, head)[:, position].copy()
    if trace.source is None:
        weights[position] = 0
    query = int(weights.argmax()) if weights.any() else position
    sentence = _words("resting_place", weight=weight, key=_name(trace.key_tokens, position))
    state = _state(trace, layer, head, query, position)
    return Preset("A key that attracts every query", sentence, state)


def _lowest_score(trace: Trace, layer: int, head: int, query: int) -> Preset:
    """In the same row, the permitted key with the lowest score."""
    scores = read_head(trace, layer, head).scores(query)
    key = int(np.where(np.isfinite(scores), scores, np.inf).argmin())
    score, name = number(scores[key]), _name(trace.key_tokens, key)
    sentence = _words("lowest_score", score=score, key=name)
    return _preset(trace, "The pair with the lowest score", sentence, layer, head, query, key)


def _preset(
    trace: Trace, title: str, sentence: str, layer: int, head: int, query: int, key: int
) -> Preset:
    """An example that also says how many products make the pair's dot product."""
    needed = read_head(trace, layer, head).dimensions_needed(query, key)
    name, size = head_name(trace, layer, head), trace.shape[3]
    sentence = _words("parts", sentence=sentence, head=name, needed=needed, size=size)
    return Preset(title, sentence, _state(trace, layer, head, query, key))


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
