"""Which points are drawn: components of all tokens, or UMAP and t-SNE of one head."""

from __future__ import annotations

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from core.atlas import Atlas
from core.atlas.layouts import Layout, lay_out_head
from core.model.trace import Array
from core.screens.atlas.screen import Screen
from core.vocabulary import Stage

TILE_TOKENS = 1_500  # drawn in each tile of the matrix; the single view draws all
MAX_MATCHES = 500  # of a search, added to them
_SEED = 0


def layout_alone(screen: Screen) -> Layout:
    """The head on screen with as many tokens as time allows, from the entry or laid out now.

    Raises ProjectionError when UMAP or t-SNE fails; the next call tries again.
    """
    layouts, projection, stage = screen.entry.layouts, screen.projection, screen.stage
    key = (projection, stage, screen.layer, screen.head)
    if key not in layouts:
        with st.spinner(f"{projection} of {screen.name}: about ten seconds for 2,500 tokens …"):
            layouts[key] = lay_out_head(screen.atlas, screen.layer, screen.head, stage, projection)
    return layouts[key]


def tile_tokens(atlas: Atlas, matches: NDArray[np.bool_] | None) -> NDArray[np.intp]:
    """The tokens that each tile draws: a random sample (fixed seed) plus the matches."""
    size = len(atlas.tokens)
    generator = np.random.default_rng(_SEED)
    sample = generator.permutation(size)[:TILE_TOKENS]
    if matches is not None and size > TILE_TOKENS:
        matching = np.flatnonzero(matches)
        if matching.size > MAX_MATCHES:
            matching = generator.choice(matching, MAX_MATCHES, replace=False)
        sample = np.union1d(sample, matching)
    return np.sort(sample)


def tile_points(atlas: Atlas, stage: Stage, tokens: NDArray[np.intp]) -> Array:
    """The first two components of those tokens, (layer * head, 2 token, 2)."""
    both = np.concatenate([tokens, tokens + len(atlas.tokens)])
    layers, heads, _ = atlas.shape
    points = atlas.points[stage][:, :, both, :2]
    return np.ascontiguousarray(points.reshape(layers * heads, both.size, 2))
