"""What heads write: to the word, the class or the vector that is read, and after every layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from core.analysis.effect import parts_table
from core.figures.effect import parts_by_layer
from core.figures.palette import Palette
from core.model import Trace
from core.model.interventions.measures import Measure
from core.screens.effect.measuring import pick_measure
from core.screens.effect.writing import lens_of, parts_of, words_of_head
from core.ui.cache import TraceKey
from core.ui.charts import show_chart
from core.ui.downloads import contents
from core.ui.head_maps import show_head_map
from core.ui.head_tables import HeadTable, offer_table
from core.ui.navigation import ask
from core.ui.place import choose_head
from core.ui.words.messages import quote
from core.ui.words.numbers import in_a_row, number
from core.ui.words.prose import Prose
from core.vocabulary import head_name, percent

if TYPE_CHECKING:
    from core.model.interventions.direct import DirectParts, WrittenWord

_words = Prose(__file__)


def pick_sum(key: TraceKey) -> Measure:
    """What is taken apart, of what is a sum of what the parts of the model write."""
    from core.model.interventions.direct import SUMS

    return pick_measure(key, SUMS)


def show_writes(
    trace: Trace, key: TraceKey, measure: Measure, layer: int, head: int, colours: Palette
) -> None:
    """The answer, the map, the head's words; then all parts by layer, and the logit lens."""
    parts = parts_of(key, measure)
    if parts is None:
        ask(_words("not_followed"))
        return
    rest = parts.embeddings, parts.biases
    table = parts_table(trace, parts.heads, parts.layers, rest, parts.value)
    heads = HeadTable(trace=trace, table=table, layer=layer, head=head)
    first = np.unravel_index(np.nanargmax(parts.heads), parts.heads.shape)
    ask(
        _words(
            "writes_most",
            head=head_name(trace, int(first[0]), int(first[1])),
            part=_amount(float(parts.heads[first]), parts),
            value=_whole(parts),
            aim=_aim(parts),
        )
    )
    left, right = st.columns([5, 4], gap="medium")
    with left:
        _show_map(heads, parts, colours)
    with right, st.container(border=True):
        st.markdown(f"**{heads.name}**")
        st.markdown(what_it_writes(heads, key, measure))
        st.caption(_sums(parts))
    figure = parts_by_layer(
        trace.layer_labels,
        np.nansum(parts.heads, axis=1),
        parts.layers,
        rest,
        parts.unit,
        colours,
    )
    show_chart(figure, key="effect_parts", alt="What each layer writes", quiet=True)
    _show_lens(trace, key)
    offer_table(heads, contents("effect", trace.model, "writes"))


def what_it_writes(heads: HeadTable, key: TraceKey, measure: Measure) -> str:
    """What the chosen head writes to the end itself, beside its layer's others (Markdown)."""
    parts = parts_of(key, measure)
    if parts is None:
        return _words("writes_unknown")
    own = parts.heads[heads.layer]
    words = words_of_head(key, heads.layer, heads.head)
    return _words(
        "writes",
        part=_amount(float(own[heads.head]), parts),
        value=_whole(parts),
        aim=_aim(parts),
        others=_amount(float(np.nanmedian(np.delete(own, heads.head))), parts)
        if len(own) > 1
        else "",
        up="" if words is None else _listed(words.likelier),
        down="" if words is None else _listed(words.less_likely),
        passed_over=0 if words is None else words.passed_over,
    )


def _amount(value: float, parts: DirectParts) -> str:
    """A part with its unit; of a length, as a share."""
    if parts.unit == "length":
        return f"{percent(value / parts.value)}"
    return f"{number(value, '.3g')} {parts.unit}"


def _whole(parts: DirectParts) -> str:
    """What the parts add up to; empty where they are shares of it."""
    return "" if parts.unit == "length" else _amount(parts.value, parts)


def _aim(parts: DirectParts) -> str:
    """What the parts add up to (Markdown)."""
    words = [quote(word) for word in parts.words]
    return _words(
        "aim",
        measure=parts.measure,
        has_class=bool(words),
        first=words[0] if words else "",
        second=words[1] if len(words) > 1 else "",
    )


def _sums(parts: DirectParts) -> str:
    return _words(
        "sums",
        heads=_amount(float(np.nansum(parts.heads)), parts),
        layers=_amount(float(parts.layers.sum()), parts),
        embeddings=_amount(parts.embeddings, parts),
        biases=_amount(parts.biases, parts),
    )


def _listed(words: Sequence[WrittenWord]) -> str:
    """Words with what is added to their logits (Markdown)."""
    return in_a_row([f"{quote(each.display)} {number(each.logit, '+.2g')}" for each in words])


def _show_map(heads: HeadTable, parts: DirectParts, colours: Palette) -> None:
    reach = float(np.nanmax(np.abs(parts.heads))) or 1.0
    show_head_map(
        heads.trace,
        parts.heads,
        "what it writes",
        colours,
        key="effect_written",
        on_open=choose_head,
        chosen=(heads.layer, heads.head),
        bounds=(-reach, reach),
        signed=True,
        title=parts.unit,
        large=True,
    )


def _show_lens(trace: Trace, key: TraceKey) -> None:
    """The words that the model would say after each layer; nothing for a model without words."""
    lens = lens_of(key)
    if lens is None:
        return
    rows = ["| after | likeliest words | from the whole model |", "|:--|:--|--:|"]
    for name, each in zip(["embeddings", *trace.layer_labels], lens, strict=True):
        words = ", ".join(
            f"{quote(guess.display)} {percent(guess.probability)}" for guess in each.guesses
        )
        place = name if name == "embeddings" else f"layer {name}"
        rows.append(f"| {place} | {words} | {number(each.kl, '.3g')} nats |")
    st.markdown(_words("lens", passed_over=sum(each.passed_over for each in lens)))
    st.markdown("\n".join(rows))
