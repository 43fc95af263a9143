"""The controls of the vector grid: the row above the picture, and what is behind "More"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from core.analysis.pair_projection import default_pair
from core.analysis.vectors import Source, Summary
from core.figures.vectors import MANY
from core.ui import controls
from core.ui.current import found_head
from core.ui.frame.layout import pick_part
from core.ui.place import draw_stepper, head, layer
from core.vocabulary import labels_of

if TYPE_CHECKING:
    from core.model import Trace

_SOURCES: list[Source] = ["attention", "queries", "keys", "values", "hidden states"]
_SUMMARIES: tuple[Literal["mean", "median", "max"], ...] = ("mean", "median", "max")


@dataclass(frozen=True)
class Row:
    """What the row says; `layer` is from 0, None where all are shown."""

    view: str
    source: Source
    summary: Summary
    layer: int | None


@dataclass(frozen=True)
class Further:
    """What stands behind "More"; `heads` are those of a summary, from 0, empty for all."""

    heads: list[int]
    special: bool
    normalize: bool
    tab20: bool = False
    align: bool = False
    own_scale: bool = False
    space: bool = False


def pick_row(trace: Trace) -> Row:
    """What is drawn and how; hidden states have no heads to choose."""
    view = pick_part()
    source = controls.choice(
        "draw", _SOURCES, "Draw", subject="What can be drawn is", menu=True, width=136
    )
    has_heads, of_one = source != "hidden states", view == "one layer"
    summary = head(trace, summaries=_SUMMARIES, follow=False) if has_heads else "mean"
    shown = layer(trace) if of_one else None
    draw_stepper(*(["layer"] if of_one else []), *(["head"] if has_heads else []))
    return Row(view, source, summary, shown)


def pick_further(trace: Trace, row: Row) -> Further:
    """The rest: each is offered only where it changes the picture."""
    summarised = isinstance(row.summary, str) and row.source != "hidden states"
    heads = _pick_heads(trace) if summarised else []
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
    if row.view == "one layer":
        space = controls.flag("space", "Three dimensions")
        return Further(heads, special, normalize, tab20, space=space)
    if row.view == "play":
        return Further(heads, special, normalize, tab20, align=True)
    align = controls.flag(
        "align",
        "Align layers",
        help="Turn and mirror each plane onto the one before, so that a token can be followed."
        " Distances do not change.",
    )
    own_scale = controls.flag(
        "scale",
        "Zoom each panel",
        default=len(trace.tokens) > MANY,
        help="Off: one scale for all layers, so that lengths compare.",
    )
    return Further(heads, special, normalize, tab20, align, own_scale)


def pick_held(trace: Trace, *, special: bool, pair: bool = True) -> list[int]:
    """Positions of the tokens that are coloured: those picked, else the `pair` that Home names."""
    labels = labels_of(trace.tokens)
    names = {t.position + 1: labels[t.position] for t in trace.tokens if special or not t.special}
    picks = controls.tokens(
        "pick",
        list(names),
        "Held tokens",
        names=names.__getitem__,
        placeholder="As on Home; or press arrows",
    )
    named = default_pair(trace, found_head(trace)) if pair else None
    return [each - 1 for each in picks] or list(named or ())


def _pick_heads(trace: Trace) -> list[int]:
    """Which heads a summary is taken over, from 0; an empty list means all."""
    picked = controls.tokens(
        "of",
        list(range(1, trace.shape[1] + 1)),
        "Heads included",
        place=f"among the {trace.shape[1]} heads of {trace.model}",
        placeholder="all heads",
        column=230,
    )
    return [number - 1 for number in sorted(picked)]
