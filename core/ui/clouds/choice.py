"""Which head is drawn as points, how it is measured, and what is computed from that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.analysis.query_key.layer_search import NOTEBOOK_RANGE, SearchRange
from core.analysis.query_key.scaling import scale_head
from core.ui import cache

if TYPE_CHECKING:
    from core.analysis.normalization import GridSearch
    from core.analysis.projections.joint_embedding import Metric, Projection
    from core.analysis.query_key.clouds import Cloud, HeadStage
    from core.analysis.query_key.scaling import Criterion, HeadScaling
    from core.analysis.query_key.target import TargetKind
    from core.model import Trace
    from core.ui.cache import TraceKey

STAGE_NAMES: dict[HeadStage, str] = {
    "raw": "raw",
    "translated": "translated",
    "normalized": "normalized",
    "searched": "a and c of the search",
}


@dataclass(frozen=True)
class Choice:
    """The head (layer and head from 0) and how it is measured.

    `number` is that of the layer, as people read it. `ranges` is what the notebook's search tries;
    `sources` and `targets` are the positions of the chosen tokens.
    """

    key: TraceKey
    layer: int
    head: int
    number: int
    distance: Metric
    criterion: Criterion
    target: TargetKind = "centred"
    ranges: SearchRange = NOTEBOOK_RANGE
    sources: tuple[int, ...] = ()
    targets: tuple[int, ...] = ()

    def name(self, head: int | None = None) -> str:
        """The head, or another one of its layer, as people write it: "L4 H2"."""
        return f"L{self.number} H{(self.head if head is None else head) + 1}"


def scaling_of(trace: Trace, choice: Choice, head: int) -> HeadScaling:
    """The constants of a head of the layer on screen."""
    return scale_head(trace, choice.layer, head, choice.distance, choice.criterion, choice.target)


def search_of(choice: Choice) -> GridSearch:
    """The notebook's search on the layer on screen."""
    return cache.layer_search(choice.key, choice.layer, choice.ranges)


def clouds_of(
    choice: Choice,
    stages: tuple[HeadStage, ...],
    projection: Projection = "PCA",
    *,
    head: int | None = None,
    dimensions: int = 2,
) -> list[Cloud]:
    """The clouds of the head on screen, or of another one of its layer."""
    return cache.clouds(
        choice.key,
        choice.layer,
        choice.head if head is None else head,
        stages,
        projection,
        dimensions,
        choice.distance,
        choice.criterion,
        choice.target,
        choice.ranges,
    )
