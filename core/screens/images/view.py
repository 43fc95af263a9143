"""The view of patches: its state in link, session and picture, and the data sent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from core.analysis.images.colour import standing_out
from core.analysis.images.marks import head_marks
from core.analysis.images.patch_scores import cls_position, patches_of
from core.analysis.layer_payload import LayerPayload, vectors_size
from core.components.export import standalone_page
from core.components.patches import ALL_LAYERS_BYTES, PatchesView, Rows, link_name, pack_patches
from core.components.reported_state import changes, state_to_send
from core.figures.palette import palette
from core.screens.images import cached
from core.ui import cache, controls
from core.ui.current import current_key
from core.ui.downloads import Contents
from core.ui.words.prose import Prose
from core.vocabulary import head_name

if TYPE_CHECKING:
    from core.model import Trace

_words = Prose(__file__)
ROLLOUTS = ("rollout", "rollout-by-norms")  # choices of head: both are for CLS
KEY = "patches"  # the component's
FREE = "none"  # no token is pinned
_TEXTS = ("layer", "head", "patch", "direction")


def headline(trace: Trace, layer: int, head: int | str) -> str:
    """How much the head attends to the patch itself and CLS, and which head follows colour most."""
    marks = head_marks(trace)
    alike = np.unravel_index(int(marks.colour.argmax()), marks.colour.shape)
    heads = slice(None) if isinstance(head, str) else slice(head, head + 1)
    layer_name = f"layer {trace.layer_labels[layer]}"
    return _words(
        "headline",
        head=layer_name if isinstance(head, str) else head_name(trace, layer, head),
        itself=float(marks.itself[layer, heads].mean()),
        cls=None if marks.cls is None else float(marks.cls[layer, heads].mean()),
        alike=head_name(trace, int(alike[0]), int(alike[1])),
    )


def head_summaries(trace: Trace) -> tuple[str, ...]:
    """The choices besides single heads; rollouts need CLS."""
    return ("mean", "max", *(ROLLOUTS if cls_position(trace) is not None else ()))


def restore_view(trace: Trace) -> dict[str, Any]:
    """The state, from the link if it has one, checked against what this image allows.

    Layer and head have already been picked.
    """
    names = [link_name(token) for token in trace.tokens]
    return {
        "layer": st.session_state["layer"],
        "head": st.session_state["head"],
        "patch": controls.choice(
            "patch", [FREE, *names], subject="The patches of this image are", optional=True
        ),
        "direction": controls.choice(
            "direction", ("from", "to"), subject="The directions are", optional=True
        ),
        "only_patches": controls.flag("only_patches", optional=True),
    }


def held_token(trace: Trace, view: Mapping[str, Any], start: int) -> int:
    """The position of the pinned token, else `start`."""
    positions = (token.position for token in trace.tokens if link_name(token) == view["patch"])
    return next(positions, start)


def take_report(view: Mapping[str, Any]) -> None:
    """Store the state that the component reports in the session; ignore anything else."""
    report: dict[str, Any] = {key: view[key] for key in _TEXTS if isinstance(view.get(key), str)}
    if isinstance(view.get("only_patches"), bool):
        report["only_patches"] = view["only_patches"]
    controls.pick(**changes(KEY, report))


def pack_for_page(trace: Trace, view: Mapping[str, Any], export: Contents) -> bytes:
    """All layers if they are small, else the one shown, with one row per head for the others."""
    sent, serial = state_to_send(KEY, view)
    return _pack(trace, view, sent, serial, export)


def file_later(trace: Trace, view: Mapping[str, Any], export: Contents) -> Callable[[], str]:
    """A function that writes the view as one HTML file, in the state on screen."""
    data = _pack(trace, view, view, 0, export)
    return partial(
        standalone_page,
        "patches",
        data,
        f"Patches of {export.about} by {trace.model}",
        _note(trace, view),
        facts=export.facts,
    )


def sends_all(trace: Trace) -> bool:
    """Whether all layers are sent together."""
    return _size(trace) <= ALL_LAYERS_BYTES


def _size(trace: Trace) -> int:
    """The size of all layers, in bytes."""
    return sum(vectors_size(trace, layer) for layer in range(trace.shape[0]))


def _pack(
    trace: Trace, view: Mapping[str, Any], sent: Mapping[str, Any], serial: int, export: Contents
) -> bytes:
    key, patches, all_layers = current_key(trace.model), patches_of(trace), sends_all(trace)
    index = trace.layer_labels.index(int(view["layer"]))
    layers = range(trace.shape[0]) if all_layers else (index,)
    start = patches.first + standing_out(patches)
    both = palette("dark")  # light colours: in either theme they lie on a darkened image
    head = view["head"]
    facts = PatchesView(
        view=sent,
        serial=serial,
        start=start,
        heat={"from": both.key, "to": both.query},
        rows=None if all_layers else _rows(trace, key, view, start),
        rollout=cached.rollout(key, weighted=head == ROLLOUTS[1]) if head in ROLLOUTS else None,
        classes=cached.classes(key.model, key.image or ""),
        picture=export.titled("Patches"),
    )
    sent_layers = {
        each: LayerPayload.of(trace, each, sums=cached.row_sums(key, each)) for each in layers
    }
    return pack_patches(trace, sent_layers, facts)


def _rows(trace: Trace, key: cache.TraceKey, view: Mapping[str, Any], start: int) -> Rows:
    """The rows of the token looked at; where only patches count, of `start` for another key."""
    token, direction = held_token(trace, view, start), str(view["direction"])
    only_patches = bool(view["only_patches"])
    if only_patches and direction == "to" and trace.tokens[token].special:
        token = start
    maps = cached.patch_maps(key, token, direction, only_patches=only_patches)
    return Rows(maps, token, direction, only_patches)


def _note(trace: Trace, view: Mapping[str, Any]) -> str:
    layers = trace.shape[0]
    if sends_all(trace):
        return f"All {layers} layers are in this file."
    return (
        f"Layer {view['layer']} of {layers} is in this file (all of them would take"
        f" {_size(trace) / 1e6:,.0f} MB)."
    )
