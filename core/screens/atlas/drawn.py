"""The lines under Share that give the points on screen."""

from __future__ import annotations

import operator

from core.atlas.layouts import EVERY_HEAD_TOKENS, lay_out_head
from core.screens.atlas.corpus.noting import points_of
from core.screens.atlas.screen import Screen
from core.ui import python


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
