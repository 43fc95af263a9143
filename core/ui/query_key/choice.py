"""What the first row of the query-key page's controls says, and the head's constants for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.analysis.scaling import scale_head

if TYPE_CHECKING:
    from core.analysis.joint_embedding import Metric
    from core.analysis.scaling import Criterion, HeadScaling
    from core.analysis.target import TargetKind
    from core.model import Trace
    from core.ui.cache import TextKey

SHARED = ("part", "layer", "head", "distance", "target", "criterion")  # in every part's link


@dataclass(frozen=True)
class Choice:
    """What every part of the page is told; layer and head from 0."""

    key: TextKey
    layer: int
    head: int
    distance: Metric
    criterion: Criterion
    target: TargetKind = "centred"

    @property
    def name(self) -> str:
        """The head, as people write it."""
        return f"L{self.layer + 1} H{self.head + 1}"


def scaling_of(trace: Trace, choice: Choice, head: int | None = None) -> HeadScaling:
    """The constants of the head on screen, or of another one of its layer."""
    at = choice.head if head is None else head
    return scale_head(trace, choice.layer, at, choice.distance, choice.criterion, choice.target)
