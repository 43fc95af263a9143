"""What the visitor takes away: heads, a layer or an edge."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import streamlit as st

from core.analysis.strongest_link import strongest_links
from core.model.interventions.ablation import Cell
from core.model.interventions.heads import Replace
from core.model.interventions.measures import Measure
from core.screens.effect.measuring import pick_measure, pick_replacement
from core.ui import controls
from core.ui.cache import TraceKey
from core.ui.frame.layout import more
from core.ui.place import CELL, draw_stepper, held_cell, pick_head
from core.ui.place import head as declare_head
from core.ui.place import layer as pick_layer
from core.vocabulary import head_name, labels_of

if TYPE_CHECKING:
    from core.model import Trace

MOST = "most"
_TAKES = {"heads": "a head", "layer": "a layer", "edge": "an edge"}
_SEEN = "_pair_taken_away"


class Ablation(NamedTuple):
    """What is taken away, as :func:`core.model.interventions.ablation.ablate` takes it."""

    heads: tuple[tuple[int, int], ...] = ()
    cells: tuple[Cell, ...] = ()
    replace: Replace = "mean"
    measure: Measure | None = None


class Picked(NamedTuple):
    """An ablation, which of `_TAKES` it is, and whose attention is shown; None: the most moved."""

    ablation: Ablation
    take: str
    shown: tuple[int, int] | None


def pick_away(trace: Trace, key: TraceKey) -> Picked:
    """What to take away of the trace that is measured, which may be cut."""
    take = controls.choice(
        "take", _TAKES, "Take away", subject="One can take away", menu=True, width=110
    )
    ablation = {"heads": _head, "layer": _layer, "edge": _edge}[take](trace)
    if ablation.heads:
        ablation = ablation._replace(replace=pick_replacement(key))
    shown = _shown(trace)
    with more():
        return Picked(ablation._replace(measure=pick_measure(key)), take, shown)


def _shown(trace: Trace) -> tuple[int, int] | None:
    """The head that was pressed on the map of what moved."""
    layers, heads = trace.shape[:2]
    names = [head_name(trace, layer, head) for layer in range(layers) for head in range(heads)]
    options = [MOST, *(name.replace(" ", "") for name in names)]
    shown = controls.choice("shown", options, subject="Heads are")
    return None if shown == MOST else divmod(options.index(shown) - 1, heads)


def _head(trace: Trace) -> Ablation:
    return Ablation(heads=(pick_head(trace),))


def _layer(trace: Trace) -> Ablation:
    layer = pick_layer(trace)
    declare_head(trace)
    draw_stepper("layer")
    return Ablation(heads=tuple((layer, head) for head in range(trace.shape[1])))


def _edge(trace: Trace) -> Ablation:
    """One key of one query, in the chosen head."""
    layer, head = pick_head(trace)
    query, key = _pick_pair(trace, layer, head)
    return Ablation(cells=(Cell(query, key, layer, head),))


def _pick_pair(trace: Trace, layer: int, head: int) -> tuple[int, int]:
    """Query and key from 0: the pair that is held on other pages, until another is picked here."""
    state, size = st.session_state, len(trace.tokens)
    held = held_cell(trace) or _strongest_pair(trace, layer, head)
    names = ("cut_query", "cut_key")
    if state.get(_SEEN) != held:
        state.update(zip(names, map(str, held), strict=True))
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
        for name, label, place in zip(names, ("Query token", "Key token"), held, strict=True)
    ]
    state[CELL], state[_SEEN] = picked, tuple(picked)
    return picked[0] - 1, picked[1] - 1


def _strongest_pair(trace: Trace, layer: int, head: int) -> tuple[int, int]:
    """Positions, from 1, of the words that the head joins most; else of the last token."""
    links = strongest_links(trace, (layer,))
    if links:
        return links[0][head].query + 1, links[0][head].key + 1
    last = len(trace.tokens)
    return last, int(trace.attention(layer, head)[-1].argmax()) + 1
