"""Every cache of the project, with its bound. Keys are plain strings and numbers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import streamlit as st

from core.analysis.anomalies import anomaly_table
from core.analysis.found_link import FoundLink, find_link
from core.analysis.head_patterns import head_scores as measure_heads
from core.analysis.head_patterns.induction import Induction, induction_scores
from core.analysis.head_patterns.measure import HEAD_VIEW, Measured, measure_text
from core.analysis.head_patterns.similarity import Distances, HeadMap, compare_heads, map_heads
from core.analysis.images import odd_patches as find_odd_patches
from core.analysis.images.cls.summary import ClsMaps, all_cls_maps
from core.analysis.images.distance import AttentionDistances, attention_distance
from core.analysis.images.exact_layer import RowSums
from core.analysis.images.exact_layer import row_sums as sum_rows
from core.analysis.images.patch_attention import (
    PatchMaps,
    attention_of_patch,
    attention_to_patch,
)
from core.analysis.query_key.clouds import Cloud, HeadStage, head_clouds
from core.analysis.query_key.layer_search import NOTEBOOK_RANGE, SearchRange, search_layer
from core.analysis.query_key.scaling import Criterion, ModelScaling, scale_head, scale_model
from core.analysis.related_words import words
from core.analysis.related_words.heads import RelatedHeads, Scope, related_heads
from core.analysis.view_weights import weighted_layer
from core.model import (
    LoadedModel,
    Trace,
    classify,
    load,
    trace_image,
    trace_repeated,
    trace_text,
)
from core.model.language import Guess, Masked
from core.model.language import masked_words as read_masked
from core.model.language import next_words as read_next
from core.model.loading import pick_device
from core.model.memory import return_freed_memory
from core.model.weights import embeddings, output_projection, query_key
from core.ui.site import access, deployment, garbage, images

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from core.analysis.images.odd_patches import OddPatches
    from core.analysis.normalization import GridSearch
    from core.analysis.projections.joint_embedding import Metric, Projection
    from core.analysis.query_key.target import TargetKind
    from core.analysis.view_weights import LayerWeights, Weighting
    from core.model.catalog import Reads
    from core.model.trace import Array, Kind


class TraceKey(NamedTuple):
    """What a trace is cached by: a text, or an image.

    `target` is what the decoder of an encoder-decoder reads, None for the model's own answer, and
    `kind` which of its attention is shown, None for a model's only or first kind. `image` is a name
    that :mod:`core.ui.site.images` knows, and then there is no text; `size` the side in pixels that
    the model gets it in, None for the model's own.
    """

    model: str
    text: str
    pair: str | None = None
    target: str | None = None
    kind: Kind | None = None
    image: str | None = None
    size: int | None = None

    @property
    def reads(self) -> Reads:
        """What the model is given."""
        return "text" if self.image is None else "image"


MAX_TOKENS = 1024  # longest input on any page: beyond it a token x token picture is unreadable
# How many of each are kept, over all visitors; sizes are of one, for the bundled model.
MAX_MODELS = 2  # the one on screen and the one before: 90 MB, BERT base 440 MB
MAX_IMAGES = 6  # 3 MB of 145 tokens, 50 MB of 1,369 patches in 12 layers x 6 heads
MAX_CLS_MAPS = 8  # a float a head and patch: 25 kB; 0.5 MB of 1,369 patches in 12 layers x 6 heads
MAX_IMAGE_DISTANCES = 96  # a number a head, of all images of the box for five models
MAX_TRACES = 8  # 20 MB at 512 tokens, 0.5 MB for a sentence
# 3 MB at 512 tokens, 17 MB at 1,024 tokens and 16 heads; five times that where weights are sent.
MAX_VIEW_LAYERS = 6
MAX_ROW_SUMS = 48  # of one layer: 130 kB for 1,369 patches and 6 heads
MAX_PATCH_MAPS = 16  # of one token: 400 kB for 1,369 patches in 12 layers x 6 heads
MAX_GUESSES = 32  # ten tokens, or five for each of eight masks: 10 kB
MAX_FOUND = 64  # eight numbers
MAX_NORMS = 8  # 150 kB at 512 tokens
MAX_TABLES = 16  # a few dozen numbers a head: 40 kB
MAX_SEARCHES = 64  # a surface of up to 60 x 60 correlations: 30 kB
MAX_CLOUDS = 128  # points of one head: 50 kB at 512 tokens; all heads of a layer at a few settings
MAX_RELATED = 8  # a byte a pair of tokens, 1 MB at 1,024 tokens, and 3 numbers a head
MAX_DISTANCES = 8  # between all pairs of heads: 40 kB, 900 kB for 336 heads
MAX_CORPORA = 2  # sums of every head on each of some 300 sentences: 7 MB, 13 MB for BERT base


def model(name: str, reads: Reads = "text") -> LoadedModel:
    """The model, loaded and probed; refuses one that is not on this machine.

    `name` comes from :func:`core.ui.site.access.resolve`: only there is it known that the visitor
    may use it, and no name but an absolute path is a folder. The token does not change what is
    loaded, only whether the hub says more than that the model is not here.
    """
    return loaded_model(name, reads)


def model_of(trace: Trace) -> LoadedModel:
    """The model that a trace was made with."""
    return model(trace.model, "text" if trace.patches is None else "image")


@st.cache_resource(
    max_entries=MAX_MODELS,
    show_spinner="Loading the model and checking it …",
    on_release=garbage.request_full_search,
)
def loaded_model(name: str, reads: Reads) -> LoadedModel:
    """What :func:`model` gives, kept by both its arguments."""
    return_freed_memory()
    garbage.freeze_long_lived()
    return load(
        name,
        download=False,
        folders=Path(name).is_absolute(),
        token=access.hub_token(),
        reads=reads,
        half=deployment.is_on("HALF") and pick_device() != "cpu",
    )


def trace(
    model_name: str,
    text: str,
    pair: str | None,
    target: str | None = None,
    kind: Kind | None = None,
    image: str | None = None,
    size: int | None = None,
) -> Trace:
    """One kind of attention in one forward pass of the text; without a `kind`, the first.

    Or of the image, where one is named.
    """
    if image is not None:
        return image_pass(model_name, image, size)
    decode = kind in {"decoder", "cross"}
    trace = forward_pass(model_name, text, pair, target, decode=decode)
    return trace if kind is None else trace.of_kind(kind)


@st.cache_resource(max_entries=MAX_TRACES, show_spinner="Running the text through the model …")
def forward_pass(
    model_name: str, text: str, pair: str | None, target: str | None, *, decode: bool
) -> Trace:
    """One forward pass of the text. Immutable, so sessions that ask the same may share it."""
    return trace_text(model(model_name), text, pair, MAX_TOKENS, target, decode=decode)


@st.cache_resource(max_entries=MAX_IMAGES, show_spinner="Running the image through the model …")
def image_pass(model_name: str, image: str, size: int | None) -> Trace:
    """One forward pass of an image, shared by sessions as that of a text is."""
    return _pass_image(model_name, image, size)


def _pass_image(model_name: str, image: str, size: int | None) -> Trace:
    sides = None if size is None else (size, size)
    return trace_image(model(model_name, "image"), images.pixels(image), sides)


@st.cache_resource(max_entries=MAX_CLS_MAPS, show_spinner="Rolling attention out …")
def cls_maps(key: TraceKey) -> ClsMaps:
    """What CLS sees of an image in every head, and rolled out over the layers."""
    return all_cls_maps(trace(*key), transformed_norms(key))


@st.cache_resource(max_entries=MAX_IMAGE_DISTANCES, show_spinner=False)
def image_distances(key: TraceKey) -> AttentionDistances:
    """How far the patches of an image look. Its trace is not kept: the box has many images."""
    if key.image is None:
        raise ValueError("a text has no patches")
    return attention_distance(_pass_image(key.model, key.image, key.size))


@st.cache_resource(max_entries=MAX_GUESSES, show_spinner=False)
def classes(model_name: str, image: str) -> tuple[tuple[str, float], ...]:
    """What the model takes the image for, the likeliest first; empty without such a head."""
    return tuple(classify(model(model_name, "image"), images.pixels(image)))


@st.cache_resource(max_entries=MAX_ROW_SUMS, show_spinner=False)
def row_sums(key: TraceKey, layer: int) -> RowSums:
    """The sums of a layer's rows, for an image."""
    return sum_rows(trace(*key), layer)


