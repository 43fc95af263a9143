"""Mean attention by position: what a head does whatever the words are."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from core.analysis.view_weights import ExactWeights, LayerWeights, quantise
from core.components.head_view import HeadView, Weighting, pack_head_view, show_head_view
from core.figures.heatmap import heatmap_figure
from core.figures.palette import token_colours
from core.model import Token, Trace
from core.ui import address
from core.ui.atlas.screen import SHARED, Screen

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from core.analysis.atlas import Atlas
    from core.figures.palette import Palette

LEAST_SENTENCES = 5  # that have a position, for its mean to be shown
_MEAN = Weighting("attention", "mean attention", "Over all sentences that have both positions")


def show_positions(screen: Screen, colours: Palette) -> None:
    """A heatmap of positions and the same as lines."""
    address.publish(*SHARED)
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
        show_head_view(
            _packed(screen, mean.astype(np.float32)), key="atlas_position_lines", on_view=_take
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


def _packed(screen: Screen, mean: NDArray[np.float32]) -> bytes:
    """The head view of sentences that have numbers for words."""
    layers, heads, _ = screen.atlas.shape
    size = mean.shape[-1]
    tokens = tuple(
        Token(str(i + 1), str(i + 1), i, special=False, segment=0, position=i, word=i)
        for i in range(size)
    )
    nothing = np.zeros((layers, heads, size, 1), dtype=np.float32)
    trace = Trace(screen.atlas.model, tokens, nothing, nothing, nothing, (), screen.atlas.causal)
    view: dict[str, Any] = {
        "layer": str(screen.layer + 1),
        "pairs": "all",
        "least": "auto",
        "weigh": "attention",
        "hide": False,
        "renorm": False,
        "what": False,
        "heads": [screen.head + 1],
        "without": [],
        "from": [],
        "to": [],
    }
    weights = LayerWeights(quantise(mean), 1.0, ExactWeights(mean), None, None)
    colours = {theme: token_colours(heads, theme) for theme in ("light", "dark")}
    serial = zlib.crc32(repr((screen.layer, screen.head, size)).encode())
    facts = HeadView(view, serial, [_MEAN], colours)
    return pack_head_view(trace, {screen.layer: weights}, "attention", facts)


def _take(view: object) -> None:
    """Another layer is wanted."""
    if isinstance(view, dict) and str(view.get("layer", "")).isdigit():
        st.session_state["layer"] = str(view["layer"])
