"""Every cache of the project, with its bound. Keys are plain strings and numbers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.anomalies import anomaly_table
from core.analysis.head_patterns import head_scores as measure_heads
from core.analysis.head_patterns.induction import Induction, induction_scores
from core.analysis.head_patterns.measure import HEAD_VIEW, Measured, measure_text
from core.analysis.head_patterns.similarity import Distances, HeadMap, compare_heads, map_heads
from core.analysis.query_key.clouds import Cloud, HeadStage, head_clouds
from core.analysis.query_key.layer_search import NOTEBOOK_RANGE, SearchRange, search_layer
from core.analysis.query_key.scaling import Criterion, ModelScaling, scale_head, scale_model
from core.analysis.related_words.heads import RelatedHeads, Scope, related_heads
from core.analysis.related_words.words import (
    RelatedWords,
    Vocabulary,
    measure_vocabulary,
    related_words,
)
from core.analysis.view_weights import weighted_layer
from core.model import (
    LoadedModel,
    Trace,
    load,
    trace_repeated,
    trace_text,
)
from core.model.machine.memory import return_freed_memory
from core.model.weights import embeddings, output_projection
from core.model.weights import query_key as query_key_weights
from core.ui.site import access, garbage

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from core.analysis.normalization import GridSearch
    from core.analysis.projections.joint_embedding import Metric, Projection
    from core.analysis.query_key.target import TargetKind
    from core.analysis.view_weights import LayerWeights, Weighting
    from core.model.trace import Array


TextKey = tuple[str, str, str | None]  # model, text, second text: what a trace is cached by

# Two models: the one on screen and the one before. The bundled model takes about 90 MB, BERT base
# 440 MB; a small deployment restricts the list (HEADSCOPE_MODELS) and stays under 1 GB.
MAX_MODELS = 2
# A trace of 512 tokens of the bundled model takes 20 MB, one of a sentence 0.5 MB.
MAX_TRACES = 8
# A few numbers a head: 5 kB for the bundled model.
MAX_SCORES = 16
# A byte a pair of tokens, 1 MB at 1,024 tokens, and 3 numbers a head.
MAX_RELATED = 8
# A few dozen numbers a head: 40 kB for the bundled model.
MAX_ANOMALIES = 16
# A layer of 512 tokens and 12 heads takes 3 MB, of 1,024 tokens and 16 heads 17 MB, and five times
# as much where its mask forbids to send queries and keys instead of float32 weights.
MAX_VIEW_LAYERS = 6
# Longest input on any page: beyond it a token x token picture is no longer readable.
MAX_TOKENS = 1024
# Norms of 512 tokens of the bundled model: 150 kB.
MAX_NORMS = 8
# Figures of every head: 30 kB for the bundled model.
MAX_SCALINGS = 16
# A surface of up to 60 x 60 correlations: 30 kB.
MAX_SEARCHES = 64
# Points of one head: 50 kB at 512 tokens; all heads of a layer at a few settings.
MAX_CLOUDS = 128
# Sums of every head: 20 kB for the bundled model.
MAX_MEASURED = 16
# Distances of all pairs of heads: 40 kB for the bundled model, 900 kB for 336 heads.
MAX_DISTANCES = 8
# Sums of every head on each of some 300 sentences: 7 MB for the bundled model, 13 MB for BERT base.
MAX_CORPORA = 2


@st.cache_resource(
    max_entries=MAX_MODELS,
    show_spinner="Loading the model and checking it …",
    on_release=garbage.request_full_search,
)
def model(name: str) -> LoadedModel:
    """The model, loaded and probed; refuses one that is not on this machine.

    `name` is what :func:`core.ui.site.access.resolve` gives: only there is it known that the
    visitor may use it, and no name but an absolute path is a folder. The token does not change what
    is loaded, only whether the hub says more than that the model is not here.
    """
    return_freed_memory()
    garbage.freeze_long_lived()
    return load(name, download=False, folders=Path(name).is_absolute(), token=access.hub_token())


@st.cache_resource(max_entries=MAX_TRACES, show_spinner="Running the text through the model …")
def trace(model_name: str, text: str, pair: str | None) -> Trace:
    """One forward pass of the text. Immutable, so sessions that ask the same may share it."""
    return trace_text(model(model_name), text, pair, MAX_TOKENS)


@st.cache_resource(max_entries=MAX_NORMS, show_spinner=False)
def transformed_norms(model_name: str, text: str, pair: str | None) -> Array | None:
    """|f(v)| of every head and token, (layer, head, token); None where W_O is not known."""
    return output_projection.transformed_norms(model(model_name), trace(model_name, text, pair))


@st.cache_resource(max_entries=MAX_SCALINGS, show_spinner="Searching c for every head …")
def scaling(
    key: TextKey, distance: Metric, criterion: Criterion, target: TargetKind = "centred"
) -> ModelScaling:
    """The constants of all heads, and what they do to each."""
    return scale_model(trace(*key), distance, criterion, target)


@st.cache_resource(max_entries=MAX_SEARCHES, show_spinner=False)
def layer_search(key: TextKey, layer: int, ranges: SearchRange = NOTEBOOK_RANGE) -> GridSearch:
    """The notebook's search for a and c on one layer."""
    return search_layer(trace(*key), layer, ranges)


