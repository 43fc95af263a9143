"""What the page of patches sends: which layers, what of the others, and the file that is saved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from core.analysis.images.colour import standing_out
from core.analysis.images.marks import head_marks
from core.analysis.images.patch_scores import patches_of
from core.analysis.layer_payload import LayerPayload, vectors_size
from core.components.export import standalone_page
from core.components.patches import ALL_LAYERS_BYTES, PatchesView, Rows, pack_patches
from core.components.reported_state import state_to_send
from core.figures.palette import palette
from core.screens.images import cached
from core.screens.images.state import KEY, ROLLOUTS, held_token
from core.ui import cache
from core.ui.current import current_key
from core.ui.downloads import Contents
from core.ui.words.prose import Prose
from core.vocabulary import head_name

if TYPE_CHECKING:
    from core.model import Trace

_words = Prose(__file__)


def headline(trace: Trace, layer: int, head: int | str) -> str:
    """What the head on screen gives to the patch itself and to CLS, and which heads see colour."""
    marks = head_marks(trace)
    alike = np.unravel_index(int(marks.colour.argmax()), marks.colour.shape)
    heads = slice(None) if isinstance(head, str) else slice(head, head + 1)
    whole = f"layer {trace.layer_labels[layer]}"
    return _words(
        "headline",
        head=whole if isinstance(head, str) else head_name(trace, layer, head),
        itself=float(marks.itself[layer, heads].mean()),
        cls=None if marks.cls is None else float(marks.cls[layer, heads].mean()),
        alike=head_name(trace, int(alike[0]), int(alike[1])),
    )


def pack_for_page(trace: Trace, view: Mapping[str, Any], held: Contents) -> bytes:
    """All layers if they are small, else the one shown and a row of every head of the others."""
    sent, serial = state_to_send(KEY, view)
    return _pack(trace, view, sent, serial, held)


def file_later(trace: Trace, view: Mapping[str, Any], held: Contents) -> Callable[[], str]:
    """A function that writes the view as one HTML file, in the state that is on the screen."""
    data = _pack(trace, view, view, 0, held)
    return partial(
        standalone_page,
        "patches",
        data,
        f"Patches of {held.about} by {trace.model}",
        _note(trace, view),
        facts=held.facts,
    )


def sends_all(trace: Trace) -> bool:
    """Whether all layers are sent at once."""
    return _size(trace) <= ALL_LAYERS_BYTES


def _size(trace: Trace) -> int:
    """Bytes of all layers."""
    return sum(vectors_size(trace, layer) for layer in range(trace.shape[0]))


def _pack(
    trace: Trace, view: Mapping[str, Any], sent: Mapping[str, Any], serial: int, held: Contents
) -> bytes:
    key, patches, whole = current_key(trace.model), patches_of(trace), sends_all(trace)
    shown = trace.layer_labels.index(int(view["layer"]))
    layers = range(trace.shape[0]) if whole else (shown,)
    start = patches.first + standing_out(patches)
    both = palette("dark")  # light colours: they lie on a darkened image in either theme
    head = view["head"]
    facts = PatchesView(
        view=sent,
        serial=serial,
        start=start,
        heat={"from": both.key, "to": both.query},
        rows=None if whole else _rows(trace, key, view, start),
        rollout=cached.rollout(key, weighted=head == ROLLOUTS[1]) if head in ROLLOUTS else None,
        classes=cached.classes(key.model, key.image or ""),
        picture=held.titled("Patches"),
    )
    sent_layers = {
        each: LayerPayload.of(trace, each, sums=cached.row_sums(key, each)) for each in layers
    }
    return pack_patches(trace, patches, sent_layers, facts)


def _asked(trace: Trace, view: Mapping[str, Any], start: int) -> tuple[int, str, bool]:
    """The token that is looked at, whether "from" it or "to" it, and whether patches alone count.

    A key that is no patch is none where only patches count.
    """
    token, direction = held_token(trace, view, start), str(view["direction"])
    only_patches = bool(view["only_patches"])
    if only_patches and direction == "to" and trace.tokens[token].special:
        token = start
    return token, direction, only_patches


def _rows(trace: Trace, key: cache.TraceKey, view: Mapping[str, Any], start: int) -> Rows:
    token, direction, only_patches = _asked(trace, view, start)
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
