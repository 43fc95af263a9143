"""What the heatmap page says: how to read it, examples that set its controls, the mathematics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.analysis.attention_table import AttentionTable, Head, Layer
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


def explain(trace: Trace, table: AttentionTable, layer: Layer, head: Head) -> str:
    """How to read the table, true for what is on the screen."""
    if table.kind == "attention":
        sentences = [_explain_rows(trace, table, layer, head), _words("colours")]
        if (abs(table.shown) < 0.005).any():
            sentences.append(_words("blank"))
    else:
        one_head = isinstance(layer, int) and isinstance(head, int)
        sentences = [_words("scores", one_head=one_head)]
    if not table.permitted.all():
        sentences.append(_words("hatched"))
    if table.hidden:
        sentences.append(_words("hidden", hidden=table.hidden))
    return " ".join(sentences)


def _explain_rows(trace: Trace, table: AttentionTable, layer: Layer, head: Head) -> str:
    sums = f"{table.row_sums.min():.2f} to {table.row_sums.max():.2f}"
    if table.rows_sum_to_one:
        return _words("rows")
    if head == "max":
        return _words("rows_of_maximum", averaged=layer == "mean", sums=sums)
    takers = ["to hidden tokens"] if table.hidden_columns else []
    if any(rule.sink is not None for rule in trace.layers):
        takers.append("to each head's sink, a key without a token")
    return _words("rows_of_part", sums=sums, takers=" and ".join(takers))


def examples(trace: Trace) -> list[Preset]:
    """Settings worth seeing on this text; heads are measured, not listed."""
    layers, heads = trace.shape[:2]
    middle, layer_labels = layers // 2, trace.layer_labels
    has_previous = trace.input.beside(-1).any()
    layer, head, mean = strongest_head(trace, "previous") if has_previous else (0, 0, 0.0)
    looks_back = head_name(trace, layer, head)
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
    if has_previous:
        sentence = _words("looks_back", head=looks_back, mean=mean, back=trace.input.back)
        state = _state(layer_labels[layer], head + 1)
        presets.append(Preset(trace.input.previous.capitalize(), sentence, state))
    if trace.input.specials:
        presets.append(_without_special(trace))
    state = _state(layer_labels[layer], head + 1, values="scores")
    return [*presets, Preset("Before softmax", _words("before_softmax", head=looks_back), state)]


def _without_special(trace: Trace) -> Preset:
    """What is left without the tokens where attention rests."""
    merges = trace.input.has_words
    return Preset(
        f"Only {trace.input.words}",
        _words("without_special", specials=trace.input.specials, merges=merges),
        _state(trace.layer_labels[-1], "mean", hide=True, words=merges),
    )


def _state(layer: int, head: int | str, **changes: str | bool) -> dict[str, str | bool]:
    """The page's state that `changes`, for a layer and a head by their numbers."""
    return {"layer": str(layer), "head": str(head), **changes}
