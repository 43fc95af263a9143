"""How far the pictures of an atlas can be trusted, head by head."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st

from core.figures.head_map import head_map
from core.ui import address
from core.ui.atlas.layouts import STAGES
from core.ui.atlas.screen import SHARED, open_head
from core.ui.atlas.wording import STAGE_WORDS, number

if TYPE_CHECKING:
    from core.analysis.atlas import Atlas
    from core.figures.palette import Palette
    from core.ui.atlas.screen import Screen

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
    measure = st.session_state["measure"]
    atlas = screen.atlas
    values = (
        getattr(atlas.scaling, screen.stage)
        if measure == "full"
        else getattr(atlas.trust[screen.stage], measure)
    )
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
    st.caption(
        f"For {STAGE_WORDS[screen.stage]}. Correlation: of the distance between a query and a key"
        " in the plane of two principal components with their dot product, over the pairs of a"
        " sentence; −1 would mean that near is attended. “In full” is the same in all dimensions."
        " Nearest key: how often the key that a query attends to most is also its nearest among the"
        f" keys of its sentence. Measured on {atlas.trusted_tokens:,} of {len(atlas.tokens):,}"
        " tokens. Click a square to open the head."
    )


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


def _mean(values: np.ndarray) -> float:
    known = values[np.isfinite(values)]
    return round(float(known.mean()), 3) if known.size else float("nan")


def _open_clicked() -> None:
    points = st.session_state["atlas_trust"].selection.points
    if points:
        open_head(int(points[0]["y"]) - 1, int(points[0]["x"]) - 1)
