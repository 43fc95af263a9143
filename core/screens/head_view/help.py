"""What the head view page says: how to read it, examples that set its controls, the mathematics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from core.analysis.head_patterns.search import find_heads, strongest_head
from core.analysis.strongest_link import strongest_link
from core.ui.presets import Preset
from core.ui.words.messages import quote
from core.ui.words.pattern_words import words_for
from core.ui.words.prose import Prose
from core.vocabulary import head_name, labels_of

if TYPE_CHECKING:
    from core.model import Trace

_MANY = 64  # tokens; from about here the picture scrolls
_words = Prose(__file__)
MATHEMATICS = _words("mathematics")


def explain(trace: Trace, view: Mapping[str, Any]) -> str:
    """How to read the picture, true for what is on the screen."""
    many = max(len(trace.tokens), len(trace.key_tokens)) > _MANY
    return _words("reading", weigh=view["weigh"], many=many)


def examples(trace: Trace) -> list[Preset]:
    """Settings worth seeing on this text; heads are measured, not listed."""
    presets = []
    link = strongest_link(trace)
    if link is not None:
        sentence = _words(
            "strongest_link",
            head=head_name(trace, link.layer, link.head),
            weight=link.weight,
            query=quote(labels_of(trace.tokens)[link.query]),
            key=quote(labels_of(trace.key_tokens)[link.key]),
            cross=trace.source is not None,
            units=trace.input.words,
        )
        state = _state(trace, link.layer, heads=[link.head + 1], **{"from": [link.query + 1]})
        presets.append(Preset(f"One head, one {trace.input.word}", sentence, state))
    if trace.input.beside(-1).any():
        presets.append(_token_before(trace))
    if trace.input.specials:
        presets.append(_resting_layer(trace))
    return presets


def _token_before(trace: Trace) -> Preset:
    layer, head, mean = strongest_head(trace, "previous")
    name = head_name(trace, layer, head)
    return Preset(
        trace.input.previous.capitalize(),
        _words("token_before", head=name, back=trace.input.back, mean=mean),
        _state(trace, layer, heads=[head + 1]),
    )


def _resting_layer(trace: Trace) -> Preset:
    """The layer that gives most to special tokens and marks."""
    resting = find_heads(trace, "delimiters").scores.mean(axis=1)  # (layer,)
    layer = int(resting.argmax())
    sentence = _words(
        "resting_layer",
        layer=trace.layer_labels[layer],
        share=resting.max(),
        where=words_for(trace)["delimiter"].where,
    )
    return Preset("What attention brings", sentence, _state(trace, layer, weigh="value"))


def _state(trace: Trace, layer: int, **changes: Any) -> dict[str, Any]:  # noqa: ANN401 - values of widgets
    """The page's state for a `layer` (from 0), with `changes`."""
    return {"layer": str(trace.layer_labels[layer]), **changes}
