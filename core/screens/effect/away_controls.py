"""What the visitor takes away: heads, a layer, an edge or a word."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import streamlit as st

from core.analysis.strongest_link import strongest_links
from core.model.interventions.heads import Replace
from core.model.interventions.measures import Measure
from core.model.interventions.taking import Cell
from core.screens.effect import input as reading
from core.screens.effect.measuring import pick_own_measure, pick_replacement
from core.ui import cache, controls
from core.ui.cache import TraceKey
from core.ui.frame.layout import more
from core.ui.held_cell import CELL, held_cell
from core.ui.place import draw_stepper, pick_head
from core.ui.place import head as declare_head
from core.ui.place import layer as pick_layer
from core.vocabulary import head_name, join_pieces, labels_of

if TYPE_CHECKING:
    from core.model import Trace

MOST = "most"
_TAKES = {"heads": "heads", "layer": "a layer", "edge": "an edge", "word": "a word"}
_SEEN = "_pair_taken_away"
_MAX_WORD = 60  # characters


class Wish(NamedTuple):
    """What is taken away, as :func:`core.model.interventions.taking.taken_away` takes it."""

    heads: tuple[tuple[int, int], ...] = ()
    cells: tuple[Cell, ...] = ()
    word: int | None = None
    by: str | None = None
    replace: Replace = "mean"
    measure: Measure | None = None


class Picked(NamedTuple):
    """A wish, which of `_TAKES` it is, and whose attention is shown; None is the most moved's."""

    wish: Wish
    take: str
    shown: tuple[int, int] | None


def pick_away(trace: Trace, key: TraceKey) -> Picked:
    """What to take away of the trace that is measured, which may be cut."""
    takes = {name: each for name, each in _TAKES.items() if name != "word" or trace.input.has_words}
    take = controls.choice(
        "take", takes, "Take away", subject="One can take away", menu=True, width=110
    )
    wish = {"heads": _heads, "layer": _layer, "edge": _edge, "word": _word}[take](trace, key)
    replaces = take in {"heads", "layer"}
    if replaces:
        wish = wish._replace(replace=pick_replacement(key))
    with more():
        wish = wish._replace(cells=tuple(_where(trace, cell) for cell in wish.cells))
        shown = _pick_shown(trace)
        return Picked(wish._replace(measure=pick_own_measure(key)), take, shown)


def _names(trace: Trace) -> list[str]:
    layers, heads = trace.shape[:2]
    return [head_name(trace, layer, head) for layer in range(layers) for head in range(heads)]


def _pick_shown(trace: Trace) -> tuple[int, int] | None:
    names = _names(trace)
    options = {MOST: "the head that moved most"} | {name.replace(" ", ""): name for name in names}
    shown = controls.choice(
        "shown",
        options,
        "Attention of",
        subject="Heads are",
        menu=True,
        help="Or press a head on the map below.",
    )
    return None if shown == MOST else divmod([*options].index(shown) - 1, trace.shape[1])


def _heads(trace: Trace, _: TraceKey) -> Wish:
    """The chosen head, and others."""
    layer, head = pick_head(trace)
    names, per_layer = _names(trace), trace.shape[1]
    others = controls.tokens(
        "also",
        range(1, len(names) + 1),
        "And",
        place="a head of this model",
        names=lambda number: names[number - 1],
        column=150,
        placeholder="no other head",
    )
    chosen = [(layer, head), *(divmod(number - 1, per_layer) for number in others)]
    return Wish(heads=tuple(dict.fromkeys(chosen)))


def _layer(trace: Trace, _: TraceKey) -> Wish:
    layer = pick_layer(trace)
    declare_head(trace)
    draw_stepper("layer")
    return Wish(heads=tuple((layer, head) for head in range(trace.shape[1])))


def _edge(trace: Trace, _: TraceKey) -> Wish:
    """One key of one query, in the chosen head."""
    layer, head = pick_head(trace)
    query, key = _pick_pair(trace, layer, head)
    return Wish(cells=(Cell(query, key, layer, head),))


def _where(trace: Trace, cell: Cell) -> Cell:
    """The edge in its head, in all heads of its layer, or in all layers."""
    layer, head = cell.layer or 0, cell.head or 0
    scopes = {
        "head": f"in {head_name(trace, layer, head)}",
        "layer": f"in layer {trace.layer_labels[layer]}",
        "all": "everywhere",
    }
    scope = controls.choice(
        "scope", scopes, "Where", subject="An edge can be taken away", menu=True
    )
    if scope == "all":
        return cell._replace(layer=None, head=None)
    return cell if scope == "head" else cell._replace(head=None)


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


def words_of(trace: Trace) -> dict[int, str]:
    """The words of a text by the position of their first token, from 0."""
    pieces: dict[int, list[int]] = {}
    for token in trace.tokens:
        if token.word >= 0:
            pieces.setdefault(token.word, []).append(token.position)
    return {own[0]: join_pieces([trace.tokens[place] for place in own]) for own in pieces.values()}


def _word(trace: Trace, key: TraceKey) -> Wish:
    """A word, hidden behind the mask, or another one in its place."""
    titles = {str(place + 1): word for place, word in words_of(trace).items()}
    if st.session_state.get("taken") not in titles:  # dropped silently after another text
        st.session_state.pop("taken", None)
    longest = max(titles, key=lambda place: len(titles[place]))
    word = controls.choice(
        "taken",
        titles,
        "Word",
        default=longest,
        subject="The words are",
        menu=True,
        width=160,
    )
    mask = cache.model(key.model).tokenizer.mask_token
    by = controls.text(
        "by",
        "",
        "Put in its place",
        max_chars=_MAX_WORD,
        column=200,
        placeholder=f"{mask}, or type a word" if mask else "nothing, or type a word",
    ).strip()
    return Wish(word=int(word) - 1, by=by or (None if mask else ""))


@st.cache_resource(max_entries=2, show_spinner="Running the text through the model …")
def _cut(key: TraceKey, max_tokens: int) -> Trace:
    from core.model import trace_text

    return trace_text(cache.model(key.model), key.text, key.pair, max_tokens, decode=False)


def measured_trace(trace: Trace, key: TraceKey) -> Trace:
    """The trace of as much of a text as is measured."""
    most = reading.MAX_TOKENS
    return _cut(key, most) if key.image is None and len(trace.tokens) > most else trace
