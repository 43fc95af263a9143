"""What is drawn, and the lines under Share that give it: a sample as points, or all as counts."""

from __future__ import annotations

import operator

from core.atlas.layouts import EVERY_HEAD_TOKENS, lay_out_head
from core.atlas.sources import Source
from core.screens.atlas.corpus.noting import points_of
from core.screens.atlas.screen import Screen
from core.ui import controls, python

COUNTS, SAMPLE = "counts", "sample"
_NAMES = {COUNTS: "All tokens, counted", SAMPLE: "Points of a sample"}


def is_sampled(source: Source) -> bool:
    """Whether there are more tokens than are in memory, to be drawn as points."""
    return source.facts.tokens > len(source.sample.tokens)


def pick_counted(source: Source) -> bool:
    """Whether all tokens are drawn as counts; where all can be drawn as points, without asking."""
    if not is_sampled(source):
        return False
    picked = controls.choice(
        "drawn",
        _NAMES,
        "Draw",
        subject="One can draw",
        menu=True,
        optional=True,
        help=f"Counts are of all {source.facts.tokens:,} tokens, in cells. Points are of"
        f" {len(source.sample.tokens):,} tokens: a random sample of whole sentences, the same in"
        " every head.",
    )
    return picked == COUNTS


def note_points(screen: Screen) -> None:
    """Of all heads: every token's components, or the layout of the head that was chosen."""
    if screen.projection == "PCA":
        python.made("points", None, points_of(screen.atlas, screen.stage))
    else:
        place = screen.layer, screen.head
        look = screen.stage, screen.projection
        layout = python.call(
            lay_out_head, screen.atlas, *place, *look, max_tokens=EVERY_HEAD_TOKENS
        )
        python.made("layout", None, layout)


def note_head_points(screen: Screen, axes: int) -> None:
    """Of one head, (queries then keys, component)."""
    place = screen.layer, screen.head
    if screen.projection == "PCA":
        shown = (*place, slice(None), slice(None, axes))
        run = python.call(operator.getitem, points_of(screen.atlas, screen.stage), shown)
    else:
        look = screen.stage, screen.projection, axes
        python.made("layout", None, python.call(lay_out_head, screen.atlas, *place, *look))
        run = python.call(getattr, python.Variable("layout"), "points")
    python.made("points", None, run)
