"""The first picture: words with arcs of attention, a map of all heads, four cards about a pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.analysis.layer_payload import LayerPayload
from core.analysis.strongest_link import FoundLink, Link
from core.components.packing import pack_layers, sides_of, stamp_of
from core.components.reported_state import view_of
from core.model.trace import Trace

show_arcs = view_of("arcs")


@dataclass(frozen=True, eq=False)
class ArcsView:
    """What the picture receives besides the layers.

    Attributes
    ----------
    view : the state, in the numbers that people read: layer, head, and a cell, the pinned query and
        key, if any.
    serial : when it changes, the component takes `view`; else it keeps its own state.
    found : the pair that is shown first.
    tail : how the sentence about that pair ends.
    links : from :func:`core.analysis.strongest_link.strongest_links`.
    picture : the name and the facts of a saved picture; the component adds the layer and head.
    """

    view: Mapping[str, Any]
    serial: int
    found: FoundLink
    tail: str
    links: Sequence[Sequence[Link]] = ()
    picture: Mapping[str, Any] | None = None


def pack_arcs(trace: Trace, layers: Mapping[int, LayerPayload], facts: ArcsView) -> bytes:
    """What the component receives; `layers` (by index, from 0) have queries, keys and sums.

    Self-attention only: it cannot draw cross attention.
    """
    links = [link for row in facts.links for link in row]
    places = {name: getattr(facts.found, name) for name in ("layer", "head", "query", "key")}
    settings: dict[str, Any] = {
        "stamp": stamp_of(trace),
        "serial": facts.serial,
        "view": dict(facts.view),
        "sides": sides_of(trace.tokens),
        "layerLabels": trace.layer_labels,
        "heads": trace.shape[1],
        "sinks": [layer.sink is not None for layer in trace.layers],
        "found": places | {"tail": facts.tail},
        "picture": facts.picture,
    }
    return pack_layers(
        settings,
        layers,
        linkWeights=np.array([link.weight for link in links], np.float32),
        linkPairs=np.array([(link.query, link.key) for link in links], np.uint16),
    )
