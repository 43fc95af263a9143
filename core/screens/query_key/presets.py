"""Settings of the query-key page that are worth seeing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.analysis.strongest_link import strongest_link
from core.screens.query_key.picture_controls import ALL_HEADS, BOTH, ONE_HEAD
from core.ui.messages import quote
from core.ui.presets import Preset, show

if TYPE_CHECKING:
    from core.model import Trace


def show_presets(trace: Trace) -> None:
    """Settings worth seeing on this text."""
    show("query_key", lambda: _presets(trace))


def _presets(trace: Trace) -> list[Preset]:
    layers = trace.shape[0]
    picture = {"part": "picture", "projection": "PCA", "dims": "2-D", "span": ONE_HEAD}
    presets = []
    link = strongest_link(trace, layers=range(layers))
    if link is not None:
        query, key = trace.tokens[link.query].display, trace.tokens[link.key].display
        presets.append(
            Preset(
                "The strongest link",
                f"L{link.layer + 1} H{link.head + 1} gives {link.weight:.2f} of {quote(query)} to"
                f" {quote(key)}. How near do they lie before and after?",
                {**picture, "layer": str(link.layer + 1), "head": str(link.head + 1)},
            )
        )
    return [
        *presets,
        Preset(
            "A whole layer",
            "All heads of the last layer side by side, normalized.",
            {**picture, "span": ALL_HEADS, "stage": "normalized", "layer": str(layers)},
        ),
        Preset(
            "The best two dimensions can do",
            "A biplot of the scores: compare its correlation with the other projections.",
            {**picture, "projection": "biplot"},
        ),
        Preset(
            "Before and after the search",
            "Every head of the first layer before and after the notebook's a and c: do queries come"
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
            "Every pair of a head a point, beside the map of all heads: click one to see it.",
            {"part": "heads", "stage": "searched"},
        ),
        Preset(
            "Can it be trusted?",
            "Every projection beside full space and a uniform guess.",
            {"part": "trust"},
        ),
    ]
