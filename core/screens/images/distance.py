"""The part on attention distance, in this image or over all sample images."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from core.analysis.arrays import mean_of_finite
from core.analysis.images.distance import (
    AttentionDistances,
    distance_table,
    mean_of_distances,
)
from core.analysis.layers import place_layers
from core.figures.heads import dots_by_layer
from core.figures.palette import palette
from core.model.sample_images import SAMPLE_IMAGES
from core.screens.images import cached
from core.ui import controls
from core.ui.cache import TraceKey
from core.ui.current import current_key
from core.ui.downloads import contents, offer_csv
from core.ui.heads import show_gaps, show_heads
from core.ui.place import choose_head
from core.ui.serve.long_work import bar_with_cancel, long_work
from core.ui.words.numbers import number
from core.vocabulary import head_name

if TYPE_CHECKING:
    import pandas as pd

    from core.model import Trace

OVER = {"image": "this image", "box": f"all {len(SAMPLE_IMAGES)} sample images"}


def pick_over() -> str:
    """Choose distances in the image on screen, or averaged over the sample images."""
    return controls.choice("over", OVER, "Measured on", subject="Distances can be measured on")


def show_distance(trace: Trace, over: str) -> None:
    """A chart with a dot per head in each layer, the uniform baseline, and the numbers as CSV."""
    key, colours = current_key(trace.model), palette(st.context.theme.type)
    keys = [key._replace(image=name) for name in SAMPLE_IMAGES] if over == "box" else [key]
    measured = _measure(keys)
    title = "mean attention distance (pixels)"
    rows = place_layers(trace)
    figure = dots_by_layer(measured.pixels, measured.uniform, rows, title, "px", colours)
    show_heads(
        figure,
        "Mean attention distance of every head, by layer",
        key="distance",
        on_open=partial(choose_head, part="patches", patch="cls"),
    )
    st.markdown(_verdict(trace, measured))
    show_gaps(trace)
    export = contents("attention-distance", trace.model, over, text=over == "image")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(_explain(over), width="stretch")
        offer_csv(partial(_table, keys), export, index=False)


def _measure(keys: list[TraceKey]) -> AttentionDistances:
    """The mean over these images. Each one is cached, so a cancelled run can resume."""
    if len(keys) == 1:
        return cached.image_distances(keys[0])
    parts, cancel = [], partial(controls.pick, over="image")
    with long_work(), bar_with_cancel("distance_cancel", cancel) as bar:
        for place, key in enumerate(keys):
            words = f"Measuring every head on the sample images: {place} of {len(keys)} images"
            bar.show(place / len(keys), words)
            parts.append(cached.image_distances(key))
    return mean_of_distances(parts)


def _table(keys: list[TraceKey]) -> pd.DataFrame:
    return distance_table(mean_of_distances([cached.image_distances(key) for key in keys]))


def _verdict(trace: Trace, measured: AttentionDistances) -> str:
    """Which heads look nearest and farthest, with numbers (Markdown)."""
    pixels = measured.pixels
    if not np.isfinite(pixels).any():
        return "No head gives patches anything: there is no distance."
    near, far = (
        divmod(int(find(pixels)), pixels.shape[1]) for find in (np.nanargmin, np.nanargmax)
    )
    means = [number(each, ".1f") for each in mean_of_finite(pixels.T)]
    return (
        f"**{head_name(trace, *near)} looks nearest, {pixels[near]:.1f} pixels away, and"
        f" {head_name(trace, *far)} farthest, {pixels[far]:.1f}**; uniform attention gives"
        f" {measured.uniform:.1f}. The mean of layer {measured.layer_labels[0]} is {means[0]},"
        f" that of layer {measured.layer_labels[-1]} {means[-1]}."
    )


def _explain(over: str) -> str:
    images = OVER[over] + (", each alike" if over == "box" else "")
    return (
        f"Each dot is a head: mean distance from a patch to those it attends to, on {images}, in"
        " pixels of the image as the model gets it. CLS and registers do not count. Press a dot for"
        " its CLS map."
    )
