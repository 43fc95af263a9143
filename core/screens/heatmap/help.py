"""What the heatmap page says: how to read it, examples that set its controls, the mathematics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.analysis.attention_table import AttentionTable
from core.analysis.head_patterns.search import strongest_head
from core.analysis.strongest_link import strongest_link
from core.ui.presets import Preset
from core.ui.words.messages import quote
from core.ui.words.prose import Prose
from core.vocabulary import head_name, labels_of

if TYPE_CHECKING:
    from core.model import Trace

_words = Prose(__file__)
MATHEMATICS = _words("mathematics")


def explain(table: AttentionTable) -> str:
    """How to read the table, true for what is on the screen."""
    low, high = table.row_sums.min(), table.row_sums.max()
    return _words(
        "reading",
        scores=table.kind == "scores",
        sums="1" if table.rows_sum_to_one else f"{low:.2f} to {high:.2f}",
        hatched=not table.permitted.all(),
        hidden=table.hidden,
    )


def examples(trace: Trace) -> list[Preset]:
    """Settings worth seeing on this text; heads are measured, not listed."""
    layers, heads = trace.shape[:2]
    middle, layer_labels = layers // 2, trace.layer_labels
    of_last = _words("last_layer", layer=layer_labels[-1], heads=heads)
    presets = [Preset("Mean of the last layer", of_last, _state(layer_labels[-1], "mean"))]
    if (link := strongest_link(trace, layers=(middle,))) is not None:
        sentence = _words(
            "strongest_link",
            head=head_name(trace, middle, link.head),
            weight=link.weight,
            query=quote(labels_of(trace.tokens)[link.query]),
            key=quote(labels_of(trace.key_tokens)[link.key]),
            units=trace.input.words,
        )
        state = _state(layer_labels[middle], link.head + 1)
        presets.append(Preset("One head of a middle layer", sentence, state))
    if trace.input.beside(-1).any():
        layer, head, mean = strongest_head(trace, "previous")
        name, previous = head_name(trace, layer, head), trace.input.previous
        sentence = _words("looks_back", head=name, mean=mean, previous=previous)
        presets.append(
            Preset(previous.capitalize(), sentence, _state(layer_labels[layer], head + 1))
        )
    return presets


def _state(layer: int, head: int | str) -> dict[str, str]:
    """The page's state for a layer and a head by their numbers."""
    return {"layer": str(layer), "head": str(head)}
