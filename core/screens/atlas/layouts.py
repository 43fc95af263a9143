"""Which points are drawn: components at once; UMAP and t-SNE head by head, in the background."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from core.analysis.atlas.layouts import TOKENS_ALONE, TOKENS_OF_ALL, Layout, lay_out_head
from core.analysis.projections.error import ProjectionError
from core.screens.atlas.shelf import AtlasShelf, LayoutJob

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from core.analysis.atlas import Atlas
    from core.analysis.projections.joint_embedding import Projection
    from core.analysis.query_key.clouds import Stage
    from core.model.trace import Array

PROJECTIONS: tuple[Projection, ...] = ("PCA", "UMAP", "t-SNE")
STAGES: dict[Stage, str] = {"raw": "raw", "translated": "translated", "normalized": "normalized"}
TILE_TOKENS = 1_500  # drawn in each tile of the matrix; the single view draws all
MAX_MATCHES = 500  # of a search, added to them
_FORGOTTEN_SECONDS = 20  # after which nobody looks at the page any more
_SEED = 0
_turn = threading.Lock()
_log = logging.getLogger(__name__)


def ensure_job(
    shelf: AtlasShelf, atlas: Atlas, projection: Projection, stage: Stage, first: tuple[int, int]
) -> LayoutJob:
    """The thread that lays out all heads this way, started if it is not there; `first` goes first.

    It stops when nobody has looked for a while, and goes on from there when somebody does; so it
    does after an error.
    """
    job = shelf.jobs.get((projection, stage))
    if job is not None:
        left = time.monotonic() - job.touched > _FORGOTTEN_SECONDS
        job.touched = time.monotonic()
        if not job.stop.is_set() and not (job.error and left):
            return job
    layers, heads, _ = atlas.shape
    job = LayoutJob(projection, stage, layers * heads, time.monotonic())
    shelf.jobs[projection, stage] = job
    threading.Thread(target=_lay_out_all, args=(shelf, atlas, job, first), daemon=True).start()
    return job


def forget_failed(shelf: AtlasShelf, projection: Projection, stage: Stage) -> None:
    """After an error, let the next look start again; what was laid out is kept."""
    job = shelf.jobs.get((projection, stage))
    if job is not None and job.error:
        job.stop.set()


def _lay_out_all(shelf: AtlasShelf, atlas: Atlas, job: LayoutJob, first: tuple[int, int]) -> None:
    layers, heads, _ = atlas.shape
    order = sorted(np.ndindex(layers, heads), key=lambda at: at != first)
    for layer, head in order:
        if time.monotonic() - job.touched > _FORGOTTEN_SECONDS:
            job.stop.set()
        if job.stop.is_set():
            return
        key = (job.projection, job.stage, layer, head, 2, TOKENS_OF_ALL)
        try:
            with _turn:  # of several jobs each gets a head in turn
                if key not in shelf.layouts:
                    shelf.layouts[key] = lay_out_head(
                        atlas, layer, head, job.stage, job.projection, most=TOKENS_OF_ALL
                    )
        except ProjectionError as error:
            job.error = str(error)
            return
        except Exception:  # noqa: BLE001 - a thread that ends in silence would look at work for ever
            _log.exception("%s of a head failed", job.projection)
            job.error = f"{job.projection} of L{layer + 1} H{head + 1} failed."
            return
        job.done += 1


def layout_alone(
    shelf: AtlasShelf,
    atlas: Atlas,
    at: tuple[int, int],
    stage: Stage,
    projection: Projection,
    dimensions: int,
) -> Layout:
    """One head with as many tokens as time allows, from the shelf or laid out now.

    Raises
    ------
    ProjectionError
        When UMAP or t-SNE fails; asked again, it tries again.
    """
    key = (projection, stage, *at, dimensions, TOKENS_ALONE)
    if key not in shelf.layouts:
        name = f"L{at[0] + 1} H{at[1] + 1}"
        with st.spinner(f"{projection} of {name}: about ten seconds for 2,500 tokens …"):
            shelf.layouts[key] = lay_out_head(atlas, *at, stage, projection, dimensions)
    return shelf.layouts[key]


def tile_tokens(atlas: Atlas, matches: NDArray[np.bool_] | None) -> NDArray[np.intp]:
    """The tokens that each tile draws: a random sample (fixed seed), and what was found."""
    size = len(atlas.tokens)
    generator = np.random.default_rng(_SEED)
    chosen = generator.permutation(size)[:TILE_TOKENS]
    if matches is not None and size > TILE_TOKENS:
        found = np.flatnonzero(matches)
        if found.size > MAX_MATCHES:
            found = generator.choice(found, MAX_MATCHES, replace=False)
        chosen = np.union1d(chosen, found)
    return np.sort(chosen)


def tile_points(atlas: Atlas, stage: Stage, chosen: NDArray[np.intp], dimensions: int = 2) -> Array:
    """The first components of those tokens, (layer * head, 2 token, dimensions)."""
    both = np.concatenate([chosen, chosen + len(atlas.tokens)])
    points = atlas.points[stage][:, :, both, :dimensions]
    return np.ascontiguousarray(points.reshape(-1, both.size, dimensions))


def laid_out_tiles(
    shelf: AtlasShelf, atlas: Atlas, projection: Projection, stage: Stage
) -> tuple[NDArray[np.intp], Array]:
    """The tokens of the layouts and their points (layer * head, 2 token, 2), not a number yet."""
    layers, heads, _ = atlas.shape
    found = {
        at: shelf.layouts[key]
        for at in np.ndindex(layers, heads)
        if (key := (projection, stage, at[0], at[1], 2, TOKENS_OF_ALL)) in shelf.layouts
    }
    if not found:
        return np.zeros(0, dtype=np.intp), np.zeros((layers * heads, 0, 2), dtype=np.float32)
    tokens = next(iter(found.values())).tokens
    points = np.full((layers * heads, 2 * tokens.size, 2), np.nan, dtype=np.float32)
    for (layer, head), layout in found.items():
        points[layer * heads + head] = layout.points
    return tokens, points
