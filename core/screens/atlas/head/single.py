"""One head over the corpus: its cloud, the chosen token, and files to save."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any
from weakref import ref

import numpy as np
import streamlit as st

from core.analysis.arrays import Indices
from core.analysis.projections.umap_process import ProjectionError
from core.atlas import Atlas
from core.atlas.colours import point_tones
from core.atlas.one_head import EMBEDDING_ATLAS, embedding_atlas_file
from core.components.points import Clouds, Panel, show_points
from core.model import Trace
from core.model.trace import Array
from core.screens.atlas.head.contexts import show_contexts_of_head
from core.screens.atlas.head.sentence import sentence_lines, show_image, show_sentence
from core.screens.atlas.layouts import layout_alone, show_failed
from core.screens.atlas.screen import Screen, contents_of, drawn_note, offer_page, token_data
from core.screens.atlas.wording import PRESS, faithfulness_note
from core.ui import controls
from core.ui.downloads import Contents, offer_file

MAX_DRAWN = 10_000  # tokens in the single view, each of them two points
_SEED = 0


def show_head_cloud(screen: Screen) -> None:
    """Show the cloud beside the sentence of the chosen token."""
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
    """Draw the cloud and its controls, or say why it could not be laid out."""
    try:
        tokens, points, note = _points(screen, picked)
    except ProjectionError as error:
        show_failed(str(error))  # any rerun tries again, so the button needs no callback
        return
    atlas, head = screen.atlas, (screen.layer, screen.head)
    lines = np.zeros((0, 4)) if trace is None else sentence_lines(screen, trace, picked, tokens)
    both = np.concatenate([tokens, tokens + len(atlas.tokens)])
    tones = point_tones(atlas, screen.colour).numbers
    index = np.flatnonzero(tokens == picked)
    export = contents_of(screen, screen.name.replace(" ", ""))
    of_head = tones[head] if tones.ndim > 1 else tones
    cloud = Clouds(
        panels=[Panel(screen.name, (), points, of_head[both], lines=lines)],
        pinned=int(index[0]) if index.size else None,
        picture=export.titled("Queries and keys over a corpus", place=screen.name, about=note),
        **token_data(screen, tokens),
    )

    def pick(point: int | None) -> None:
        controls.pick(token=0 if point is None else int(tokens[point % tokens.size]) + 1)

    show_points(cloud, key="atlas_cloud", on_pick=pick)
    reading, saving = st.columns([3, 1])
    reading.caption(note)
    with saving:
        offer_page(cloud, f"{screen.name} of {atlas.model}", note, export)
        offer_points(screen, tokens, points, export)


def _points(screen: Screen, picked: int) -> tuple[Indices, Array, str]:
    """The tokens to draw, their points, and a note on both."""
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
    parts = [generator.permutation(size)[:MAX_DRAWN]]
    if picked >= 0:
        parts.append(columns.of_sentence(int(columns.sentence[picked])))
    if screen.search:
        parts.append(screen.search.matches.indices[: MAX_DRAWN // 4])
    return np.unique(np.concatenate(parts))[: 2 * MAX_DRAWN]


def offer_points(screen: Screen, tokens: Indices, points: Array, export: Contents) -> None:
    """Offer the picture's points as a file; all tokens, where all of them have points."""
    atlas = screen.atlas
    if screen.projection == "PCA":
        tokens = np.arange(len(atlas.tokens))
        components = atlas.points[screen.stage][screen.layer, screen.head]
        points = components[:, :2].copy()  # a copy: a view would keep all heads in memory
    offer_file(
        "Save as Parquet",
        partial(_file, ref(atlas), tokens, points, export.facts),
        export,
        ".parquet",
        width="stretch",
        help=f"The {2 * tokens.size:,} points of {tokens.size:,} tokens with their words and"
        f" sentences. Embedding Atlas opens it with `embedding-atlas FILE {EMBEDDING_ATLAS}`.",
    )


def _file(reference: ref[Atlas], tokens: Indices, points: Array, facts: Mapping[str, Any]) -> bytes:
    """The file, made on demand; a weak reference, so that the button keeps no dropped atlas."""
    atlas = reference()
    if atlas is None:
        raise LookupError("This atlas is no longer in memory: open the page again, then save it.")
    return embedding_atlas_file(atlas, tokens, points, facts)
