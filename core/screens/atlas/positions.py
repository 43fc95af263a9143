"""Mean attention by position: what a head does whatever the words are."""

from __future__ import annotations

import operator

import numpy as np
import streamlit as st

from core.analysis.layer_payload import LayerPayload, quantise
from core.atlas import Atlas
from core.components.head_view import Weighting
from core.figures.heatmap import heatmap_figure
from core.figures.palette import Palette
from core.model.trace import Layer, Token, Trace
from core.screens.atlas.screen import Screen
from core.screens.atlas.sentence import show_lines
from core.ui import python
from core.ui.charts import show_chart
from core.ui.words.prose import Prose

MIN_SENTENCES = 5  # that reach a position, for its mean to be shown
_HEIGHT = 470  # pixels: the whole picture is on a projector
_MEAN = Weighting("attention", "mean attention", "Over all sentences that have both positions")
_words = Prose(__file__)


def show_positions(screen: Screen, colours: Palette) -> None:
    """A heatmap of positions, and the same as lines."""
    atlas = screen.atlas
    size = shown_positions(atlas)
    mean = atlas.positions.mean[screen.layer, :, :size, :size].astype(np.float32)
    everywhere = python.call(getattr, atlas, "positions.mean")
    place = (screen.layer, screen.head, slice(None, size), slice(None, size))
    python.made("mean", None, python.call(operator.getitem, everywhere, place))
    positions = [str(position) for position in range(1, size + 1)]
    left, right = st.columns([3, 2], gap="medium")
    with left:
        figure = heatmap_figure(mean[screen.head], positions, screen.name, colours)
        figure.update_layout(height=_HEIGHT)
        show_chart(
            figure,
            key="atlas_positions",
            model=atlas.model,
            alt=f"Mean attention of {screen.name}",
            quiet=True,
        )
    with right:
        tokens = tuple(
            Token(name, name, i, special=False, segment=0, position=i, word=i)
            for i, name in enumerate(positions)
        )
        # Only the shape of these vectors is used.
        zeros = np.zeros((*atlas.shape[:2], size, 1), dtype=np.float32)
        layers = tuple(Layer(1.0, None, number=number - 1) for number in atlas.layer_labels)
        trace = Trace(
            atlas.model, tokens, zeros, zeros, zeros, layers, atlas.causal, depth=atlas.depth
        )
        weights = LayerPayload(weights=mean, steps=quantise(mean))
        show_lines(trace, {screen.layer: weights}, screen, _MEAN, key="atlas_position_lines")
    measured, reaching = (int(atlas.positions.counts[i, i]) for i in (0, size - 1))
    words = _words(
        "positions",
        measured=measured,
        reaching=reaching,
        size=size,
        fewest=MIN_SENTENCES,
    )
    st.caption(words)


def shown_positions(atlas: Atlas) -> int:
    """The number of positions that enough sentences reach, at least 1."""
    counts = np.diagonal(atlas.positions.counts)
    return max(1, int((counts >= min(MIN_SENTENCES, int(counts[0]))).sum()))
