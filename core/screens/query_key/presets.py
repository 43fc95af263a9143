"""Settings of the query-key page that are worth seeing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.analysis.strongest_link import strongest_link
from core.screens.query_key.controls import ALL_HEADS, BOTH, ONE_HEAD
from core.ui.messages import quote
from core.ui.presets import Preset, show

if TYPE_CHECKING:
    from core.model import Trace


def show_presets(trace: Trace) -> None:
    """Settings worth seeing on this text."""
    show("query_key", lambda: _presets(trace))


def _presets(trace: Trace) -> list[Preset]:
    last = str(trace.shape[0])
    picture = {"part": "picture", "projection": "PCA", "dims": "2-D", "span": ONE_HEAD}
    presets = [
        Preset(
            "A whole layer",
            "All heads of the last layer side by side, normalized.",
            {**picture, "span": ALL_HEADS, "stage": "normalized", "layer": last},
        ),
        Preset(
            "The best two dimensions can do",
            "A biplot of the scores: compare its correlation with the other projections.",
            {**picture, "projection": "biplot"},
        ),
        Preset(
            "Before and after the search",
            "Every head of the first layer before and after the notebook's a and c: do queries move"
            " nearer to the keys they attend to?",
            {**picture, "span": BOTH, "layer": "1"},
        ),
        Preset(
            "The notebook's search",
            "Which a and c does the search find, and does c matter?",
            {"part": "search", "layer": "1"},
        ),
        Preset(
            "Distance against dot product",
            "A point for every pair of a head, beside the map of all heads: click one to see it.",
            {"part": "heads", "stage": "searched"},
        ),
        Preset(
            "How faithful is it?",
            "Every projection beside full space and a uniform baseline.",
            {"part": "trust"},
        ),
    ]
    link = strongest_link(trace)
    if link is None:
        return presets
    query, key = (quote(trace.tokens[position].display) for position in (link.query, link.key))
    layer, head = str(link.layer + 1), str(link.head + 1)
    strongest = Preset(
        "The strongest link",
        f"In L{layer} H{head} {query} gives {link.weight:.2f} of its attention to {key}. How near"
        " are they before and after normalization?",
        {**picture, "layer": layer, "head": head},
    )
    return [strongest, *presets]
