"""Points to draw: components at once; UMAP and t-SNE head by head, in the background."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from core.analysis.projections.umap_process import ProjectionError
from core.atlas import Atlas
from core.atlas.data import ONE_HEAD_TOKENS
from core.atlas.layouts import EVERY_HEAD_TOKENS, Layout, lay_out_head
from core.model.trace import Array
from core.screens.atlas.corpus.entry import AtlasEntry, LayoutJob
from core.screens.atlas.screen import Screen
from core.ui.words.messages import escape
from core.vocabulary import Stage, head_name

TILE_TOKENS = 1_500  # in each tile of the matrix; the single view draws all
MAX_MATCHES = 500  # of a search, drawn in addition
LOOK_EVERY = 2.5  # seconds between checks of the background job's progress
_FORGOTTEN_SECONDS = 20  # without a check, after which nobody is taken to be looking
_SEED = 0
_WAITING = "_atlas_waiting"
_turn = threading.Lock()
_log = logging.getLogger(__name__)


def ensure_job(screen: Screen) -> LayoutJob:
    """The thread that lays out all heads as on screen, this one first; started if necessary.

    It stops when nobody has looked for a while, and resumes when somebody does, even after an
    error.
    """
    entry, now = screen.entry, time.monotonic()
    job = entry.jobs.get((screen.projection, screen.stage))
    if job is not None:
        forgotten = now - job.touched > _FORGOTTEN_SECONDS
        job.touched = now
        if not job.stop.is_set() and not (job.error and forgotten):
            return job
    layers, heads, _ = screen.atlas.shape
    job = LayoutJob(screen.projection, screen.stage, layers * heads, now)
    entry.jobs[screen.projection, screen.stage] = job
    first = (screen.layer, screen.head)
    arguments = (entry, screen.atlas, job, first)
    threading.Thread(target=_lay_out_all, args=arguments, daemon=True).start()
    return job


def _lay_out_all(entry: AtlasEntry, atlas: Atlas, job: LayoutJob, first: tuple[int, int]) -> None:
    layers, heads, _ = atlas.shape
    for layer, head in sorted(np.ndindex(layers, heads), key=lambda each: each != first):
        if time.monotonic() - job.touched > _FORGOTTEN_SECONDS:
            job.stop.set()
        if job.stop.is_set():
            return
        key = _key(job.projection, job.stage, layer, head)
        try:
            with _turn:  # jobs take turns, head by head
                if key not in entry.layouts:
                    entry.layouts[key] = lay_out_head(
                        atlas, layer, head, job.stage, job.projection, max_tokens=EVERY_HEAD_TOKENS
                    )
        except ProjectionError as error:
            job.error = str(error)
            return
        except Exception:  # noqa: BLE001 - a thread that died silently would look busy for ever
            _log.exception("%s of a head failed", job.projection)
            job.error = f"{job.projection} of {head_name(atlas, layer, head)} failed."
            return
        job.done += 1


def show_progress(screen: Screen) -> bool:
    """Show the background job's progress; False once, when it has just finished or failed."""
    job = ensure_job(screen)
    slot = st.container()  # always there, so that nothing below moves and is redrawn when it ends
    if job.error:
        with slot:
            show_failed(job.error, job.stop.set)
    elif job.running:
        slot.progress(
            job.done / job.total,
            text=f"{job.projection}: {job.done} of {job.total} heads; the others follow in the"
            " background while this page is open",
        )
        st.session_state[_WAITING] = True
        return True
    return not st.session_state.pop(_WAITING, False)


def show_failed(error: str, on_retry: Callable[[], None] | None = None) -> None:
    """Say why a projection failed, with a button to try again."""
    st.warning(escape(error))
    st.button("Try again", key="projection_again", on_click=on_retry)


def follow(part: str) -> None:
    """Rerun the whole page when a click in a fragment has left `part`, as opening a head does."""
    if st.session_state["part"] != part:
        st.rerun()


def layout_alone(screen: Screen) -> Layout:
    """The layout of the head on screen, with as many tokens as time allows; cached or made now.

    Raises ProjectionError when UMAP or t-SNE fails; the next call tries again.
    """
    layouts, projection, stage = screen.entry.layouts, screen.projection, screen.stage
    key = (projection, stage, screen.layer, screen.head, ONE_HEAD_TOKENS)
    if key not in layouts:
        with st.spinner(f"{projection} of {screen.name}: about ten seconds for 2,500 tokens …"):
            layouts[key] = lay_out_head(screen.atlas, screen.layer, screen.head, stage, projection)
    return layouts[key]


def tile_tokens(atlas: Atlas, matches: NDArray[np.bool_] | None) -> NDArray[np.intp]:
    """The tokens that each tile draws: a random sample (fixed seed) plus the matches."""
    size = len(atlas.tokens)
    generator = np.random.default_rng(_SEED)
    sample = generator.permutation(size)[:TILE_TOKENS]
    if matches is not None and size > TILE_TOKENS:
        matching = np.flatnonzero(matches)
        if matching.size > MAX_MATCHES:
            matching = generator.choice(matching, MAX_MATCHES, replace=False)
        sample = np.union1d(sample, matching)
    return np.sort(sample)


def tile_points(atlas: Atlas, stage: Stage, tokens: NDArray[np.intp]) -> Array:
    """The first two components of `tokens`, (layer * head, 2 token, 2)."""
    both = np.concatenate([tokens, tokens + len(atlas.tokens)])
    layers, heads, _ = atlas.shape
    points = atlas.points[stage][:, :, both, :2]
    return np.ascontiguousarray(points.reshape(layers * heads, both.size, 2))


def laid_out_tiles(screen: Screen) -> tuple[NDArray[np.intp], Array]:
    """Tokens of the finished layouts, and points (layer * head, 2 token, 2), NaN elsewhere."""
    known, heads = screen.entry.layouts, [*np.ndindex(screen.atlas.shape[:2])]
    layouts = [known.get(_key(screen.projection, screen.stage, *head)) for head in heads]
    tokens = next((each.tokens for each in layouts if each), np.zeros(0, dtype=np.intp))
    points = np.full((len(heads), 2 * tokens.size, 2), np.nan, dtype=np.float32)
    for place, layout in enumerate(layouts):
        if layout:
            points[place] = layout.points
    return tokens, points


def _key(projection: str, stage: str, layer: int, head: int) -> tuple[str, str, int, int, int]:
    return projection, stage, layer, head, EVERY_HEAD_TOKENS
