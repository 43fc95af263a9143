"""All heads at once: each one a cloud of queries and keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from core.analysis.atlas.colours import point_tones
from core.components.atlas_matrix import AtlasMatrix, matrix_page, show_matrix
from core.screens.atlas.find import show_spread
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
    LABELS,
    Screen,
    contents_of,
    dimensions,
    offer_page,
    open_head,
    switch,
    token_data,
)
from core.screens.atlas.wording import STAGES, number, whole
from core.ui import controls
from core.ui.head_maps import gaps_note

if TYPE_CHECKING:
    from core.figures.palette import Palette


def show_all_heads(screen: Screen, colours: Palette) -> None:
    """The matrix, its caption, its file, and the dispersion of a search."""
    running = screen.projection != "PCA" and ensure_job(screen).running
    draw = st.fragment(_draw, run_every=LOOK_EVERY) if running else _draw
    draw(screen)
    show_spread(screen, colours)


def _draw(screen: Screen) -> None:
    follow("heads")
    atlas, pca = screen.atlas, screen.projection == "PCA"
    own_scale, labelled = controls.flag("own", default=True), switch(LABELS)
    axes = dimensions() if pca else 2  # layouts of all heads are flat
    if pca:
        tokens = tile_tokens(atlas, screen.search.matches.tokens if screen.search else None)
        points = tile_points(atlas, screen.stage, tokens, axes)
    else:
        if not show_progress(screen):
            st.rerun()  # the last head is done: no need to look again
        tokens, points = laid_out_tiles(screen)
    if not tokens.size:
        if ensure_job(screen).running:
            st.info(
                f"The first head is being laid out; {screen.projection} takes ten seconds to start."
            )
        return
    _, heads, size = atlas.shape
    both = np.concatenate([tokens, tokens + size])
    tones = point_tones(atlas, screen.colour).numbers[..., both]
    note = (
        f"{tokens.size:,} of {size:,} tokens of {len(atlas.sentences):,}"
        f" {whole(atlas)}, {screen.projection}, {STAGES[screen.stage]}."
    )
    held = contents_of(screen, "all-heads")
    matrix = AtlasMatrix(
        numbers=atlas.numbers,
        depth=atlas.depth,
        heads=heads,
        points=points,
        tones=tones.reshape(-1, both.size) if tones.ndim > 1 else tones,
        own_scale=own_scale,
        chosen=(screen.layer, screen.head),
        labelled=labelled,
        picture=held.titled("All heads over a corpus", about=note),
        **token_data(screen, tokens),
    )
    show_matrix(matrix, key="atlas_matrix", on_open=open_head)
    reading, saving = st.columns([5, 1])
    with reading:
        _draw_switches(flat=not pca)
        st.caption(_caption(screen, tokens.size, axes, own_scale=own_scale))
    with saving:
        offer_page(
            matrix_page,
            matrix,
            "All heads over a corpus",
            f"{atlas.model}: {note}",
            held,
            help="One file that opens offline, and pans, zooms and reads like this picture.",
        )


def _draw_switches(*, flat: bool) -> None:
    """The picture's own switches, below it; a layout that is flat has no choice of dimensions."""
    with st.container(horizontal=True, vertical_alignment="center"):
        if not flat:
            dimensions(drawn=True)
        controls.flag(
            "own",
            "Each head in its own scale",
            default=True,
            help="Off: one scale for all heads, so heads with short vectors look small.",
        )
        switch(LABELS, drawn=True)


def _caption(screen: Screen, count: int, axes: int, *, own_scale: bool) -> str:
    atlas, size = screen.atlas, len(screen.atlas.tokens)
    if screen.projection == "PCA":
        sample = " (a random sample; one head alone shows all)"
        share = float(atlas.shares[screen.stage][..., :axes].sum(axis=-1).mean())
        limits = f" The {axes} components keep {number(share)} of the variance on average."
    else:
        sample = f" (some whole {whole(atlas)}; one head alone takes more)"
        limits = " All heads together are laid out in the plane; one head alone can be in 3-D."
    tokens = f"all {size:,} tokens" if count == size else f"{count:,} of {size:,} tokens{sample}"
    kinds = (
        "green discs are queries, pink diamonds keys"
        if screen.colour == "type"
        else "darker discs are queries, lighter diamonds keys"
    )
    scales = "each head in its own scale" if own_scale else "all heads in one scale"
    return (
        f"Each tile is a head, with layers down and heads across: {kinds}, of {tokens},"
        f" {STAGES[screen.stage]}, {scales}.{limits} Hover over a point to find its token in every"
        " head; click a tile to open that head, with sizes by norm and lines of attention."
        f" {gaps_note(atlas)}"
    ).rstrip()
