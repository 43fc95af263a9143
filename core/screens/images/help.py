"""What the page of patches says: how to read it, examples for its controls, the mathematics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from core.analysis.arrays import Floats
from core.analysis.images.marks import head_marks
from core.screens.images.view import ROLLOUTS, sends_all
from core.ui import cache
from core.ui.current import current_key
from core.ui.presets import Preset
from core.ui.words.prose import Prose
from core.vocabulary import head_name

if TYPE_CHECKING:
    from core.model import Trace

_words = Prose(__file__)
MATHEMATICS = _words("mathematics")


def explain(trace: Trace, view: Mapping[str, Any]) -> str:
    """How to read the picture, true for what is on the screen."""
    rolls = view["head"] in ROLLOUTS
    return _words(
        "reading",
        from_query=view["direction"] == "from",
        inexact=rolls and cache.transformed_norms(current_key(trace.model)) is None,
        few=not sends_all(trace),
        layer=view["layer"],
    )


def headline(trace: Trace, layer: int, head: int | str) -> str:
    """What the head on screen gives to the patch itself and to CLS, and which heads see colour."""
    marks = head_marks(trace)
    alike = _strongest(marks.colour)
    heads = slice(None) if isinstance(head, str) else slice(head, head + 1)
    whole = f"layer {trace.layer_labels[layer]}"
    return _words(
        "headline",
        head=whole if isinstance(head, str) else head_name(trace, layer, head),
        itself=float(marks.itself[layer, heads].mean()),
        cls=None if marks.cls is None else float(marks.cls[layer, heads].mean()),
        alike=head_name(trace, *alike),
    )


def examples(trace: Trace) -> list[Preset]:
    """Settings worth seeing on this image; heads are measured, not listed."""
    marks = head_marks(trace)
    colour, itself = _strongest(marks.colour), _strongest(marks.itself)
    alike = _words("like_colours", head=head_name(trace, *colour), share=marks.colour[colour])
    stays = _words("to_itself", head=head_name(trace, *itself), share=marks.itself[itself])
    presets = [
        Preset("Similar colours", alike, _state(trace, *colour)),
        Preset("Attends to itself", stays, _state(trace, *itself)),
    ]
    if marks.cls is not None:
        resting = _strongest(marks.cls)
        rests = _words("on_cls", head=head_name(trace, *resting), share=marks.cls[resting])
        state = _state(trace, *resting, patch="cls", direction="to")
        presets.append(Preset("Attends to CLS", rests, state))
    return presets


def _strongest(scores: Floats) -> tuple[int, int]:
    """The layer and the head (from 0) with the largest score (layer, head)."""
    layer, head = np.unravel_index(int(scores.argmax()), scores.shape)
    return int(layer), int(head)


def _state(trace: Trace, layer: int, head: int, **changes: str) -> dict[str, str | int]:
    """The page's state for this head (from 0), with `changes`."""
    return {"layer": str(trace.layer_labels[layer]), "head": str(head + 1), **changes}
