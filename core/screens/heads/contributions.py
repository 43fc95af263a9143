"""What heads write to the word, class or vector that is read out, and after every layer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from core.analysis.effect import parts_table
from core.figures.layers import parts_by_layer
from core.figures.palette import Palette
from core.model import Trace
from core.model.interventions.measures import Outcome
from core.screens.heads.effects import followed, pick_outcome
from core.ui.cache import TraceKey
from core.ui.charts import show_chart
from core.ui.downloads import contents
from core.ui.heads import HeadTable, show_head_map, show_overview
from core.ui.navigation import set_headline
from core.ui.place import choose_head
from core.ui.words.messages import quote
from core.ui.words.numbers import in_a_row, number
from core.ui.words.prose import Prose
from core.vocabulary import head_name, percent

if TYPE_CHECKING:
    from core.model.interventions.direct import DirectParts, WrittenWord

_SHOWN = 3  # of the words that a head makes likelier, and of those it makes less likely
_words = Prose(__file__, "words_effect.md")


def pick_sum(key: TraceKey) -> Outcome:
    """Choose the quantity to decompose, among those that are sums over the model's parts."""
    from core.model.interventions.direct import SUMS

    return pick_outcome(key, SUMS)


def show_writes(
    trace: Trace, key: TraceKey, measure: Outcome, layer: int, head: int, colours: Palette
) -> None:
    """Show the answer, the map, the head's words; then all parts by layer, and the logit lens."""
    parts = followed(key, "parts", measure)
    if parts is None:
        set_headline(_words("not_followed"))
        return
    rest = parts.embeddings, parts.biases
    table = parts_table(trace, parts.heads, parts.layers, rest, parts.value)
    heads = HeadTable(trace=trace, table=table, layer=layer, head=head)
    first = np.unravel_index(np.nanargmax(parts.heads), parts.heads.shape)
    top, part = head_name(trace, int(first[0]), int(first[1])), _amount(parts.heads[first], parts)
    set_headline(_words("writes_most", head=top, part=part, whole=_whole(parts)))
    export = contents("effect", trace.model, "writes")
    card = partial(_show_card, heads, parts, key)
    draw_map = partial(
        show_head_map,
        trace,
        parts.heads,
        "what it writes",
        colours,
        key="effect_written",
        on_open=choose_head,
        chosen=(layer, head),
        signed=True,
        title=parts.unit,
        large=True,
    )
    place = show_overview(heads, export, draw_map, card)
    name = "What each layer writes"
    written = np.nansum(parts.heads, axis=1)
    figure = parts_by_layer(trace.layer_labels, written, parts.layers, rest, parts.unit, colours)
    with place.container():
        show_chart(figure, key="effect_parts", alt=name, quiet=True)
        _show_lens(trace, key)


def _show_card(heads: HeadTable, parts: DirectParts, key: TraceKey) -> None:
    """What the chosen head writes, compared with its layer, the words it moves, and all sums."""
    own = parts.heads[heads.layer]
    others = np.delete(own, heads.head)
    median = float(np.nanmedian(others)) if len(others) else math.nan
    facts = {"head": heads.name, "part": _amount(own[heads.head], parts)}
    st.markdown(_words("writes", facts=facts, others=_amount(median, parts)))
    if (words := followed(key, "words", heads.layer, heads.head, _SHOWN)) is not None:
        up, down = (_listed(each) for each in words)
        st.markdown(_words("words_moved", up=up, down=down))
    sums = {
        "heads": np.nansum(parts.heads),
        "layers": parts.layers.sum(),
        "embeddings": parts.embeddings,
        "biases": parts.biases,
    }
    st.caption(_words("sums", sums={name: _amount(each, parts) for name, each in sums.items()}))


def _amount(value: float, parts: DirectParts) -> str:
    """A contribution with its unit; as a share, if it is part of a length."""
    if parts.unit == "length":
        return percent(value / parts.value)
    return f"{number(value, '.3g', missing='–')} {parts.unit}"


def _whole(parts: DirectParts) -> str:
    """The total that the parts add up to (Markdown)."""
    aims: dict[Outcome, str] = {
        "logit_difference": "by which {} is ahead of {}",
        "class": "of the class {}" if parts.words else "of the CLS vector",
        "sentence": "of the sentence vector",
    }
    aim = aims[parts.measure].format(*map(quote, parts.words))
    size = "" if parts.unit == "length" else f"{number(parts.value, '.3g')} "
    return f"{size}{parts.unit} {aim}"


def _listed(words: Sequence[WrittenWord]) -> str:
    """Words and the change in their logits (Markdown)."""
    return in_a_row([f"{quote(each.display)} {number(each.logit, '+.2g')}" for each in words])


def _show_lens(trace: Trace, key: TraceKey) -> None:
    """The words that the model would predict after each layer; nothing if it predicts no words."""
    lens = followed(key, "lens")
    if lens is None:
        return
    rows = ["| after | likeliest words | from the whole model |", "|:--|:--|--:|"]
    for name, row in zip(["embeddings", *trace.layer_labels], lens, strict=True):
        words = ", ".join(
            f"{quote(guess.display)} {percent(guess.probability)}" for guess in row.guesses
        )
        place = name if name == "embeddings" else f"layer {name}"
        rows.append(f"| {place} | {words} | {number(row.kl, '.3g')} nats |")
    st.markdown(_words("lens"))
    st.markdown("\n".join(rows))
