"""What the CLS attention page keeps of images, shared by all visitors."""

from __future__ import annotations

import streamlit as st

from core.analysis.images.cls.maps import ClsMaps, all_cls_maps
from core.analysis.images.distance import AttentionDistances, attention_distance
from core.ui import cache
from core.ui.cache import TraceKey

# How many of each; sizes are of one, for the bundled model.
MAX_CLS_MAPS = 8  # a float a head and patch: 25 kB; 0.5 MB of 1,369 patches in 12 layers x 6 heads
MAX_IMAGE_DISTANCES = 96  # a number a head, of all sample images for five models


@st.cache_resource(max_entries=MAX_CLS_MAPS, show_spinner="Rolling attention out …")
def cls_maps(key: TraceKey) -> ClsMaps:
    """CLS attention of an image in every head, and rolled out over the layers."""
    return all_cls_maps(cache.trace(*key), cache.transformed_norms(key))


@st.cache_resource(max_entries=MAX_IMAGE_DISTANCES, show_spinner=False)
def image_distances(key: TraceKey) -> AttentionDistances:
    """How far the patches of an image look. Its trace is not kept: there are many images."""
    if key.image is None:
        raise ValueError("a text has no patches")
    return attention_distance(cache.pass_image(key.model, key.image, key.size))
