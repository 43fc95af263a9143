"""What the pictures of an atlas keep of attention, head by head."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
import pandas as pd
import streamlit as st

from core.analysis.atlas.layouts import TOKENS_OF_ALL
from core.screens.atlas.layouts import STAGES
from core.screens.atlas.progress import LOOK_EVERY, ensure_layouts, follow, tell_progress
from core.screens.atlas.screen import open_head
from core.screens.atlas.wording import NOT_MEASURED, STAGE_WORDS, number
from core.ui import controls
from core.ui.head_maps import show_head_map

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from core.analysis.atlas import Atlas, ModelFaithfulness
    from core.analysis.projections.joint_embedding import Metric
    from core.figures.palette import Palette
    from core.screens.atlas.screen import Screen

    Floats = NDArray[np.float64]

MEASURES = {
    "correlation": "correlation",
    "top1": "nearest key",
    "top3": "three nearest keys",
}
DISTANCES = {"euclidean": "Euclidean", "cosine": "cosine"}
SPACES = {"plane": "in the plane", "full": "full space"}


def show_faithfulness(screen: Screen, colours: Palette) -> None:
    """A map of one measure, and the means of all of them."""
    _draw_controls()
    in_plane = _in_plane()
    if not np.isfinite(screen.atlas.measured.top1).any():
        st.info(NOT_MEASURED)
        return
    running = in_plane and screen.projection != "PCA" and ensure_layouts(screen).running
    draw = st.fragment(_draw, run_every=LOOK_EVERY) if running else _draw
    draw(screen, colours)


def _draw_controls() -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        controls.choice("measure", MEASURES, "Measure", subject="The measures are")
        controls.choice(
            "distance",
            DISTANCES,
            "Distance",
            subject="The distances are",
            help="Between a query and a key. Cosine distance is measured in full space: the plane"
            " of an atlas is drawn for Euclidean distance.",
        )
        if _has_plane():
            controls.choice("space", SPACES, "Where", subject="Faithfulness is measured")


def _has_plane() -> bool:
    return bool(st.session_state["distance"] == "euclidean")


def _in_plane() -> bool:
    return _has_plane() and st.session_state["space"] == "plane"


def _draw(screen: Screen, colours: Palette) -> None:
    follow("trust")
    measure = st.session_state["measure"]
    if _in_plane() and screen.projection != "PCA" and not tell_progress(screen):
        st.rerun()
    share = measure != "correlation"
    left, right = st.columns(2, gap="medium")
    with left:
        show_head_map(
            _values(screen, measure),
            MEASURES[measure],
            colours,
            key="atlas_trust",
            on_open=open_head,
            bounds=(0.0, 1.0) if share else (-1.0, 1.0),
            title="share" if share else "r",
            signed=not share,
            reverse=not share,
        )
    with right:
        st.dataframe(_means(screen.atlas, measure), key="atlas_trust_table")
        st.markdown(_verdict(screen.atlas))
    st.caption(_caption(screen, measure))


def _values(screen: Screen, measure: str) -> Floats:
    """The measure of every head, (layer, head); not a number where a layout is yet to come."""
    atlas = screen.atlas
    if not _in_plane():
        metric = cast("Metric", st.session_state["distance"])
        return np.asarray(getattr(atlas.full[metric][screen.stage], measure))
    if screen.projection == "PCA":
        return np.asarray(getattr(atlas.faithfulness[screen.stage], measure))
    values = np.full(atlas.shape[:2], np.nan)
    for layer, head in np.ndindex(*values.shape):
        key = (screen.projection, screen.stage, layer, head, 2, TOKENS_OF_ALL)
        if key in screen.shelf.layouts:
            values[layer, head] = getattr(screen.shelf.layouts[key].kept, measure)
    return values


def _means(atlas: Atlas, measure: str = "correlation") -> pd.DataFrame:
    """Means over heads of what is kept, a row a stage and a column a picture."""
    kept = {
        "PCA plane": atlas.faithfulness,
        "full space": atlas.full["euclidean"],
        "full, cosine": atlas.full["cosine"],
    }
    rows: dict[str, list[float]] = {
        stage: [_mean(getattr(each[stage], measure)) for each in kept.values()] for stage in STAGES
    }
    guessed = 0.0 if measure == "correlation" else _mean(getattr(atlas.measured, measure))
    rows["uniform baseline"] = [guessed] * len(kept)
    return pd.DataFrame.from_dict(rows, orient="index", columns=list(kept))


def _verdict(atlas: Atlas) -> str:
    """Whether normalization helps the plane, and which distance keeps more (Markdown)."""
    raw, moved = atlas.faithfulness["raw"], atlas.faithfulness["normalized"]
    known = np.isfinite(raw.correlation) & np.isfinite(moved.correlation)
    total = int(known.sum())
    if not total:
        return "No head has a correlation on this corpus."
    better = int((moved.correlation[known] < raw.correlation[known]).sum())
    by_key = int((moved.top1[known] > raw.top1[known]).sum())
    worse = (
        " In most heads it brings the clouds together and **costs** faithfulness."
        if better * 2 < total and by_key * 2 < total
        else ""
    )
    return (
        f"In the plane, normalization brings distance nearer to attention in **{better} of"
        f" {total}** heads by correlation, and in **{by_key}** by nearest key.{worse} Nearest key:"
        f" {_percent(raw.top1)} of the queries raw, {_percent(moved.top1)} normalized; a"
        f" uniform guess {_percent(atlas.measured.top1)}.\n\n{_distances(atlas)}"
    )


def _distances(atlas: Atlas) -> str:
    """Cosine and Euclidean distance side by side, after translation."""
    cosine, euclidean = (atlas.full[name]["translated"] for name in ("cosine", "euclidean"))
    if not np.isfinite(cosine.correlation).any() or not np.isfinite(euclidean.correlation).any():
        return ""
    by_r = _mean(cosine.correlation) < _mean(euclidean.correlation)
    by_key = _mean(cosine.top1) > _mean(euclidean.top1)
    numbers = (
        f"r = {number(_mean(cosine.correlation))} with cosine,"
        f" {number(_mean(euclidean.correlation))} with Euclidean distance; nearest key"
        f" {_percent(cosine.top1)} and {_percent(euclidean.top1)}"
    )
    if by_r != by_key:
        names = ("cosine", "Euclidean") if by_r else ("Euclidean", "cosine")
        return (
            f"After translation **{names[0]} distance keeps more by correlation, {names[1]}"
            f" distance more by nearest key**, in full space: {numbers}."
        )
    more = "cosine" if by_r else "Euclidean"
    return f"After translation **{more} distance keeps more**, in full space: {numbers}."


def _caption(screen: Screen, measure: str) -> str:
    """How to read the map, and on what it was measured."""
    picture = f"{screen.projection} in the plane" if _in_plane() else "distances in full space"
    reading = (
        f"Correlation: of {DISTANCES[st.session_state['distance']]} distance with the scores, both"
        " less the mean of their row, which softmax cannot see; −1 would mean that near is attended"
        " to."
        if measure == "correlation"
        else "How often the keys that a query attends to most are also its nearest among the keys"
        " of its sentence."
    )
    return (
        f"The map is of {picture} ({screen.stage}: {STAGE_WORDS[screen.stage]}). {reading}"
        f" {_evidence(screen, measure)} Click a square for the head."
    )


def _evidence(screen: Screen, measure: str) -> str:
    """Pairs, sentences and sampling error of what the map shows."""
    atlas, measured = screen.atlas, screen.atlas.measured
    if _in_plane() and screen.projection != "PCA":
        return (
            f"{screen.projection} is measured on the {TOKENS_OF_ALL} tokens it is laid out from; a"
            " cross marks a head that is yet to come. The table is of the components."
        )
    fewest, most = int(measured.pairs.min()), int(measured.pairs.max())
    pairs = f"{most:,}" if fewest == most else f"{fewest:,} to {most:,}"
    on = (
        f"Plane and full space are measured on the same {pairs} permitted pairs a head, of"
        f" {measured.tokens:,} of {len(atlas.tokens):,} tokens in {measured.sentences:,} sentences;"
        " queries with a single permitted key are left out."
    )
    if measure != "correlation":
        return on
    return f"{on} {_pooled(_shown(screen))}"


def _shown(screen: Screen) -> ModelFaithfulness:
    if _in_plane():
        return screen.atlas.faithfulness[screen.stage]
    return screen.atlas.full[cast("Metric", st.session_state["distance"])][screen.stage]


def _pooled(kept: ModelFaithfulness) -> str:
    reach = (kept.high - kept.low) / 2
    reach = reach[np.isfinite(reach)]
    error = (
        f"; half the 95% interval of a head is {number(float(np.median(reach)))} (median; jackknife"
        " over sentences)"
        if reach.size
        else ""
    )
    return (
        f"All sentences are pooled: mean over heads {number(_mean(kept.correlation))}; each"
        f" sentence alone and then averaged, {number(_mean(kept.per_sentence))}{error}."
    )


def _mean(values: Floats) -> float:
    known = values[np.isfinite(values)]
    return round(float(known.mean()), 3) if known.size else float("nan")


def _percent(values: Floats) -> str:
    mean = _mean(values)
    return f"{mean:.0%}" if np.isfinite(mean) else "—"