@st.cache_resource(max_entries=MAX_CLOUDS, show_spinner=False)
def clouds(
    key: TextKey,
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
    one = trace(*key)
    return head_clouds(
        one,
        layer,
        head,
        scale_head(one, layer, head, distance, criterion, target),
        search=layer_search(key, layer, ranges) if "searched" in stages else None,
        stages=stages,
        projection=projection,
        dimensions=dimensions,
        metric=distance,
        target=target,
    )


@st.cache_resource(max_entries=MAX_SCORES, show_spinner="Measuring every head …")
def head_scores(model_name: str, text: str, pair: str | None) -> dict[str, NDArray[np.float64]]:
    """What the head view tells of each head, (layer, head) by score."""
    return measure_heads(trace(model_name, text, pair), HEAD_VIEW)


@st.cache_resource(max_entries=MAX_VIEW_LAYERS, show_spinner=False)
def view_layer(
    model_name: str, text: str, pair: str | None, layer: int, weighting: Weighting
) -> LayerWeights:
    """A layer as the head view gets it, from :func:`core.analysis.view_weights.weighted_layer`."""
    source = (model_name, text, pair)
    norms = transformed_norms(*source) if weighting == "transformed" else None
    return weighted_layer(trace(*source), layer, weighting, norms)


@st.cache_resource(max_entries=MAX_MODELS, show_spinner=False)
def weight_similarity(model_name: str) -> Array | None:
    """How alike W_Q and W_K of each head are, (layer, head); None where they are not known."""
    return query_key_weights.weight_similarity(model(model_name))


@st.cache_resource(max_entries=MAX_MODELS, show_spinner=False)
def vocabulary(model_name: str) -> Vocabulary | None:
    """How close random words of the vocabulary are; None where there are no input embeddings."""
    sample = embeddings.sample_embeddings(model(model_name))
    return None if sample is None else measure_vocabulary(sample)


@st.cache_resource(max_entries=MAX_RELATED, show_spinner="Looking for related words …")
def related(key: TextKey, scope: Scope) -> tuple[RelatedWords, RelatedHeads] | None:
    """The related words of a text and what each head gives to them; None as for `vocabulary`."""
    usual, one = vocabulary(key[0]), trace(*key)
    vectors = embeddings.token_embeddings(model(key[0]), one)
    if usual is None or vectors is None:
        return None
    words = related_words(one.tokens, vectors, usual)
    return words, related_heads(one, words, scope)


@st.cache_resource(max_entries=MAX_ANOMALIES, show_spinner="Measuring every head …")
def anomalies(model_name: str, text: str, pair: str | None) -> pd.DataFrame:
    """The table of core.analysis.anomalies. Shared by sessions: nobody writes into it."""
    source = (model_name, text, pair)
    norms, similarity = transformed_norms(*source), weight_similarity(model_name)
    table = anomaly_table(trace(*source), norms, similarity)
    table.attrs["where"] = "this text"
    return table


@st.cache_resource(max_entries=MAX_MEASURED, show_spinner="Measuring every head …")
def measured(key: TextKey) -> Measured:
    """What the pattern table of one text is made of."""
    return measure_text(trace(*key))


@st.cache_resource(max_entries=MAX_MODELS, show_spinner="Looking for heads that copy …")
def induction(model_name: str) -> Induction | None:
    """Induction scores on random sequences; None for a model that takes too few tokens."""
    try:
        return induction_scores(trace_repeated(model(model_name)))
    except ValueError:
        return None


@st.cache_resource(max_entries=MAX_DISTANCES, show_spinner="Comparing every pair of heads …")
def similarity(key: TextKey) -> tuple[Distances, HeadMap]:
    """How differently heads attend to one text, and the map of them."""
    distances = compare_heads(trace(*key))
    return distances, map_heads(distances.mean)
