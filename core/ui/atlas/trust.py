"""How far the pictures of an atlas can be trusted, head by head."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st

from core.analysis.atlas.layouts import TOKENS_OF_ALL
from core.figures.head_map import head_map
from core.ui import address
from core.ui.atlas.layouts import STAGES
from core.ui.atlas.progress import LOOK_EVERY, ensure_layouts, follow, tell_progress
from core.ui.atlas.screen import SHARED, open_head
from core.ui.atlas.wording import STAGE_WORDS, number

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from core.analysis.atlas import Atlas
    from core.figures.palette import Palette
    from core.ui.atlas.screen import Screen

    Floats = NDArray[np.float64]

MEASURES = {
    "correlation": "correlation",
    "top1": "nearest key",
    "top3": "three nearest keys",
    "full": "correlation in full",
}


def show_trust(screen: Screen, colours: Palette) -> None:
    """A map of one measure, and the means of all of them."""
    address.restore_choice("measure", list(MEASURES), "correlation", "The measures are")
    address.publish(*SHARED, "measure")
    st.segmented_control(
        "Measure",
        list(MEASURES),
        key="measure",
        format_func=MEASURES.__getitem__,
        required=True,
        persist_state="session",
        label_visibility="collapsed",
    )
    running = screen.projection != "PCA" and ensure_layouts(screen).running
    draw = st.fragment(_draw, run_every=LOOK_EVERY) if running else _draw
    draw(screen, colours)


def _draw(screen: Screen, colours: Palette) -> None:
    follow("trust")
    measure = st.session_state["measure"]
    atlas = screen.atlas
    if screen.projection != "PCA" and not tell_progress(screen):
        st.rerun()
    values = _values(screen, measure)
    share = measure in ("top1", "top3")
    left, right = st.columns(2, gap="medium")
    with left:
        st.plotly_chart(
            head_map(
                values,
                MEASURES[measure],
                colours,
                bounds=(0.0, 1.0) if share else (-1.0, 1.0),
                title="share" if share else "r",
                signed=not share,
                reverse=not share,
            ),
            key="atlas_trust",
            on_select=_open_clicked,
            selection_mode="points",
            config={"displayModeBar": False},
        )
    with right:
        st.dataframe(_means(atlas), key="atlas_trust_table")
        st.markdown(_verdict(atlas))
    on = (
        f"Measured on {atlas.trusted_tokens:,} of {len(atlas.tokens):,} tokens."
        if screen.projection == "PCA" or measure == "full"
        else f"{screen.projection} is measured on the {TOKENS_OF_ALL} tokens it is laid out from; a"
        " cross marks a head that is yet to come. The table is of the components."
    )
    st.caption(
        f"The map is of {screen.projection} in the plane, vectors {STAGE_WORDS[screen.stage]}."
        " Correlation: of the distance between a query and a key in the plane with their dot"
        " product, over the pairs of a sentence; −1 would mean that near is attended. “In full” is"
        " the same in all dimensions. Nearest key: how often the key that a query attends to most"
        f" is also its nearest among the keys of its sentence. {on} Click a square for the head."
    )


def _values(screen: Screen, measure: str) -> Floats:
    """The measure of every head, (layer, head); not a number where a layout is yet to come."""
    atlas = screen.atlas
    if measure == "full":
        return np.asarray(getattr(atlas.scaling, screen.stage))
    if screen.projection == "PCA":
        return np.asarray(getattr(atlas.trust[screen.stage], measure))
    values = np.full(atlas.shape[:2], np.nan)
    for layer, head in np.ndindex(*values.shape):
        key = (screen.projection, screen.stage, layer, head, 2, TOKENS_OF_ALL)
        if key in screen.shelf.layouts:
            values[layer, head] = getattr(screen.shelf.layouts[key].kept, measure)
    return values


def _means(atlas: Atlas) -> pd.DataFrame:
    """Means over heads, a row a stage."""
    rows: dict[str, list[float]] = {}
    for stage in STAGES:
        trust = atlas.trust[stage]
        rows[stage] = [
            _mean(trust.correlation),
            _mean(getattr(atlas.scaling, stage)),
            _mean(trust.top1),
            _mean(trust.top3),
        ]
    rows["random points"] = [0.0, 0.0, *(round(share, 3) for share in atlas.chance)]
    names = ["correlation", "in full", "nearest", "three nearest"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=names)


def _verdict(atlas: Atlas) -> str:
    raw, moved = atlas.trust["raw"].correlation, atlas.trust["normalized"].correlation
    known = np.isfinite(raw) & np.isfinite(moved)
    better = int((moved[known] < raw[known]).sum())
    total = int(known.sum())
    worse = (
        " In most heads normalization brings the clouds together and **costs** faithfulness."
        if better * 2 < total
        else ""
    )
    return (
        f"In the plane, normalization brings distance nearer to attention in **{better} of"
        f" {total}** heads.{worse} Mean top-1 share:"
        f" {number(_mean(atlas.trust['raw'].top1))} raw,"
        f" {number(_mean(atlas.trust['normalized'].top1))} normalized, by chance"
        f" {number(atlas.chance[0])}."
    )


def _mean(values: Floats) -> float:
    known = values[np.isfinite(values)]
    return round(float(known.mean()), 3) if known.size else float("nan")


def _open_clicked() -> None:
    points = st.session_state["atlas_trust"].selection.points
    if points:
        open_head(int(points[0]["y"]) - 1, int(points[0]["x"]) - 1)
