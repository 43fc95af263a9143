"""What the head view page sends: which layers, weighted how, and the file that is saved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from core.analysis.head_patterns import head_scores
from core.analysis.view_weights import layer_weights, payload_size, value_norms
from core.components.head_view import HeadView, Weighting, pack_head_view, save_head_view
from core.figures.palette import token_colours
from core.ui.head_view_state import view_to_send

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from core.analysis.view_weights import LayerWeights
    from core.model import Trace
    from core.model.trace import Array

# Below it all layers are sent at once, and the layer slider needs no server.
ALL_LAYERS_BYTES = 1_000_000
# The same for the file that is saved; in base64 it becomes a third larger.
ALL_LAYERS_IN_FILE = 12_000_000
SCORES = ("previous", "next", "self", "first", "delimiter", "entropy")
_LONGEST_QUOTE = 300  # characters of the text in the saved file's note


def weightings(trace: Trace) -> list[Weighting]:  # noqa: ARG001
    """What the lines can show for this model."""
    return [
        Weighting("attention", "attention", "The weights after softmax"),
        Weighting("value", "× |value|", "Attention times the length of the value it brings"),
        Weighting("transformed", "× |f(value)|", "", disabled=True),
    ]


def pack_for_page(trace: Trace, view: Mapping[str, Any], offered: Sequence[Weighting]) -> bytes:
    """All layers where they are few and short, else the one that `view` names."""
    sent, serial = view_to_send(view)
    # Measuring the heads of a long text takes a while: not before someone wants to know.
    measured = view["what"] or _fits(trace, ALL_LAYERS_BYTES)
    return _pack(trace, view, _facts(trace, sent, serial, offered, measured=measured))


def page_to_save(trace: Trace, view: Mapping[str, Any], offered: Sequence[Weighting]) -> str:
    """The head view as one HTML file, in the state that is on the screen."""
    facts = _facts(trace, view, 0, offered, measured=True)
    data = _pack(trace, view, facts, ALL_LAYERS_IN_FILE)
    return save_head_view(data, f"Head view of {trace.model}", _note(trace, view))


def _facts(
    trace: Trace,
    view: Mapping[str, Any],
    serial: int,
    offered: Sequence[Weighting],
    *,
    measured: bool,
) -> HeadView:
    every = head_scores(trace) if measured else {}
    scores = {name: every[name] for name in SCORES if every}
    colours = {theme: token_colours(trace.shape[1], theme) for theme in ("light", "dark")}
    return HeadView(
        view, serial, offered, colours, {name: scores[name] for name in SCORES if scores}
    )


def _pack(
    trace: Trace, view: Mapping[str, Any], facts: HeadView, most: int = ALL_LAYERS_BYTES
) -> bytes:
    every = range(trace.shape[0])
    wanted = every if _fits(trace, most) else [int(view["layer"]) - 1]
    layers = {layer: _weigh(trace, layer, view["weigh"]) for layer in wanted}
    return pack_head_view(trace, layers, view["weigh"], facts)


def _fits(trace: Trace, most: int) -> bool:
    return sum(payload_size(trace, layer) for layer in range(trace.shape[0])) <= most


def _weigh(trace: Trace, layer: int, weighting: str) -> LayerWeights:
    factor: Array | None = value_norms(trace, layer) if weighting == "value" else None
    return layer_weights(trace, layer, factor)


def _note(trace: Trace, view: Mapping[str, Any]) -> str:
    """What the file holds, in plain text."""
    sentences = [
        " ".join(token.display for token in trace.tokens if token.segment == segment)
        for segment in sorted({token.segment for token in trace.tokens})
    ]
    text = " / ".join(sentences)
    if len(text) > _LONGEST_QUOTE:
        text = text[: _LONGEST_QUOTE - 1] + "…"
    layers = trace.shape[0]
    if _fits(trace, ALL_LAYERS_IN_FILE):
        kept = f"All {layers} layers are in this file."
    else:
        size = sum(payload_size(trace, layer) for layer in range(layers))
        kept = (
            f"Layer {view['layer']} of {layers} is in this file: all of them would take"
            f" {size / 1e6:,.0f} MB."
        )
    return f"{text} — {kept}"
