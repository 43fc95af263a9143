"""One head over the corpus: its cloud, what is chosen in it, and the sentence of a token."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from core.analysis.projections.umap_process import ProjectionError
from core.atlas.colours import point_tones
from core.components.atlas_cloud import AtlasCloud, show_cloud
from core.model import Trace
from core.model.trace import Array
from core.screens.atlas.head.contexts import show_contexts_of_head
from core.screens.atlas.head.image import show_image
from core.screens.atlas.head.points_file import offer_points
from core.screens.atlas.layouts import layout_alone, show_failed
from core.screens.atlas.screen import (
    Screen,
    contents_of,
    offer_page,
    token_data,
)
from core.screens.atlas.sentence import sentence_lines, show_sentence
from core.screens.atlas.wording import POINT_HINTS, faithfulness_note, number, whole
from core.ui import controls

if TYPE_CHECKING:
    Indices = NDArray[np.intp]

MAX_DRAWN = 10_000  # tokens in the single view: twice as many points
_SEED = 0


def show_one_head(screen: Screen) -> None:
    """The cloud beside the sentence of the chosen token."""
    size = len(screen.atlas.tokens)
    picked = controls.number("token", 0, size, 0) - 1
    if picked >= size:  # chosen in a larger corpus
        st.session_state["token"] = 0
        picked = -1
    left, right = st.columns([3, 2], gap="medium")
    trace = None
    with right:
        if picked >= 0:
            images = screen.atlas.images
            if images is None:
                trace = show_sentence(screen, picked)
            else:
                trace = show_image(screen, images, picked)
        else:
            st.info(POINT_HINTS[screen.atlas.images is None])
    with left:
        _draw(screen, picked, trace)
    if screen.contexts:
        show_contexts_of_head(screen)


def _draw(screen: Screen, picked: int, trace: Trace | None) -> None:
    """The cloud and its controls; or why it could not be laid out."""
    try:
        tokens, points, note = _points(screen, picked)
    except ProjectionError as error:
        show_failed(str(error))  # any rerun tries again, so the button's does
        return
    atlas, head = screen.atlas, (screen.layer, screen.head)
    lines = None
    if picked >= 0:
        lines, missing = _lines(screen, picked, trace, tokens)
        note += missing
    both = np.concatenate([tokens, tokens + len(atlas.tokens)])
    tones = point_tones(atlas, screen.colour).numbers
    index = np.flatnonzero(tokens == picked)
    held = contents_of(screen, screen.file_name)
    cloud = AtlasCloud(
        points=points,
        tones=(tones[head] if tones.ndim > 1 else tones)[both],
        picked=int(index[0]) if index.size else None,
        title=screen.name,
        lines=lines,
        picture=held.titled(
            "Queries and keys over a corpus", place=screen.name, about=note.replace("**", "")
        ),
        **token_data(screen, tokens),
    )
    show_cloud(
        cloud,
        key="atlas_cloud",
        on_pick=lambda index: controls.pick(token=0 if index is None else int(tokens[index]) + 1),
    )
    reading, saving = st.columns([3, 1])
    reading.caption(note)
    with saving:
        title = f"{screen.name} of {atlas.model}"
        offer_page(cloud, title, note.replace("**", ""), held)
        offer_points(screen, tokens, points, held)


def _lines(
    screen: Screen, picked: int, trace: Trace | None, tokens: Indices
) -> tuple[NDArray[Any] | None, str]:
    """The lines of attention in the chosen token's sentence, or why there are none."""
    if trace is None:
        return None, (
            " No attention lines: they need the model, and beside the cloud it says why that is"
            " not available."
        )
    lines = sentence_lines(screen, trace, picked, tokens)
    if screen.projection != "PCA" and not len(lines):
        return (
            lines,
            f" No attention lines: {screen.projection} left this {whole(screen.atlas, 1)} out.",
        )
    return lines, ""


def _points(screen: Screen, picked: int) -> tuple[Indices, Array, str]:
    """The tokens that are drawn, their points, and a note on both."""
    atlas, head, stage = screen.atlas, (screen.layer, screen.head), screen.stage
    size = len(atlas.tokens)
    if screen.projection != "PCA":
        layout = layout_alone(screen)
        note = (
            f"{screen.projection} of {_part(layout.tokens.size, size)} tokens"
            f" (whole {whole(atlas)}), {stage}; seed 0."
        )
        figures = layout.faithfulness
        note += faithfulness_note(atlas, head, figures.correlation, figures.top1)
        return layout.tokens, layout.points, note
    tokens = _sample(screen, picked)
    points = atlas.points[stage][head][np.concatenate([tokens, tokens + size]), :2]
    share = float(atlas.shares[stage][head][:2].sum())
    note = (
        f"PCA of {_part(tokens.size, size)} tokens, {stage}; 2 components keep"
        f" {number(share)} of the variance."
    )
    plane = atlas.faithfulness[stage]
    note += faithfulness_note(atlas, head, float(plane.correlation[head]), float(plane.top1[head]))
    return tokens, points, note


def _sample(screen: Screen, picked: int) -> Indices:
    """All tokens, or a sample of a large corpus with the chosen sentence and the matches."""
    columns = screen.atlas.tokens
    size = len(columns)
    if size <= MAX_DRAWN:
        return np.arange(size)
    generator = np.random.default_rng(_SEED)
    wanted = [generator.permutation(size)[:MAX_DRAWN]]
    if picked >= 0:
        wanted.append(columns.of_sentence(int(columns.sentence[picked])))
    if screen.search:
        wanted.append(screen.search.matches.indices[: MAX_DRAWN // 4])
    return np.unique(np.concatenate(wanted))[: 2 * MAX_DRAWN]


def _part(count: int, size: int) -> str:
    return f"all {size:,}" if count == size else f"{count:,} of {size:,}"
