"""Which head is drawn as points, how it is measured, and what is computed from that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.analysis.normalization import GridSearch
from core.analysis.projections.joint_embedding import Metric, Projection
from core.analysis.query_key.clouds import Cloud, head_clouds
from core.analysis.query_key.layer_search import NOTEBOOK_RANGE, SearchRange, search_layer
from core.analysis.query_key.scaling import Criterion, HeadScaling, scale_head
from core.analysis.query_key.target import TargetKind
from core.screens.query_key import cached
from core.ui import python
from core.ui.cache import TraceKey
from core.vocabulary import HeadStage

if TYPE_CHECKING:
    from core.model import Trace


_SEARCH = python.Variable("search")


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
    run = _scaling(choice, head)
    return python.shown("scaling", scale_head, trace, *run.arguments[1:])


def search_of(choice: Choice) -> GridSearch:
    """The notebook's search on the layer on screen."""
    run = python.call(search_layer, python.TRACE, choice.layer, choice.ranges)
    return python.made(
        _SEARCH.name, cached.layer_search(choice.key, choice.layer, choice.ranges), run
    )


def _scaling(choice: Choice, head: int | python.Variable) -> python.Call:
    measure = choice.distance, choice.criterion, choice.target
    return python.call(scale_head, python.TRACE, choice.layer, head, *measure)


def _clouds(
    choice: Choice,
    stages: tuple[HeadStage, ...],
    projection: Projection,
    head: int | python.Variable,
    dimensions: int,
) -> python.Call:
    """What :func:`core.screens.query_key.cached.clouds` calls."""
    return python.call(
        head_clouds,
        python.TRACE,
        choice.layer,
        head,
        _scaling(choice, head),
        search=_SEARCH if "searched" in stages else None,
        stages=stages,
        projection=projection,
        dimensions=dimensions,
        metric=choice.distance,
        target=choice.target,
    )


def clouds_of(
    choice: Choice,
    stages: tuple[HeadStage, ...],
    projection: Projection = "PCA",
    *,
    head: int | None = None,
    dimensions: int = 2,
    name: str = "clouds",
) -> list[Cloud]:
    """The clouds of the head on screen, or of another one of its layer.

    Under Share they have that `name`; those of all heads of a layer have one together.
    """
    place = choice.head if head is None else head
    clouds = cached.clouds(
        choice.key,
        choice.layer,
        place,
        stages,
        projection,
        dimensions,
        choice.distance,
        choice.criterion,
        choice.target,
        choice.ranges,
    )
    if head is None:
        python.made(name, clouds, _clouds(choice, stages, projection, place, dimensions))
    return clouds


def clouds_of_heads(
    choice: Choice,
    heads: range,
    stages: tuple[HeadStage, ...],
    projection: Projection,
    dimensions: int,
) -> list[list[Cloud]]:
    """The clouds of these heads of the layer on screen: of one head the one on screen."""
    if len(heads) == 1:
        return [clouds_of(choice, stages, projection, dimensions=dimensions)]
    clouds = [clouds_of(choice, stages, projection, head=head) for head in heads]
    python.made(
        "clouds",
        clouds,
        python.each_of("head", heads, lambda head: _clouds(choice, stages, projection, head, 2)),
    )
    return clouds
