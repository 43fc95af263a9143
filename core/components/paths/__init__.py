"""The flow from one token back through the layers, as lines between columns of tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from core.analysis.rollout import Paths
from core.components.packing import pack, sides_of, stamp_of
from core.components.reported_state import as_index, reported
from core.components.scripts import register_component
from core.model.trace import Trace

_paths = register_component("paths")


def show_paths(
    trace: Trace,
    paths: Paths,
    picture: Mapping[str, Any],
    *,
    key: str,
    on_pick: Callable[[int], None],
) -> None:
    """Draw the paths of one of a trace's tokens; pointing at them never asks the server.

    `picture` is the name and the facts of a saved picture; `on_pick` is called with the position,
    from 0, of another token to follow. The kept flows are sent as edges, with the relevance of
    every token.
    """
    count = len(trace.tokens)

    def pick() -> None:
        token = as_index(reported(key, "pick").get("token"), count)
        if token is not None:
            on_pick(token)

    edges = np.stack(np.nonzero(paths.kept), axis=1)  # (edge, 3): layer, token after, before
    settings = {
        "stamp": stamp_of(trace),
        "sides": sides_of(trace.tokens),
        "layerLabels": trace.layer_labels,
        "target": paths.target,
        "picture": picture,
    }
    data = pack(
        settings,
        edges=edges.astype(np.uint16),
        flows=paths.flows[paths.kept],
        relevance=paths.relevance,
    )
    _paths(key=key, data=data, on_pick_change=pick)
