"""Which heads are drawn as points, at which stages, and what is computed for them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.normalization import GridSearch
from core.analysis.projections.joint_embedding import Metric, Projection
from core.analysis.query_key.clouds import Cloud, head_clouds
from core.analysis.query_key.layer_search import NOTEBOOK_RANGE, SearchRange, search_layer
from core.analysis.query_key.scaling import (
    Criterion,
    HeadScaling,
    ModelScaling,
    scale_head,
    scale_model,
)
from core.analysis.query_key.target import TargetKind
from core.ui import cache, python
from core.ui.cache import TraceKey
from core.vocabulary import HeadStage

if TYPE_CHECKING:
    from core.model import Trace


ONE_HEAD, ALL_HEADS, BOTH = "one head", "all heads", "side by side"
BEST_STAGE, ALL_THREE, ALL_STAGES = "best", "all three", "all four"
_SEARCH = python.Variable("search")
# How many of each are kept; sizes are of one, for the bundled model.
_MAX_SEARCHES = 64  # a surface of up to 60 x 60 correlations: 30 kB
_MAX_SCALINGS = 16  # a few dozen numbers a head: 40 kB
_MAX_CLOUDS = 128  # points of one head: 50 kB at 512 tokens; all heads of a layer, a few settings


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


@st.cache_resource(max_entries=_MAX_SEARCHES, show_spinner=False)
def layer_search(key: TraceKey, layer: int, ranges: SearchRange) -> GridSearch:
    """The notebook's search for a and c in one layer."""
    return search_layer(cache.trace(*key), layer, ranges)


@st.cache_resource(max_entries=_MAX_SCALINGS, show_spinner="Searching c for every head …")
def _model_scaling(
    key: TraceKey, distance: Metric, criterion: Criterion, target: TargetKind
) -> ModelScaling:
    return scale_model(cache.trace(*key), distance, criterion, target)


@st.cache_resource(max_entries=_MAX_CLOUDS, show_spinner=False)
def kept_clouds(
    choice: Choice, stages: tuple[HeadStage, ...], projection: Projection, dimensions: int
) -> list[Cloud]:
    """The points of one head at these stages. Slow for UMAP and t-SNE."""
    trace = cache.trace(*choice.key)
    search = None
    if "searched" in stages:
        search = layer_search(choice.key, choice.layer, choice.ranges)
    measure = choice.distance, choice.criterion, choice.target
    return head_clouds(
        trace,
        choice.layer,
        choice.head,
        head_scaling(choice.key, choice.layer, choice.head, *measure),
        search=search,
        stages=stages,
        projection=projection,
        dimensions=dimensions,
        metric=choice.distance,
        target=choice.target,
    )


@st.cache_resource(max_entries=_MAX_CLOUDS, show_spinner=False)
def head_scaling(
    key: TraceKey,
    layer: int,
    head: int,
    distance: Metric,
    criterion: Criterion,
    target: TargetKind,
) -> HeadScaling:
    """The constants of one head."""
    return scale_head(cache.trace(*key), layer, head, distance, criterion, target)


def scaling_of_heads(choice: Choice) -> ModelScaling:
    """The constants of all heads, and what they do to each."""
    measure = choice.distance, choice.criterion, choice.target
    run = python.call(scale_model, python.TRACE, *measure)
    return python.made("heads", _model_scaling(choice.key, *measure), run)


def scaling_of(choice: Choice, head: int) -> HeadScaling:
    """The constants of a head of the layer on screen."""
    measure = choice.distance, choice.criterion, choice.target
    scaling = head_scaling(choice.key, choice.layer, head, *measure)
    return python.made("scaling", scaling, _scaling(choice, head))


def search_of(choice: Choice) -> GridSearch:
    """The notebook's search on the layer on screen."""
    run = python.call(search_layer, python.TRACE, choice.layer, choice.ranges)
    return python.made(_SEARCH.name, layer_search(choice.key, choice.layer, choice.ranges), run)


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
    """What :func:`kept_clouds` calls."""
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
    # What is chosen or numbered besides does not change the points.
    same = replace(choice, head=place, number=0, sources=(), targets=())
    clouds = kept_clouds(same, stages, projection, dimensions)
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
