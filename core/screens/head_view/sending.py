"""What the head view page sends: which layers, weighted how, and the file that is saved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import streamlit as st

from core.analysis.head_patterns import head_scores
from core.analysis.head_patterns.measure import HEAD_VIEW
from core.analysis.view_weights import payload_size, weighted_layer
from core.components.head_view import (
    ALL_LAYERS_BYTES,
    HeadView,
    Weighting,
    pack_head_view,
    save_head_view,
)
from core.figures.palette import token_colours
from core.model.weights.output_projection import output_projections
from core.screens.head_view.state import near_layers, view_to_send
from core.ui import cache
from core.ui.words.pattern_words import SCORE_WORDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from core.model import Trace
    from core.model.trace import Array

# Below it the layers beside the one on screen follow when the browser has time.
NEAR_LAYER_BYTES = 2_000_000
# The same for the file that is saved; in base64 it becomes a third larger.
ALL_LAYERS_IN_FILE = 12_000_000
_LONGEST_QUOTE = 300  # characters of the text in the saved file's note
_NAMES = {"attention": "attention", "value": "× |value|", "transformed": "× |f(value)|"}


@dataclass(frozen=True, eq=False)
class Screen:
    """What one run of the page shows.

    Attributes
    ----------
    view : the state, as :func:`core.screens.head_view.state.restore_view` gives it.
    offered : the weightings.
    source : model, text and second text, as the caches are asked for them.
    norms : lengths of the transformed values where they are shown, float32 (layer, head, token).
    """

    trace: Trace
    view: Mapping[str, Any]
    offered: Sequence[Weighting]
    source: tuple[str, str, str | None]
    norms: Array | None


def weightings(trace: Trace) -> list[Weighting]:
    """What the lines can show for this model."""
    known = output_projections(cache.model(trace.model)) is not None
    why_not = f"Where {trace.model} keeps its output projection is not known here"
    return [
        Weighting("attention", _NAMES["attention"], "The weights after softmax"),
        Weighting("value", _NAMES["value"], "Attention times the length of the value it brings"),
        Weighting(
            "transformed",
            _NAMES["transformed"],
            "Attention times the length of a token's part in what the head adds"
            if known
            else why_not,
            disabled=not known,
        ),
    ]


def on_screen(trace: Trace, view: Mapping[str, Any], offered: Sequence[Weighting]) -> Screen:
    """What this run of the page shows."""
    pair = st.session_state["pair"].strip() if st.session_state["two"] else ""
    source = (trace.model, st.session_state["text"], pair or None)
    norms = cache.transformed_norms(*source) if view["weigh"] == "transformed" else None
    return Screen(trace, view, offered, source, norms)


def pack_for_page(screen: Screen) -> bytes:
    """All layers where they are few and short, else the one that the view names.

    And those beside it, once the browser has asked for them.
    """
    trace, view = screen.trace, screen.view
    sent, serial = view_to_send(view)
    whole = _fits(trace, ALL_LAYERS_BYTES)
    near = not whole and payload_size(trace, int(view["layer"]) - 1) <= NEAR_LAYER_BYTES
    beside = near_layers(view["layer"]) if near else ()
    layers = {
        layer: cache.view_layer(*screen.source, layer, view["weigh"])
        for layer in (*_layers(screen, whole=whole), *beside)
        if layer in range(trace.shape[0])
    }
    # Measuring the heads of a long text takes a while: not before someone wants to know.
    scores = cache.head_scores(*screen.source) if view["what"] or whole else {}
    facts = _facts(screen, sent, serial, scores, near=near)
    return pack_head_view(trace, layers, view["weigh"], facts)


def page_to_save(screen: Screen) -> str:
    """The head view as one HTML file, in the state that is on the screen.

    Uses no cache and no session: Streamlit calls it outside a run of the page.
    """
    trace, view = screen.trace, screen.view
    whole = _fits(trace, ALL_LAYERS_IN_FILE)
    layers = {
        layer: weighted_layer(trace, layer, view["weigh"], screen.norms)
        for layer in _layers(screen, whole=whole)
    }
    facts = _facts(screen, view, 0, head_scores(trace, HEAD_VIEW))
    data = pack_head_view(trace, layers, view["weigh"], facts)
    return save_head_view(data, f"Head view of {trace.model}", _note(screen, whole=whole))


def _layers(screen: Screen, *, whole: bool) -> Sequence[int]:
    return range(screen.trace.shape[0]) if whole else (int(screen.view["layer"]) - 1,)


def _facts(
    screen: Screen,
    view: Mapping[str, Any],
    serial: int,
    scores: Mapping[str, NDArray[np.float64]],
    *,
    near: bool = False,
) -> HeadView:
    heads = screen.trace.shape[1]
    colours = {theme: token_colours(heads, theme) for theme in ("light", "dark")}
    notes = {name: SCORE_WORDS[name].note for name in scores}
    return HeadView(view, serial, screen.offered, colours, scores, notes, near)


def _fits(trace: Trace, most: int) -> bool:
    return _size(trace) <= most


def _size(trace: Trace) -> int:
    """Bytes of all layers."""
    return sum(payload_size(trace, layer) for layer in range(trace.shape[0]))


def _note(screen: Screen, *, whole: bool) -> str:
    """What the file holds, in plain text."""
    text = " / ".join(filter(None, screen.source[1:]))
    if len(text) > _LONGEST_QUOTE:
        text = text[: _LONGEST_QUOTE - 1] + "…"
    layers, view = screen.trace.shape[0], screen.view
    kept = (
        f"All {layers} layers are in this file"
        if whole
        else f"Layer {view['layer']} of {layers} is in this file (all of them would take"
        f" {_size(screen.trace) / 1e6:,.0f} MB)"
    )
    return f"{text} — {kept}, weighted by {_NAMES[view['weigh']]}."
