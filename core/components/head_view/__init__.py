"""The head view: the heads of one layer as lines between two columns of tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.analysis.layer_payload import LayerPayload
from core.components.packing import pack_layers, patch_sprite, sides_of, stamp_of
from core.components.reported_state import state_to_send, view_of
from core.model.trace import Trace

ALL_LAYERS_BYTES = 1_000_000  # up to here all layers are sent: the slider needs no server
show_head_view = view_of("head_view")


@dataclass(frozen=True)
class WeightingOption:
    """What lines can show: name in links, label, help text, and whether it is unavailable."""

    value: str
    label: str
    title: str
    disabled: bool = False


ATTENTION = WeightingOption("attention", "attention", "The weights after softmax")


@dataclass(frozen=True, eq=False)
class HeadView:
    """What the head view receives besides the layers.

    Attributes
    ----------
    view : the state as links write it: layer and heads in the numbers that people read.
    serial : when it changes, the component takes `view`; else it keeps its own state.
    weightings : every option on offer.
    colours : one per head for the themes "light" and "dark", ``#rrggbb``.
    found : the link that is named before anyone points: the number of its layer, and its head,
        query and key from 0.
    picture : the name and the facts of a saved picture; the component adds the layer and heads.
    bare : whether to omit the controls for layer, heads and tokens, as the page has its own.
    """

    view: Mapping[str, Any]
    serial: int
    weightings: Sequence[WeightingOption]
    colours: Mapping[str, Sequence[str]]
    found: Mapping[str, int] | None = None
    picture: Mapping[str, Any] | None = None
    bare: bool = False


def pack_head_view(
    trace: Trace, layers: Mapping[int, LayerPayload], weighting: str, facts: HeadView
) -> bytes:
    """What the component receives: layers (from 0), tokens, and the state.

    `weighting` is the value of the option that the layers were weighted by.
    """
    settings: dict[str, Any] = {
        "stamp": stamp_of(trace),
        "weigh": weighting,
        "weightings": [vars(weighting) for weighting in facts.weightings],
        "sides": sides_of(trace.tokens, trace.source),
        "patches": patch_sprite(trace),
        "layerLabels": trace.layer_labels,
        "heads": trace.shape[1],
        "causal": trace.causal,
    }
    return pack_layers(vars(facts) | settings, layers)


def show_one_head(
    trace: Trace,
    layers: Mapping[int, LayerPayload],
    place: tuple[int, int],
    colours: Mapping[str, Sequence[str]],
    *,
    key: str,
    pinned: Sequence[int] = (),
    picture: Mapping[str, Any] | None = None,
) -> None:
    """Draw the lines of the head at `place` (layer and head, from 0), without controls.

    The browser is sent these `layers`. If positions are `pinned`, only their lines are shown.
    `colours` and `picture` are as in :class:`HeadView`.
    """
    layer, head = place
    view: dict[str, Any] = {
        "layer": str(trace.layer_labels[layer]),
        "pairs": "all",
        "weigh": ATTENTION.value,
        "hide": False,
        "heads": [head + 1],
        "from": [position + 1 for position in pinned],
        "to": [],
    }
    _, serial = state_to_send(key, view | {"of": stamp_of(trace)})
    facts = HeadView(view, serial, [ATTENTION], colours, picture=picture, bare=True)
    packed = pack_head_view(trace, layers, ATTENTION.value, facts)
    show_head_view(packed, key=key, on_view=lambda _: None)
