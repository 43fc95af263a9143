"""The controls of the vector grid: the row above the picture, and those behind "More"."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from core.analysis.vectors import Summary, VectorSource
from core.ui import controls
from core.ui.current import found_head
from core.ui.frame.layout import pick_part
from core.ui.place import draw_stepper, head, layer
from core.vocabulary import labels_of

if TYPE_CHECKING:
    from core.model import Trace

_SOURCES: list[VectorSource] = ["attention", "queries", "keys", "values", "hidden states"]
_SUMMARIES: tuple[Literal["mean", "median", "max"], ...] = ("mean", "median", "max")


def pick_row(trace: Trace) -> tuple[VectorSource, Summary, int | None]:
    """Pick the source and the summary over heads, which hidden states do not have; and the layer.

    The layer is from 0, or None for all layers.
    """
    of_one = pick_part() == "one layer"
    source = controls.choice(
        "draw", _SOURCES, "Draw", subject="What can be drawn is", menu=True, width=136
    )
    has_heads = source != "hidden states"
    summary = head(trace, summaries=_SUMMARIES, follow=False) if has_heads else "mean"
    chosen = layer(trace) if of_one else None
    draw_stepper(*(["layer"] if of_one else []), *(["head"] if has_heads else []))
    return source, summary, chosen


def pick_further() -> tuple[bool, bool, bool]:
    """Pick whether special tokens are kept, planes normalised, and all colours used."""
    special = controls.flag("special", "Keep special tokens")
    normalize = controls.flag(
        "norm",
        "Normalise planes",
        default=True,
        help="Divide each plane by its Frobenius norm (Shoemaker 2024).",
    )
    tab20 = controls.flag(
        "tab20",
        "All colours, with a legend",
        help="Each token in a colour of matplotlib's tab20, as notebooks draw them.",
    )
    return special, normalize, tab20


def pick_held(trace: Trace, *, special: bool, pair: bool = True) -> list[int]:
    """Positions of the coloured tokens: those picked, else the `pair` that Home names."""
    labels = labels_of(trace.tokens)
    names = {t.position + 1: labels[t.position] for t in trace.tokens if special or not t.special}
    picks = controls.tokens(
        "pick",
        list(names),
        "Held tokens",
        names=names.__getitem__,
        placeholder="As on Home; or press arrows",
    )
    link = found_head(trace) if pair else None
    return [each - 1 for each in picks] or ([] if link is None else [link.query, link.key])
