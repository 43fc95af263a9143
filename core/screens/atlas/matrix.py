"""All heads at once: every one a cloud of queries and keys."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from core.analysis.atlas.colours import point_tones
from core.components.atlas_matrix import AtlasMatrix, matrix_page, show_matrix
from core.screens.atlas.find import show_spread
from core.screens.atlas.layouts import laid_out_tiles, tile_points, tile_tokens
from core.screens.atlas.options import LABELS, dimensions, switches
from core.screens.atlas.progress import LOOK_EVERY, ensure_layouts, follow, tell_progress
from core.screens.atlas.screen import Screen, open_head, token_data
from core.screens.atlas.wording import STAGE_WORDS, number
from core.ui import controls

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from core.figures.palette import Palette
    from core.model.trace import Array


def show_all_heads(screen: Screen, colours: Palette) -> None:
    """The matrix, its caption, the file, and where a search lies together."""
    controls.flag("own", default=True)
    switches(LABELS)
    running = False
    if screen.projection == "PCA":
        dimensions()
    else:
        running = ensure_layouts(screen).running
    draw = st.fragment(_draw, run_every=LOOK_EVERY) if running else _draw
    draw(screen)
    show_spread(screen, colours)


def _draw(screen: Screen) -> None:
    follow("heads")
    slow = screen.projection != "PCA"
    if slow and not tell_progress(screen):
        st.rerun()  # all heads are there: nothing needs to be looked at again and again
    tokens, points = _points(screen)
    if not tokens.size:
        if ensure_layouts(screen).running:
            st.info(
                f"The first head is being laid out; {screen.projection} takes ten seconds to begin."
            )
        return
    matrix = _matrix(screen, tokens, points)
    show_matrix(matrix, key="atlas_matrix", on_open=open_head)
    reading, saving = st.columns([5, 1])
    with reading:
        with st.container(horizontal=True, vertical_alignment="center"):
            if screen.projection == "PCA":
                dimensions(drawn=True)
            controls.flag(
                "own",
                "Each head in its own scale",
                default=True,
                help="Off: one scale for all heads, so that heads of short vectors look small.",
            )
            switches(LABELS, drawn=True)
        st.caption(_read(screen, tokens.size))
    saving.download_button(
        "Save as HTML",
        partial(matrix_page, matrix, "All heads over a corpus", _note(screen, tokens.size)),
        file_name="atlas.html",
        mime="text/html",
        on_click="ignore",
        width="stretch",
        help="One file that opens without internet and pans, zooms and reads like this picture.",
    )


def _points(screen: Screen) -> tuple[NDArray[np.intp], Array]:
    if screen.projection != "PCA":
        return laid_out_tiles(screen.shelf, screen.atlas, screen.projection, screen.stage)
    matches = screen.found.matches.tokens if screen.found else None
    tokens = tile_tokens(screen.atlas, matches)
    return tokens, tile_points(screen.atlas, screen.stage, tokens, _dimensions(screen))


def _dimensions(screen: Screen) -> int:
    """In space only where components are drawn: a layout of all heads has two dimensions."""
    return int(st.session_state["dims"]) if screen.projection == "PCA" else 2


def _matrix(screen: Screen, tokens: NDArray[np.intp], points: Array) -> AtlasMatrix:
    layers, heads, size = screen.atlas.shape
    both = np.concatenate([tokens, tokens + size])
    tones = point_tones(screen.atlas, screen.colour).numbers[..., both]
    return AtlasMatrix(
        layers=layers,
        heads=heads,
        points=points,
        tones=tones.reshape(-1, both.size) if tones.ndim > 1 else tones,
        own_scale=bool(st.session_state["own"]),
        chosen=(screen.layer, screen.head),
        labelled=bool(st.session_state[LABELS]),
        **token_data(screen, tokens),
    )


def _read(screen: Screen, count: int) -> str:
    atlas = screen.atlas
    size = len(atlas.tokens)
    all_of = "all" if count == size else f"{count:,} of"
    sample = "" if count == size else " (a random sample; one head alone shows all)"
    if screen.projection != "PCA":
        sample = " (some whole sentences; one head alone takes more)" if count < size else ""
    scales = "each head in its own scale" if st.session_state["own"] else "all heads in one scale"
    kept = ""
    if screen.projection == "PCA":
        components = _dimensions(screen)
        share = atlas.shares[screen.stage][..., :components].sum(axis=-1)
        kept = (
            f" The {components} components keep {number(float(share.mean()))} of the variance on"
            " average."
        )
    else:
        kept = " All heads at once are laid out in the plane; one head alone has 3-D."
    return (
        f"Every tile is a head, layers down, heads across: {_kinds(screen)}, of {all_of}"
        f" {size:,} tokens{sample}, {STAGE_WORDS[screen.stage]}, {scales}.{kept}"
        " Point at a dot to find its token in every head; click a tile to open the head, which has"
        " sizes by norm and lines of attention too."
    )


def _kinds(screen: Screen) -> str:
    if screen.colour == "type":
        return "green discs are queries, pink diamonds keys"
    return "darker discs are queries, lighter diamonds keys"


def _note(screen: Screen, count: int) -> str:
    """What the file holds, in plain text."""
    atlas = screen.atlas
    return (
        f"{atlas.model}: {count:,} of {len(atlas.tokens):,} tokens of {len(atlas.sentences):,}"
        f" sentences, {screen.projection}, {STAGE_WORDS[screen.stage]}."
    )
