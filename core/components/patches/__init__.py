"""Patches: an image with its grid, and over it what one patch attends to or what attends to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.analysis.images.patch_scores import patches_of
from core.analysis.layer_payload import LayerPayload
from core.components.packing import grid_of, pack_layers, sides_of, stamp_of
from core.components.reported_state import view_of
from core.model.trace import Array, Token, Trace

ALL_LAYERS_BYTES = 4_000_000  # up to here all layers are sent: another needs no server
_STEPS = 255  # of a map that the server sends, from 0 to the map's maximum
show_patches = view_of("patches")


@dataclass(frozen=True, eq=False)
class Rows:
    """One token's attention in every head and layer, for a browser that has only one layer.

    `maps` are (layer, head, row, column).
    """

    maps: Array
    token: int
    direction: str
    only_patches: bool


@dataclass(frozen=True, eq=False)
class PatchesView:
    """What the view receives besides the layers.

    Attributes
    ----------
    view : the state as links write it: layer, head, patch, direction, only_patches.
    serial : when it changes, the component takes `view`; else it keeps its own state.
    start : the token that is shown before anyone points.
    heat : colours of the heatmap, ``#rrggbb``, light on a dark ground: of keys in "from" (a query's
        row), and of queries in "to" (a key's column).
    rows : only if not all layers are sent.
    rollout : attention rollout of CLS, all layers, (token,), if chosen in place of a head.
    classes : the model's predicted classes, with probabilities.
    picture : the name and the facts of a saved picture; the component adds layer, head and patch.
    """

    view: Mapping[str, Any]
    serial: int
    start: int
    heat: Mapping[str, str]
    rows: Rows | None = None
    rollout: Array | None = None
    classes: Sequence[tuple[str, float]] = ()
    picture: Mapping[str, Any] | None = None


def link_name(token: Token) -> str:
    """The name of a token in links: r3c5, cls, reg1."""
    return token.text.strip("[]").lower()


def pack_patches(trace: Trace, layers: Mapping[int, LayerPayload], facts: PatchesView) -> bytes:
    """What the component receives: layers (from 0) as vectors, never as weights."""
    patches = patches_of(trace)
    settings: dict[str, Any] = {
        "stamp": stamp_of(trace),
        "serial": facts.serial,
        "view": dict(facts.view),
        "layerLabels": trace.layer_labels,
        "heads": trace.shape[1],
        "sides": sides_of(trace.tokens),
        "grid": grid_of(patches),
        "start": facts.start,
        "heat": dict(facts.heat),
        "classes": [[name, round(float(share), 6)] for name, share in facts.classes],
        "picture": facts.picture,
        "asked": None,
    }
    arrays: dict[str, NDArray[Any]] = {
        "pixels": patches.pixels,
        "means": np.rint(patches.colours * 255).astype(np.uint8),
    }
    if facts.rollout is not None:
        arrays["rollout"] = facts.rollout
    if facts.rows is not None:
        rows = facts.rows
        settings["asked"] = {
            "token": rows.token,
            "direction": rows.direction,
            "onlyPatches": rows.only_patches,
        }
        tops = rows.maps.max(axis=(2, 3))  # (layer, head); each map is in steps of its own
        scale = np.divide(_STEPS, tops, out=np.zeros_like(tops), where=tops > 0)
        steps = np.rint(rows.maps * scale[:, :, None, None])
        arrays |= {"rows": steps.astype(np.uint8), "tops": tops}
    return pack_layers(settings, layers, **arrays)
