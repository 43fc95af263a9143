"""All heads at once: each one a cloud of queries and keys."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.atlas.colours import point_tones
from core.components.atlas_cloud import AtlasCloud, show_cloud
from core.screens.atlas.layouts import tile_points, tile_tokens
from core.screens.atlas.screen import (
    Screen,
    contents_of,
    offer_page,
    open_head,
    token_data,
)
from core.screens.atlas.wording import number, whole
from core.ui.head_maps import gaps_note
from core.ui.words.prose import Prose

_words = Prose(__file__)


def show_all_heads(screen: Screen) -> None:
    """The matrix of points, its caption and its file."""
    atlas, heads = screen.atlas, screen.atlas.shape[1]
    tokens = tile_tokens(atlas, screen.search.matches.tokens if screen.search else None)
    points = tile_points(atlas, screen.stage, tokens)
    both = np.concatenate([tokens, tokens + len(atlas.tokens)])
    tones = point_tones(atlas, screen.colour).numbers[..., both]
    note = _note(screen, tokens.size)
    held = contents_of(screen, "all-heads")
    matrix = AtlasCloud(
        layer_labels=atlas.layer_labels,
        depth=atlas.depth,
        heads=heads,
        points=points,
        tones=tones.reshape(-1, both.size) if tones.ndim > 1 else tones,
        chosen=(screen.layer, screen.head),
        picture=held.titled("All heads over a corpus", about=note),
        **token_data(screen, tokens),
    )
    show_cloud(matrix, key="atlas_matrix", on_open=open_head)
    reading, saving = st.columns([5, 1])
    with reading:
        st.caption(_caption(screen, tokens.size))
    with saving:
        offer_page(
            matrix,
            "All heads over a corpus",
            f"{atlas.model}: {note}",
            held,
            help="One file that opens offline, and moves, zooms and tells like this picture.",
        )


def _note(screen: Screen, drawn: int) -> str:
    """What is drawn, for a file."""
    atlas = screen.atlas
    return (
        f"{drawn:,} of {len(atlas.tokens):,} tokens of {len(atlas.sentences):,}"
        f" {whole(atlas)}, PCA, {screen.stage}."
    )


def _caption(screen: Screen, count: int) -> str:
    atlas = screen.atlas
    share = atlas.shares[screen.stage][..., :2].sum(axis=-1).mean()
    return _words(
        "points_caption",
        by_type=screen.colour == "type",
        drawn=count,
        size=len(atlas.tokens),
        stage=screen.stage,
        share=number(float(share)),
        gaps=gaps_note(atlas),
    )
