"""The flow from one token back through the layers, as lines between columns of tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.analysis.rollout import Paths
from core.components.packing import pack, sides_of, stamp_of
from core.components.reported_state import as_index, reported
from core.components.scripts import register_component
from core.model.trace import Trace

_paths = register_component("paths")


@dataclass(frozen=True, eq=False)
class PathsView:
    """What the view draws: a trace, the paths of one of its tokens, and facts to save with it."""

    trace: Trace
    paths: Paths
    picture: Mapping[str, Any]


def pack_paths(view: PathsView) -> bytes:
    """What the component receives: the kept flows as edges, and the relevance of every token."""
    trace, paths = view.trace, view.paths
    edges = np.stack(np.nonzero(paths.kept), axis=1)  # (edge, 3): layer, token after, before
    settings = {
        "stamp": stamp_of(trace),
        "sides": sides_of(trace.tokens),
        "layerLabels": trace.layer_labels,
        "target": paths.target,
        "picture": view.picture,
    }
    return pack(
        settings,
        edges=edges.astype(np.uint16),
        flows=paths.flows[paths.kept],
        relevance=paths.relevance,
    )


def show_paths(view: PathsView, *, key: str, on_pick: Callable[[int], None]) -> None:
    """Draw the paths; pointing at them never asks the server.

    `on_pick` is called with the position, from 0, of another token to follow.
    """
    count = len(view.trace.tokens)

    def pick() -> None:
        token = as_index(reported(key, "pick").get("token"), count)
        if token is not None:
            on_pick(token)

    _paths(key=key, data=pack_paths(view), on_pick_change=pick)
