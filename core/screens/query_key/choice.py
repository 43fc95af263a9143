"""What all parts of the query-key page are told, and what follows from it for a head or layer."""

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
    from core.ui.cache import TextKey


@dataclass(frozen=True)
class Choice:
    """What every part of the page is told; layer and head from 0.

    `ranges` is what the notebook's search tries; `sources` and `targets` are the positions of the
    chosen tokens.
    """

    key: TextKey
    layer: int
    head: int
    distance: Metric
    criterion: Criterion
    target: TargetKind = "centred"
    ranges: SearchRange = NOTEBOOK_RANGE
    sources: tuple[int, ...] = ()
    targets: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """The head, as people write it."""
        return head_name(self.layer, self.head)


def head_name(layer: int, head: int) -> str:
    """A head as people write it; both count from 0."""
    return f"L{layer + 1} H{head + 1}"


def scaling_of(trace: Trace, choice: Choice, head: int | None = None) -> HeadScaling:
    """The constants of the head on screen, or of another one of its layer."""
    at = choice.head if head is None else head
    return scale_head(trace, choice.layer, at, choice.distance, choice.criterion, choice.target)


def search_of(choice: Choice) -> GridSearch:
    """What the notebook's search finds on the layer on screen."""
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