@st.cache_resource(max_entries=MAX_PATCH_MAPS, show_spinner="Looking at this patch in every head …")
def patch_maps(key: TraceKey, token: int, direction: str, *, only_patches: bool) -> PatchMaps:
    """One token's row ("from") or column ("to") in every head of every layer."""
    attention = attention_of_patch if direction == "from" else attention_to_patch
    return attention(trace(*key), token, only_patches=only_patches)


@st.cache_resource(max_entries=MAX_GUESSES, show_spinner="Asking the model what comes next …")
def next_words(model_name: str, text: str, pair: str | None) -> tuple[Guess, ...]:
    """What the model expects after the text, the likeliest first."""
    return read_next(model(model_name), text, pair, max_tokens=MAX_TOKENS)


@st.cache_resource(max_entries=MAX_GUESSES, show_spinner="Asking the model about each mask …")
def masked_words(model_name: str, text: str, pair: str | None) -> tuple[Masked, ...]:
    """What the model reads under the masks of the text."""
    return read_masked(model(model_name), text, pair, max_tokens=MAX_TOKENS)


@st.cache_resource(max_entries=MAX_FOUND, show_spinner=False)
def found_link(key: TraceKey) -> FoundLink | None:
    """The head to show first on a text, and the two tokens it joins; None for an image."""
    return find_link(trace(*key)) if key.image is None else None


