"""What the head view page sends: which layers, weighted how, and the file that is saved."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from core.analysis.layer_payload import LayerPayload, drawn_size
from core.components.export import standalone_page
from core.components.head_view import (
    ALL_LAYERS_BYTES,
    HeadView,
    Weighting,
    pack_head_view,
)
from core.components.reported_state import state_to_send
from core.figures.palette import token_colours
from core.model.trace import Array
from core.model.weights.output_projection import output_projections
from core.screens.head_view import cached
from core.screens.head_view.state import KEY, link_to_name
from core.ui import cache
from core.ui.cache import first_model
from core.ui.current import current_key
from core.ui.downloads import Contents

if TYPE_CHECKING:
    from core.model import Trace

# The saved file holds all layers below it; in base64 it grows by a third.
ALL_LAYERS_IN_FILE = 12_000_000
_MAX_QUOTE = 300  # characters of the text in the saved file's note
_NAMES = {"attention": "attention", "value": "× |value|", "transformed": "× |f(value)|"}


def weightings(trace: Trace) -> list[Weighting]:
    """What the lines can show for this model."""
    known = first_model.is_awaited() or _is_output_known(trace)  # the first model's is
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


def _is_output_known(trace: Trace) -> bool:
    return output_projections(cache.model_of(trace), trace.attention_type) is not None


def shown_layer(trace: Trace, view: Mapping[str, Any]) -> int:
    """The index of the layer on the screen."""
    return trace.layer_labels.index(int(view["layer"]))


def pack_for_page(
    trace: Trace, view: Mapping[str, Any], offered: Sequence[Weighting], held: Contents
) -> bytes:
    """All layers if they are few and short, else the one shown."""
    key, whole = current_key(trace.model), _size(trace) <= ALL_LAYERS_BYTES
    sent, serial = state_to_send(KEY, view)
    wanted = range(trace.shape[0]) if whole else (shown_layer(trace, view),)
    packed = {layer: cached.view_layer(key, layer, view["weigh"]) for layer in wanted}
    facts = _facts(trace, sent, serial, offered, held, link_to_name(trace))
    return pack_head_view(trace, packed, view["weigh"], facts)


def file_later(
    trace: Trace, view: Mapping[str, Any], offered: Sequence[Weighting], held: Contents
) -> Callable[[], str]:
    """A function that writes the head view as one HTML file, in the state that is on the screen.

    It uses no cache and no session: Streamlit calls it outside a run of the page.
    """
    key = current_key(trace.model)
    norms = cache.transformed_norms(key) if view["weigh"] == "transformed" else None
    return partial(_write_file, trace, view, offered, key, norms, held, link_to_name(trace))


def _write_file(
    trace: Trace,
    view: Mapping[str, Any],
    offered: Sequence[Weighting],
    key: cache.TraceKey,
    norms: Array | None,
    held: Contents,
    found: Mapping[str, int] | None,
) -> str:
    layers, size = range(trace.shape[0]), _size(trace)
    content = f"All {len(layers)} layers are in this file"
    if size > ALL_LAYERS_IN_FILE:
        content = (
            f"Layer {view['layer']} of {len(layers)} is in this file (all of them would take"
            f" {size / 1e6:,.0f} MB)"
        )
        layers = layers[shown_layer(trace, view) :][:1]
    packed = {layer: LayerPayload.drawn(trace, layer, view["weigh"], norms) for layer in layers}
    facts = _facts(trace, view, 0, offered, held, found)
    text = trace.input.quoted(" / ".join(filter(None, (key.text, key.pair))))
    if len(text) > _MAX_QUOTE:
        text = text[: _MAX_QUOTE - 1] + "…"
    note = f"{text} — {content}, weighted by {_NAMES[view['weigh']]}."
    data = pack_head_view(trace, packed, view["weigh"], facts)
    title = f"Head view of {trace.model}"
    return standalone_page("head_view", data, title, note, facts=held.facts)


def _size(trace: Trace) -> int:
    """Bytes of all layers."""
    return sum(drawn_size(trace, layer) for layer in range(trace.shape[0]))


def _facts(
    trace: Trace,
    view: Mapping[str, Any],
    serial: int,
    offered: Sequence[Weighting],
    held: Contents,
    found: Mapping[str, int] | None,
) -> HeadView:
    colours = {theme: token_colours(trace.shape[1], theme) for theme in ("light", "dark")}
    return HeadView(view, serial, offered, colours, found, held.titled("Attention"))
