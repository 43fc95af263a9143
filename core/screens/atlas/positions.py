"""Mean attention by position: what a head does whatever the words are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from core.analysis.view_weights import ExactWeights, LayerWeights, quantise
from core.components.head_view import Weighting
from core.figures.heatmap import heatmap_figure
from core.model import Token, Trace
from core.screens.atlas.head.lines import show_lines

if TYPE_CHECKING:
    from core.analysis.atlas import Atlas
    from core.figures.palette import Palette
    from core.screens.atlas.screen import Screen

LEAST_SENTENCES = 5  # that have a position, for its mean to be shown
_MEAN = Weighting("attention", "mean attention", "Over all sentences that have both positions")


def show_positions(screen: Screen, colours: Palette) -> None:
    """A heatmap of positions and the same as lines."""
    atlas = screen.atlas
    shown = _shown(atlas)
    mean = atlas.positions.mean[screen.layer, :, :shown, :shown]
    left, right = st.columns([3, 2], gap="medium")
    with left:
        figure = heatmap_figure(
            mean[screen.head].astype(np.float32),
            [str(position) for position in range(1, shown + 1)],
            screen.name,
            colours,
        )
        st.plotly_chart(figure, key="atlas_positions", config={"displayModeBar": False})
    with right:
        lines = mean.astype(np.float32)
        weights = LayerWeights(quantise(lines), 1.0, ExactWeights(lines), None, None)
        show_lines(
            _sentence_of_numbers(atlas, shown),
            {screen.layer: weights},
            screen,
            _MEAN,
            key="atlas_position_lines",
        )
    counts = atlas.positions.counts
    st.caption(
        f"Mean attention of {screen.name} from a position (row) to a position (column) over the"
        f" {len(atlas.sentences):,} sentences; {int(counts[shown - 1, shown - 1]):,} of them reach"
        f" position {shown}. A stripe beside the diagonal is a head that looks at a neighbour; a"
        " full column one that looks at one place, often the first. Later positions, and those of"
        f" fewer than {LEAST_SENTENCES} sentences, are left out."
    )


def _shown(atlas: Atlas) -> int:
    """How many positions have enough sentences; 1 at least."""
    counts = np.diagonal(atlas.positions.counts)
    least = min(LEAST_SENTENCES, int(counts[0]))
    return max(1, int((counts >= least).sum()))


def _sentence_of_numbers(atlas: Atlas, size: int) -> Trace:
    """A trace whose words are positions; its vectors stand for nothing."""
    layers, heads, _ = atlas.shape
    tokens = tuple(
        Token(str(i + 1), str(i + 1), i, special=False, segment=0, position=i, word=i)
        for i in range(size)
    )
    nothing = np.zeros((layers, heads, size, 1), dtype=np.float32)
    return Trace(atlas.model, tokens, nothing, nothing, nothing, (), atlas.causal)
