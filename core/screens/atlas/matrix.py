"""All heads at once, each as a cloud of queries and keys."""

from __future__ import annotations

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from core.atlas.colours import point_tones
from core.components.points import AtlasCloud, show_points
from core.model.trace import Array
from core.screens.atlas.layouts import (
    LOOK_EVERY,
    ensure_job,
    follow,
    laid_out_tiles,
    show_progress,
    tile_points,
    tile_tokens,
)
from core.screens.atlas.screen import (
    Screen,
    contents_of,
    drawn_note,
    offer_page,
    open_head,
    token_data,
)
from core.screens.atlas.wording import TILES
from core.ui.heads import gaps_note


def show_matrix(screen: Screen) -> None:
    """The matrix of points, its caption and its file."""
    running = screen.projection != "PCA" and ensure_job(screen).running
    draw = st.fragment(_draw, run_every=LOOK_EVERY) if running else _draw
    draw(screen)


def _draw(screen: Screen) -> None:
    follow("heads")
    atlas, heads = screen.atlas, screen.atlas.shape[1]
    tokens, points = _points(screen)
    if not tokens.size:
        if ensure_job(screen).running:
            st.info(
                f"The first head is being laid out; {screen.projection} takes ten seconds to start."
            )
        return
    both = np.concatenate([tokens, tokens + len(atlas.tokens)])
    tones = point_tones(atlas, screen.colour).numbers[..., both]
    note = drawn_note(screen, tokens.size)
    export = contents_of(screen, "all-heads")
    matrix = AtlasCloud(
        layer_labels=atlas.layer_labels,
        depth=atlas.depth,
        across=heads,
        points=points,
        tones=tones.reshape(-1, both.size) if tones.ndim > 1 else tones,
        chosen=(screen.layer, screen.head),
        picture=export.titled("All heads over a corpus", about=note),
        **token_data(screen, tokens),
    )
    show_points(matrix, key="atlas_matrix", on_open=open_head)
    reading, saving = st.columns([5, 1])
    reading.caption(f"{note} {TILES} {gaps_note(atlas)}")
    with saving:
        offer_page(matrix, "All heads over a corpus", f"{atlas.model}: {note}", export)


def _points(screen: Screen) -> tuple[NDArray[np.intp], Array]:
    """The tokens to draw, and their points (layer * head, 2 token, 2)."""
    matches = screen.search.matches if screen.search else None
    if screen.projection == "PCA":
        tokens = tile_tokens(screen.atlas, None if matches is None else matches.tokens)
        return tokens, tile_points(screen.atlas, screen.stage, tokens)
    if not show_progress(screen):
        st.rerun()  # the last head is done: no need to look again
    return laid_out_tiles(screen)
