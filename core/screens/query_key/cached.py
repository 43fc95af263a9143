"""Clouds of points, searches and scales that are kept, shared by all visitors."""

from __future__ import annotations

import streamlit as st

from core.analysis.normalization import GridSearch
from core.analysis.projections.joint_embedding import Metric, Projection
from core.analysis.query_key.clouds import Cloud, head_clouds
from core.analysis.query_key.layer_search import NOTEBOOK_RANGE, SearchRange, search_layer
from core.analysis.query_key.scaling import Criterion, ModelScaling, scale_head, scale_model
from core.analysis.query_key.target import TargetKind
from core.ui import cache
from core.ui.cache import TraceKey
from core.vocabulary import HeadStage

# How many of each; sizes are of one, for the bundled model.
MAX_SEARCHES = 64  # a surface of up to 60 x 60 correlations: 30 kB
MAX_SCALINGS = 16  # a few dozen numbers a head: 40 kB
MAX_CLOUDS = 128  # points of one head: 50 kB at 512 tokens; all heads of a layer at a few settings


@st.cache_resource(max_entries=MAX_SEARCHES, show_spinner=False)
def layer_search(key: TraceKey, layer: int, ranges: SearchRange = NOTEBOOK_RANGE) -> GridSearch:
    """The notebook's search for a and c in one layer."""
    return search_layer(cache.trace(*key), layer, ranges)


@st.cache_resource(max_entries=MAX_SCALINGS, show_spinner="Searching c for every head …")
def scaling(
    key: TraceKey, distance: Metric, criterion: Criterion, target: TargetKind = "centred"
) -> ModelScaling:
    """The constants of all heads, and what they do to each."""
    return scale_model(cache.trace(*key), distance, criterion, target)


@st.cache_resource(max_entries=MAX_CLOUDS, show_spinner=False)
def clouds(
    key: TraceKey,
    layer: int,
    head: int,
    stages: tuple[HeadStage, ...],
    projection: Projection,
    dimensions: int,
    distance: Metric,
    criterion: Criterion,
    target: TargetKind = "centred",
    ranges: SearchRange = NOTEBOOK_RANGE,
) -> list[Cloud]:
    """The points of one head at these stages. Slow for UMAP and t-SNE."""
    text_trace = cache.trace(*key)
    return head_clouds(
        text_trace,
        layer,
        head,
        scale_head(text_trace, layer, head, distance, criterion, target),
        search=layer_search(key, layer, ranges) if "searched" in stages else None,
        stages=stages,
        projection=projection,
        dimensions=dimensions,
        metric=distance,
        target=target,
    )