@st.cache_resource(max_entries=MAX_NORMS, show_spinner=False)
def transformed_norms(key: TraceKey) -> Array | None:
    """|f(v)| of every head and key token, (layer, head, token); None where W_O is not known."""
    return output_projection.transformed_norms(model(key.model, key.reads), trace(*key))


@st.cache_resource(max_entries=MAX_TABLES, show_spinner="Searching c for every head …")
def scaling(
    key: TraceKey, distance: Metric, criterion: Criterion, target: TargetKind = "centred"
) -> ModelScaling:
    """The constants of all heads, and what they do to each."""
    return scale_model(trace(*key), distance, criterion, target)


@st.cache_resource(max_entries=MAX_SEARCHES, show_spinner=False)
def layer_search(key: TraceKey, layer: int, ranges: SearchRange = NOTEBOOK_RANGE) -> GridSearch:
    """The notebook's search for a and c in one layer."""
    return search_layer(trace(*key), layer, ranges)


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
    text_trace = trace(*key)
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


@st.cache_resource(max_entries=MAX_TABLES, show_spinner="Measuring every head …")
def head_scores(key: TraceKey) -> dict[str, NDArray[np.float64]]:
    """What the head view says of each head: (layer, head) by score."""
    return measure_heads(trace(*key), HEAD_VIEW)


@st.cache_resource(max_entries=MAX_VIEW_LAYERS, show_spinner=False)
def view_layer(key: TraceKey, layer: int, weighting: Weighting) -> LayerWeights:
    """A layer as the head view gets it, from :func:`core.analysis.view_weights.weighted_layer`."""
    norms = transformed_norms(key) if weighting == "transformed" else None
    return weighted_layer(trace(*key), layer, weighting, norms)


@st.cache_resource(max_entries=MAX_MODELS, show_spinner=False)
def weight_similarity(model_name: str, reads: Reads = "text") -> Array | None:
    """How similar W_Q and W_K of each head are, (layer, head); None where they are not known."""
    return query_key.weight_similarity(model(model_name, reads))


@st.cache_resource(max_entries=MAX_MODELS, show_spinner=False)
def vocabulary(model_name: str) -> words.Vocabulary | None:
    """How close random words of the vocabulary are; None without input embeddings."""
    sample = embeddings.sample_embeddings(model(model_name))
    return None if sample is None else words.measure_vocabulary(sample)


@st.cache_resource(max_entries=MAX_RELATED, show_spinner="Looking for related words …")
def related(key: TraceKey, scope: Scope) -> tuple[words.RelatedWords, RelatedHeads] | None:
    """A text's related words and what each head gives to them; None as for `vocabulary`."""
    baseline, text_trace = vocabulary(key[0]), trace(*key)
    vectors = embeddings.token_embeddings(model(key[0]), text_trace)
    if baseline is None or vectors is None:
        return None
    related_words = words.related_words(text_trace.tokens, vectors, baseline)
    return related_words, related_heads(text_trace, related_words, scope)


@st.cache_resource(max_entries=MAX_TABLES, show_spinner="Measuring every head …")
def anomalies(key: TraceKey) -> pd.DataFrame:
    """The table of core.analysis.anomalies. Shared by sessions: nobody may write to it."""
    weights = None if key.kind else weight_similarity(key.model, key.reads)
    table = anomaly_table(trace(*key), transformed_norms(key), weights)
    table.attrs["where"] = f"this {key.reads}"
    return table


@st.cache_resource(max_entries=MAX_TABLES, show_spinner="Measuring every head …")
def odd_patches(key: TraceKey) -> OddPatches | None:
    """The odd patches of an image, and the attention that they draw."""
    return find_odd_patches(trace(*key))


@st.cache_resource(max_entries=MAX_TABLES, show_spinner="Measuring every head …")
def measured(key: TraceKey) -> Measured:
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
def similarity(key: TraceKey) -> tuple[Distances, HeadMap]:
    """How differently heads attend to one text, and the map of them."""
    distances = compare_heads(trace(*key))
    return distances, map_heads(distances.mean)
