"""One head over the corpus: its cloud, what is chosen in it, and the sentence of a token."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from core.analysis.projections.umap_process import ProjectionError
from core.atlas.colours import point_tones
from core.components.points import AtlasCloud, show_cloud
from core.model import Trace
from core.model.trace import Array
from core.screens.atlas.head.contexts import show_contexts_of_head
from core.screens.atlas.head.image import show_image
from core.screens.atlas.head.points_file import offer_points
from core.screens.atlas.layouts import layout_alone, show_failed
from core.screens.atlas.screen import (
    Screen,
    contents_of,
    drawn_note,
    offer_page,
    token_data,
)
from core.screens.atlas.sentence import sentence_lines, show_sentence
from core.screens.atlas.wording import PRESS, faithfulness_note
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
            st.info(PRESS)
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
    lines = None if trace is None else sentence_lines(screen, trace, picked, tokens)
    both = np.concatenate([tokens, tokens + len(atlas.tokens)])
    tones = point_tones(atlas, screen.colour).numbers
    index = np.flatnonzero(tokens == picked)
    held = contents_of(screen, screen.name.replace(" ", ""))
    cloud = AtlasCloud(
        points=points,
        tones=(tones[head] if tones.ndim > 1 else tones)[both],
        picked=int(index[0]) if index.size else None,
        title=screen.name,
        lines=lines,
        picture=held.titled("Queries and keys over a corpus", place=screen.name, about=note),
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
        offer_page(cloud, f"{screen.name} of {atlas.model}", note, held)
        offer_points(screen, tokens, points, held)


def _points(screen: Screen, picked: int) -> tuple[Indices, Array, str]:
    """The tokens that are drawn, their points, and a note on both."""
    atlas, head, stage = screen.atlas, (screen.layer, screen.head), screen.stage
    size = len(atlas.tokens)
    if screen.projection == "PCA":
        tokens, plane = _sample(screen, picked), atlas.faithfulness[stage]
        points = atlas.points[stage][head][np.concatenate([tokens, tokens + size]), :2]
        figures = float(plane.correlation[head]), float(plane.top1[head])
    else:
        layout = layout_alone(screen)
        tokens, points = layout.tokens, layout.points
        figures = layout.faithfulness.correlation, layout.faithfulness.top1
    return tokens, points, f"{drawn_note(screen, tokens.size)} {faithfulness_note(*figures)}"


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
