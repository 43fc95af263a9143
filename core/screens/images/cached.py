"""Caches of the page of images, shared by all visitors."""

from __future__ import annotations

import streamlit as st

from core.analysis.images.distance import AttentionDistances, attention_distance
from core.analysis.images.patch_attention import attention_of_patch, attention_to_patch, cls_rollout
from core.analysis.layer_payload import log_sums
from core.model import classify
from core.model.trace import Array
from core.ui import cache
from core.ui.cache import TraceKey
from core.ui.serve import images

# How many of each are kept; sizes are for one entry, with the bundled model.
MAX_CLASSES = 32  # the ten likeliest, with probabilities: 1 kB
MAX_ROW_SUMS = 48  # of one layer: 130 kB for 1,369 patches and 6 heads
MAX_ROLLOUTS = 16  # a float a token: 5 kB for 1,369 patches
MAX_IMAGE_DISTANCES = 96  # one number per head, for all sample images on five models
MAX_PATCH_MAPS = 16  # of one token: 400 kB for 1,369 patches in 12 layers x 6 heads


@st.cache_resource(max_entries=MAX_CLASSES, show_spinner=False)
def classes(model_name: str, image: str) -> tuple[tuple[str, float], ...]:
    """The model's classes for the image, likeliest first; empty without a classification head."""
    if (shipped := cache.first_input(TraceKey(model_name, "", image=image))) is not None:
        return shipped.classes
    return tuple(classify(cache.model(model_name, "image"), images.pixels(image)))


@st.cache_resource(max_entries=MAX_ROW_SUMS, show_spinner=False)
def row_sums(key: TraceKey, layer: int) -> Array:
    """For each row of a layer, the log of its sum of exponentials, for an image."""
    return log_sums(cache.trace(*key), layer)


@st.cache_resource(max_entries=MAX_PATCH_MAPS, show_spinner="Looking at this patch in every head …")
def patch_maps(key: TraceKey, token: int, direction: str, *, only_patches: bool) -> Array:
    """One token's row ("from") or column ("to") in every head of every layer."""
    attention = attention_of_patch if direction == "from" else attention_to_patch
    return attention(cache.trace(*key), token, only_patches=only_patches)


@st.cache_resource(max_entries=MAX_ROLLOUTS, show_spinner="Rolling attention out …")
def rollout(key: TraceKey, *, weighted: bool) -> Array:
    """Attention of CLS rolled out over all layers, (token,)."""
    norms = cache.transformed_norms(key) if weighted else None
    return cls_rollout(cache.trace(*key), norms, weighted=weighted)


@st.cache_resource(max_entries=MAX_IMAGE_DISTANCES, show_spinner=False)
def image_distances(key: TraceKey) -> AttentionDistances:
    """Attention distances on an image. Its trace is not cached: there are many images."""
    if key.image is None:
        raise ValueError("a text has no patches")
    return attention_distance(cache.pass_image(key.model, key.image))
