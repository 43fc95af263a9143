"""The head on screen with its settings, and cached results for it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.normalization import NOTEBOOK_RANGE, GridSearch, SearchRange, search_layer
from core.analysis.projections.joint_embedding import Projection
from core.analysis.query_key.clouds import Cloud, head_clouds
from core.analysis.query_key.correlation import Distance, Measure
from core.analysis.query_key.scaling import HeadScaling, ModelScaling, scale_head, scale_model
from core.ui import cache
from core.ui.cache import TraceKey
from core.vocabulary import HeadStage

if TYPE_CHECKING:
    from core.model import Trace

# How many of each are kept; sizes are for one entry, with the bundled model.
_MAX_SEARCHES = 64  # a surface of up to 60 x 60 correlations: 30 kB
_MAX_SCALINGS = 16  # a few dozen numbers per head: 40 kB
_MAX_CLOUDS = 128  # points of one head: 50 kB at 512 tokens; all heads of a layer, a few settings


@dataclass(frozen=True)
class Choice:
    """The head (layer and head from 0) and how it is measured.

    `number` is the layer's, as people read it. `ranges` is the grid of the notebook's search;
    `sources` and `targets` are the positions of the chosen tokens.
    """

    key: TraceKey
    layer: int
    head: int
    number: int
    distance: Distance = "euclidean"
    criterion: Measure = "pearson"
    ranges: SearchRange = NOTEBOOK_RANGE
    sources: tuple[int, ...] = ()
    targets: tuple[int, ...] = ()

    def name(self, head: int | None = None) -> str:
        """The name of this head, or of another one in its layer: "L4 H2"."""
        return f"L{self.number} H{(self.head if head is None else head) + 1}"


def has_looks(trace: Trace) -> bool:
    """Whether points stand for patches, which have a picture and colours of their own."""
    return trace.input.kind == "image"


@st.cache_resource(max_entries=_MAX_SEARCHES, show_spinner=False)
def _layer_search(key: TraceKey, layer: int, ranges: SearchRange) -> GridSearch:
    return search_layer(cache.trace(*key), layer, ranges)


@st.cache_resource(max_entries=_MAX_SCALINGS, show_spinner="Searching c for every head …")
def _model_scaling(key: TraceKey, distance: Distance, criterion: Measure) -> ModelScaling:
    return scale_model(cache.trace(*key), distance, criterion)


@st.cache_resource(max_entries=_MAX_CLOUDS, show_spinner=False)
def _head_scaling(
    key: TraceKey, layer: int, head: int, distance: Distance, criterion: Measure
) -> HeadScaling:
    return scale_head(cache.trace(*key), layer, head, distance, criterion)


@st.cache_resource(max_entries=_MAX_CLOUDS, show_spinner=False)
def kept_clouds(
    choice: Choice, stages: tuple[HeadStage, ...], projection: Projection, dimensions: int
) -> list[Cloud]:
    """The points of one head at these stages, cached. Slow for UMAP and t-SNE."""
    return head_clouds(
        cache.trace(*choice.key),
        choice.layer,
        choice.head,
        scaling_of(choice, choice.head),
        search=search_of(choice) if "searched" in stages else None,
        stages=stages,
        projection=projection,
        dimensions=dimensions,
        distance=choice.distance,
    )


def search_of(choice: Choice) -> GridSearch:
    """The notebook's search for a and c on the layer on screen."""
    return _layer_search(choice.key, choice.layer, choice.ranges)


def scaling_of_heads(choice: Choice) -> ModelScaling:
    """The constants of all heads, and their effect on each head."""
    return _model_scaling(choice.key, choice.distance, choice.criterion)


def scaling_of(choice: Choice, head: int) -> HeadScaling:
    """The constants of a head in the layer on screen."""
    return _head_scaling(choice.key, choice.layer, head, choice.distance, choice.criterion)


def clouds_of(
    choice: Choice,
    head: int,
    stages: tuple[HeadStage, ...],
    projection: Projection = "PCA",
    dimensions: int = 2,
) -> list[Cloud]:
    """The clouds of a head in the layer on screen."""
    # Chosen tokens and the layer's number do not change the points.
    same = replace(choice, head=head, number=0, sources=(), targets=())
    return kept_clouds(same, stages, projection, dimensions)
