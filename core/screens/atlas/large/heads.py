"""All heads of a large atlas at once, each as counts of all its queries and keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from core.components.atlas_matrix import AtlasMatrix, Counts, matrix_page, show_matrix
from core.screens.atlas.find import show_spread
from core.screens.atlas.large.drawn import large_of
from core.screens.atlas.layouts import MAX_MATCHES
from core.screens.atlas.screen import LABELS, contents_of, offer_page, open_head, switch, token_data
from core.screens.atlas.wording import STAGES, number
from core.ui import controls
from core.ui.head_maps import gaps_note

if TYPE_CHECKING:
    from core.analysis.atlas.files import LargeAtlas
    from core.figures.palette import Palette
    from core.screens.atlas.screen import Screen


def show_all_counts(screen: Screen, colours: Palette) -> None:
    """The matrix of counts; what a search found in the sample lies above them as points."""
    large = large_of(screen.shelf.large)
    atlas, facts = screen.atlas, large.facts
    own_scale, labelled = controls.flag("own", default=True), switch(LABELS)
    counts, bounds = large.density(screen.stage)
    layers, heads, _, cells, _ = counts.shape
    tokens = np.zeros(0, dtype=np.intp)
    if screen.search:
        tokens = np.flatnonzero(screen.search.matches.tokens)[:MAX_MATCHES]
    both = np.concatenate([tokens, tokens + len(atlas.tokens)])
    points = atlas.points[screen.stage].reshape(layers * heads, -1, 3)
    note = (
        f"{facts.tokens:,} tokens of {facts.sentences:,} sentences counted in {cells} × {cells}"
        f" cells, PCA, {STAGES[screen.stage]}."
    )
    held = contents_of(screen, "all-heads")
    matrix = AtlasMatrix(
        numbers=atlas.numbers,
        depth=atlas.depth,
        heads=heads,
        points=points[:, both, :2],
        own_scale=own_scale,
        chosen=(screen.layer, screen.head),
        counts=Counts(counts.reshape(-1, 2, cells, cells), bounds.reshape(-1, 4)),
        labelled=labelled,
        picture=held.titled("All heads over a corpus", about=note),
        tones=np.zeros(both.size),
        **token_data(screen, tokens),
    )
    show_matrix(matrix, key="atlas_counts", on_open=open_head)
    _show_caption(screen, large, matrix, note, own_scale=own_scale)
    show_spread(screen, colours)


def _show_caption(
    screen: Screen, large: LargeAtlas, matrix: AtlasMatrix, note: str, *, own_scale: bool
) -> None:
    reading, saving = st.columns([5, 1])
    with reading:
        controls.flag(
            "own",
            "Each head in its own scale",
            default=True,
            help="Off: one scale for all heads, of lengths and of counts.",
        )
        share = float(screen.atlas.shares[screen.stage][..., :2].sum(axis=-1).mean())
        found = (
            f" What the search found in the sample of {len(screen.atlas.tokens):,} tokens lies"
            " above them."
            if screen.search
            else ""
        )
        scale = "in its own scale" if own_scale else "in one scale for all"
        st.caption(
            f"**Drawn: counts, not points.** Each tile is a head {scale}, with layers down and"
            f" heads across; each cell has the colour of its queries (green) and keys (pink), of"
            f" all {large.facts.tokens:,} tokens, {STAGES[screen.stage]}.{found} Point at a cell"
            f" for the exact counts; click a tile to enlarge that head until its points appear."
            f" The 2 components keep {number(share)} of the variance on average."
            f" {gaps_note(screen.atlas)}".rstrip()
        )
    with saving:
        offer_page(
            matrix_page,
            matrix,
            "All heads over a corpus",
            f"{screen.atlas.model}: {note}",
            contents_of(screen, "all-heads"),
            help="One file that opens offline, and pans, zooms and reads like this picture.",
        )
