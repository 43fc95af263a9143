"""The heads and stages that a picture of queries and keys can span, and all that is picked."""

from __future__ import annotations

from dataclasses import dataclass

from core.analysis.projections.joint_embedding import Projection
from core.model.trace import Trace

ONE_HEAD, ALL_HEADS, BOTH = "one head", "all heads", "side by side"
BEST_STAGE, ALL_THREE, ALL_STAGES = "best", "all three", "all four"


@dataclass(frozen=True)
class PictureOptions:
    """What the picture shows and how.

    `shown` and `shown_keys` are the positions drawn. `stage` is one of the head's, the name of
    several, or ``BEST_STAGE``. `threshold` is the attention from which lines are drawn; None draws
    each query's strongest. `point` is the pinned one, as in links. With `pictured` an image
    stands beside the picture of one head, whose points are its patches unless they are `dots`.
    """

    shown: list[int]
    shown_keys: list[int]
    span: str
    stage: str
    projection: Projection
    in_space: bool
    colouring: str
    threshold: float | None
    point: str
    own_scale: bool
    sized: bool
    labelled: bool
    dots: bool
    pictured: bool


def has_looks(trace: Trace) -> bool:
    """Whether points stand for patches, which are drawn, coloured and followed by their looks."""
    return trace.input.kind == "image"
