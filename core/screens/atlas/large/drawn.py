"""What is drawn of a large atlas: all tokens, counted in cells, or a sample as points."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.ui import controls

if TYPE_CHECKING:
    from core.analysis.atlas.files import LargeAtlas

COUNTS, SAMPLE = "counts", "sample"
_NAMES = {COUNTS: "All tokens, counted", SAMPLE: "Points of a sample"}


def pick_drawn(large: LargeAtlas | None) -> str:
    """One of the two; of an atlas that points can show, its points without asking."""
    if large is None:
        return SAMPLE
    return controls.choice(
        "drawn",
        _NAMES,
        "Draw",
        subject="One can draw",
        menu=True,
        optional=True,
        help=f"Counts are of all {large.facts.tokens:,} tokens, in cells. Points are of"
        f" {len(large.sample.tokens):,} tokens: a random sample of whole sentences, the same in"
        " every head.",
    )


def large_of(shelf_large: LargeAtlas | None) -> LargeAtlas:
    """The atlas whose counts are drawn."""
    assert shelf_large is not None  # noqa: S101 - else points are drawn
    return shelf_large
