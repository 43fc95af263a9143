"""Take away a head, a layer or an edge on a text or an image, and show what changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import streamlit as st

from core.analysis.effect.table import moved_table
from core.analysis.pairs import permitted
from core.analysis.strongest_link import strongest_links
from core.figures.heatmap import colour_limit, heatmap_figure
from core.figures.palette import Palette
from core.model.errors import ModelError
from core.model.interventions.ablation import Cell
from core.model.interventions.heads import Replace
from core.model.interventions.measures import Outcome
from core.screens.heads.effects import (
    TITLES,
    limits,
    model_of,
    notes,
    pick_outcome,
    pick_replacement,
    text_of,
)
from core.ui import controls
from core.ui.cache import TraceKey
from core.ui.charts import show_chart
from core.ui.downloads import contents
from core.ui.frame.layout import more
from core.ui.heads import HeadTable, offer_table, show_head_map
from core.ui.navigation import set_headline
from core.ui.place import CELL, draw_stepper, pick_head, pinned_pair
from core.ui.place import head as declare_head
from core.ui.place import layer as pick_layer
from core.ui.words.messages import quote, show_model_error
from core.ui.words.numbers import number
from core.ui.words.prose import Prose
from core.vocabulary import head_name, labels_of, percent

if TYPE_CHECKING:
    from core.model import Trace
    from core.model.interventions.ablation import AblationResult
    from core.model.trace import Array

MOST = "most"
_words = Prose(__file__, "words_effect.md")
_TAKES = {"heads": "a head", "layer": "a layer", "edge": "an edge"}
_SEEN = "_pair_taken_away"
_MAX_KEPT = 4  # each two traces of 128 tokens: 10 MB for the bundled model, 40 MB for BERT base
_TICKS = 16  # labels that fit across a third of the page


class Ablation(NamedTuple):
    """What is taken away: arguments of :func:`core.model.interventions.ablation.ablate`."""

    heads: tuple[tuple[int, int], ...] = ()
    cells: tuple[Cell, ...] = ()
    replace: Replace = "mean"
    measure: Outcome | None = None


class Picked(NamedTuple):
    """An ablation, its kind in `_TAKES`, and the head shown (None for the one that moves most)."""

    ablation: Ablation
    take: str
    shown: tuple[int, int] | None


def pick_away(trace: Trace, key: TraceKey) -> Picked:
    """Choose what to take away; `trace` is the one that is measured, which may be cut."""
    take = controls.choice(
        "take", _TAKES, "Take away", subject="One can take away", menu=True, width=110
    )
    ablation = {"heads": _head, "layer": _layer, "edge": _edge}[take](trace)
    if ablation.heads:
        ablation = ablation._replace(replace=pick_replacement(key))
    shown = _shown(trace)
    with more():
        return Picked(ablation._replace(measure=pick_outcome(key)), take, shown)


def _shown(trace: Trace) -> tuple[int, int] | None:
    """The head that was clicked on the map of what moved; None for the one that moves most."""
    layers, heads = trace.shape[:2]
    names = [head_name(trace, layer, head) for layer in range(layers) for head in range(heads)]
    options = [MOST, *(name.replace(" ", "") for name in names)]
    chosen = controls.choice("shown", options, subject="Heads are")
    return None if chosen == MOST else divmod(options.index(chosen) - 1, heads)


def _head(trace: Trace) -> Ablation:
    return Ablation(heads=(pick_head(trace),))


def _layer(trace: Trace) -> Ablation:
    layer = pick_layer(trace)
    declare_head(trace)
    draw_stepper("layer")
    return Ablation(heads=tuple((layer, head) for head in range(trace.shape[1])))


def _edge(trace: Trace) -> Ablation:
    """One edge: a query and one of its keys, in the chosen head."""
    layer, head = pick_head(trace)
    query, key = _pick_pair(trace, layer, head)
    return Ablation(cells=(Cell(query, key, layer, head),))


def _pick_pair(trace: Trace, layer: int, head: int) -> tuple[int, int]:
    """Query and key from 0: the pair pinned on other pages, until another is picked here."""
    state, size = st.session_state, len(trace.tokens)
    pair = pinned_pair(trace) or _strongest_pair(trace, layer, head)
    names = ("cut_query", "cut_key")
    if state.get(_SEEN) != pair:
        state.update(zip(names, map(str, pair), strict=True))
    titles = {str(place): label for place, label in enumerate(labels_of(trace.tokens), start=1)}
    picked = [
        int(
            controls.choice(
                name,
                titles,
                label,
                default=str(place),
                subject=f"{trace.input.this.capitalize()} has {size} tokens",
                menu=True,
                width=140,
            )
        )
        for name, label, place in zip(names, ("Query token", "Key token"), pair, strict=True)
    ]
    state[CELL], state[_SEEN] = picked, tuple(picked)
    return picked[0] - 1, picked[1] - 1


def _strongest_pair(trace: Trace, layer: int, head: int) -> tuple[int, int]:
    """The pair of words (from 1) that the head links most; else the last token and its top key."""
    links = strongest_links(trace, (layer,))
    if links:
        return links[0][head].query + 1, links[0][head].key + 1
    last = len(trace.tokens)
    return last, int(trace.attention(layer, head)[-1].argmax()) + 1


@st.cache_resource(max_entries=_MAX_KEPT, show_spinner="Running it without what is taken away …")
def _ablated(key: TraceKey, ablation: Ablation) -> AblationResult:
    from core.model.interventions.ablation import ablate

    return ablate(model_of(key), text_of(key), **ablation._asdict(), **limits(key))


def show_away(trace: Trace, picked: Picked, key: TraceKey, colours: Palette) -> None:
    """Show the answer; attention before, after, and the change; the likeliest words; what moved.

    Ends the page if a forward pass is refused.
    """
    try:
        result = _ablated(key, picked.ablation)
    except ModelError as error:
        show_model_error(error)
        controls.end_page()
    table = moved_table(result.before, result.after)
    layer, head = picked.shown or divmod(int(table["moved"].argmax()), result.before.shape[1])
    heads = HeadTable(trace=result.before, table=table, layer=layer, head=head)
    set_headline(_headline(result, picked))
    _show_attention(result, heads, colours)
    st.caption(" ".join([*_caption(result, picked, heads), *notes(trace, result)]))
    left, right = st.columns([5, 4], gap="medium") if result.expected else (st.container(), None)
    with left:
        _show_moved(heads, colours)
    if right is not None:
        with right:
            st.markdown("\n".join(_likeliest(result)))
    offer_table(heads, contents("effect", result.before.model, "away"))


def _headline(result: AblationResult, picked: Picked) -> str:
    return _words(
        "away",
        what=_what(result.before, picked),
        measured=TITLES[result.measure],
        change=number(result.change, ".3g"),
        unit=result.unit,
        take=picked.take,
        beyond=abs(result.change) > result.control,
        controls=len(result.draws),
        control=number(result.control, ".3g"),
    )


def _what(trace: Trace, picked: Picked) -> str:
    """What is taken away, as part of a sentence (Markdown)."""
    ablation = picked.ablation
    if picked.take == "layer":
        return f"the heads of layer {trace.layer_labels[ablation.heads[0][0]]}"
    if picked.take == "heads":
        return head_name(trace, *ablation.heads[0])
    (cell,) = ablation.cells
    query, key = (quote(labels_of(trace.tokens)[each]) for each in (cell.query, cell.key))
    return f"{query} → {key} in {head_name(trace, cell.layer, cell.head)}"


def _show_attention(result: AblationResult, heads: HeadTable, colours: Palette) -> None:
    """Show the head's attention before and after on one colour scale, and the change."""
    labels, name = labels_of(result.before.tokens), heads.name
    before, after = (_weights(trace, heads) for trace in (result.before, result.after))
    top = max(colour_limit(values) for values in (before, after))
    change = result.after.attention(heads.layer, heads.head)
    change = change - result.before.attention(heads.layer, heads.head)
    look: dict[str, Any]
    maps = {"before": before, "after": after, "change": change}
    for column, (title, values) in zip(st.columns(3), maps.items(), strict=True):
        look = {"signed": True, "unit": title} if title == "change" else {"top": top}
        figure = heatmap_figure(values, labels, f"{name} {title}", colours, **look)
        figure.update_xaxes(dtick=-(-len(labels) // _TICKS), tickangle=-60)
        with column:
            show_chart(
                figure,
                key=f"effect_{title}",
                part=name.replace(" ", ""),
                quiet=True,
                alt=f"Attention of {name}, {title}",
            )


def _weights(trace: Trace, heads: HeadTable) -> Array:
    """The head's attention weights, nan for pairs masked by the model or by the ablation."""
    place = heads.layer, heads.head
    return np.where(permitted(trace, *place), trace.attention(*place), np.float32(np.nan))


def _caption(result: AblationResult, picked: Picked, heads: HeadTable) -> list[str]:
    is_most_moved, moved = picked.shown is None, percent(heads.row["moved"])
    sentences = [_words("attention_of", head=heads.name, most=is_most_moved, moved=moved)]
    for cell in picked.ablation.cells:
        weight = result.before.attention(cell.layer, cell.head)[cell.query, cell.key]
        sentences.append(_words("edge_weight", weight=number(weight, ".2g")))
    return sentences


def _show_moved(heads: HeadTable, colours: Palette) -> None:
    show_head_map(
        heads.trace,
        heads.grid("moved"),
        "share of attention that moved",
        colours,
        key="effect_moved",
        on_open=lambda layer, head: controls.pick(shown=f"L{layer}H{head}"),
        chosen=(heads.layer, heads.head),
        title="moved",
    )
    st.caption(_words("moved"))


def _likeliest(result: AblationResult) -> list[str]:
    """The likeliest words or classes before and after, as lines of a Markdown table."""
    title = "class" if result.measure == "class" else "word"
    return [
        f"| likeliest {title} | before | after |",
        "|:--|--:|--:|",
        *(
            f"| {quote(each.name)} | {percent(each.before)} | {percent(each.after)} |"
            for each in result.expected
        ),
    ]
