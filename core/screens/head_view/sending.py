"""What the head view page sends: which layers, weighted how, and the file that is saved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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
from core.ui.current import current_key
from core.ui.words.pattern_words import SCORE_WORDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from core.model import Trace
    from core.model.trace import Array

# Below it the layers beside the one on screen follow when the browser has time.
NEAR_LAYER_BYTES = 2_000_000
# The saved file holds all layers below it; in base64 it grows by a third.
ALL_LAYERS_IN_FILE = 12_000_000
_MAX_QUOTE = 300  # characters of the text in the saved file's note
_NAMES = {"attention": "attention", "value": "× |value|", "transformed": "× |f(value)|"}


@dataclass(frozen=True, eq=False)
class Screen:
    """What one run of the page shows.

    Attributes
    ----------
    view : the state, as :func:`core.screens.head_view.state.restore_view` gives it.
    offered : the weightings.
    key : what the trace is cached by.
    norms : lengths of the transformed values where they are shown, float32 (layer, head, token).
    """

    trace: Trace
    view: Mapping[str, Any]
    offered: Sequence[Weighting]
    key: cache.TextKey
    norms: Array | None

    @property
    def layer(self) -> int:
        """The layer shown, from 0."""
        return int(self.view["layer"]) - 1

    @property
    def size(self) -> int:
        """Bytes of all layers."""
        return sum(payload_size(self.trace, layer) for layer in range(self.trace.shape[0]))


def weightings(trace: Trace) -> list[Weighting]:
    """What the lines can show for this model."""
    known = output_projections(cache.model(trace.model)) is not None
    meanings = {
        "attention": "The weights after softmax",
        "value": "Attention times the length of the value it brings",
        "transformed": "Attention times the length of a token's part in what the head adds"
        if known
        else f"Where {trace.model} keeps its output projection is not known",
    }
    return [
        Weighting(name, _NAMES[name], meaning, disabled=name == "transformed" and not known)
        for name, meaning in meanings.items()
    ]


def on_screen(trace: Trace, view: Mapping[str, Any], offered: Sequence[Weighting]) -> Screen:
    """What this run of the page shows."""
    key = current_key(trace.model)
    norms = cache.transformed_norms(*key) if view["weigh"] == "transformed" else None
    return Screen(trace, view, offered, key, norms)


def pack_for_page(screen: Screen) -> bytes:
    """All layers if they are few and short, else the one shown.

    Once the browser has asked for them, its neighbours too.
    """
    trace, view, shown = screen.trace, screen.view, screen.layer
    sent, serial = view_to_send(view)
    whole = screen.size <= ALL_LAYERS_BYTES
    near = not whole and payload_size(trace, shown) <= NEAR_LAYER_BYTES
    count = trace.shape[0]
    wanted = range(count) if whole else (shown, *(near_layers(shown) if near else ()))
    layers = {
        layer: cache.view_layer(screen.key, layer, view["weigh"])
        for layer in wanted
        if layer in range(count)
    }
    # Measuring the heads of a long text takes a while: not before someone wants to know.
    scores = cache.head_scores(screen.key) if view["what"] or whole else {}
    facts = _facts(screen, sent, serial, scores, near=near)
    return pack_head_view(trace, layers, view["weigh"], facts)


def page_to_save(screen: Screen) -> str:
    """The head view as one HTML file, in the state that is on the screen.

    Uses no cache and no session: Streamlit calls it outside a run of the page.
    """
    trace, view, count = screen.trace, screen.view, screen.trace.shape[0]
    whole = screen.size <= ALL_LAYERS_IN_FILE
    layers = {
        layer: weighted_layer(trace, layer, view["weigh"], screen.norms)
        for layer in (range(count) if whole else (screen.layer,))
    }
    facts = _facts(screen, view, 0, head_scores(trace, HEAD_VIEW))
    data = pack_head_view(trace, layers, view["weigh"], facts)

    text = " / ".join(filter(None, screen.key[1:]))
    if len(text) > _MAX_QUOTE:
        text = text[: _MAX_QUOTE - 1] + "…"
    content = (
        f"All {count} layers are in this file"
        if whole
        else f"Layer {view['layer']} of {count} is in this file (all of them would take"
        f" {screen.size / 1e6:,.0f} MB)"
    )
    note = f"{text} — {content}, weighted by {_NAMES[view['weigh']]}."
    return save_head_view(data, f"Head view of {trace.model}", note)


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
