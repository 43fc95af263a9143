"""What the pictures of an atlas keep of attention, head by head."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
import pandas as pd
import streamlit as st

from core.analysis.atlas.layouts import EVERY_HEAD_TOKENS
from core.screens.atlas.layouts import (
    LOOK_EVERY,
    ensure_job,
    finished_layouts,
    follow,
    show_progress,
)
from core.screens.atlas.screen import open_head
from core.screens.atlas.wording import NOT_MEASURED, STAGES, number
from core.ui import controls
from core.ui.head_maps import show_head_map

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from streamlit.delta_generator import DeltaGenerator

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


@dataclass(frozen=True)
class Choice:
    """What the map shows: a measure, of a distance, in the plane or in full space."""

    measure: str
    distance: Metric
    in_plane: bool

    def of_layouts(self, screen: Screen) -> bool:
        """Whether it is of UMAP or t-SNE."""
        return self.in_plane and screen.projection != "PCA"

    def figures(self, screen: Screen) -> ModelFaithfulness:
        """The atlas's own figures, for the components or full space."""
        by_stage = screen.atlas.faithfulness if self.in_plane else screen.atlas.full[self.distance]
        return by_stage[screen.stage]


def show_faithfulness(screen: Screen, choice: Choice, colours: Palette) -> None:
    """A map of one measure, and the means of all of them."""
    if not np.isfinite(screen.atlas.measured.top1).any():
        st.info(NOT_MEASURED)
        return
    running = choice.of_layouts(screen) and ensure_job(screen).running
    draw = st.fragment(_draw, run_every=LOOK_EVERY) if running else _draw
    draw(screen, colours, choice)


def pick_measure(settings: DeltaGenerator) -> Choice:
    """What the map shows; `settings` has the distance and where it is measured."""
    measure = controls.choice(
        "measure", MEASURES, "Measure", subject="The measures are", menu=True, width=170
    )
    with settings:
        distance = controls.choice(
            "distance",
            DISTANCES,
            "Distance",
            subject="The distances are",
            help="Between a query and a key. Cosine distance is measured in full space: the plane"
            " of an atlas is drawn for Euclidean distance.",
        )
        space = "full"
        if distance == "euclidean":
            space = controls.choice("space", SPACES, "Where", subject="Faithfulness is measured")
    return Choice(measure, cast("Metric", distance), space == "plane")


def _draw(screen: Screen, colours: Palette, choice: Choice) -> None:
    follow("trust")
    measure = choice.measure
    if choice.of_layouts(screen):
        if not show_progress(screen):
            st.rerun()
        values = np.full(screen.atlas.shape[:2], np.nan)
        for head, layout in finished_layouts(screen).items():
            values[head] = getattr(layout.faithfulness, measure)
    else:
        values = getattr(choice.figures(screen), measure)
    share = measure != "correlation"
    left, right = st.columns(2, gap="medium")
    with left:
        show_head_map(
            screen.atlas,
            values,
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
        st.dataframe(mean_table(screen.atlas, measure), key="atlas_trust_table")
        st.markdown(verdict(screen.atlas))
    st.caption(_caption(screen, choice))


def mean_table(atlas: Atlas, measure: str) -> pd.DataFrame:
    """Means over heads, a row per stage and a column per picture."""
    pictures = {
        "PCA plane": atlas.faithfulness,
        "full space": atlas.full["euclidean"],
        "full, cosine": atlas.full["cosine"],
    }
    rows: dict[str, list[float]] = {
        stage: [_mean(getattr(each[stage], measure)) for each in pictures.values()]
        for stage in STAGES
    }
    baseline = 0.0 if measure == "correlation" else _mean(getattr(atlas.measured, measure))
    return pd.DataFrame.from_dict(
        {**rows, "uniform baseline": [baseline] * len(pictures)},
        orient="index",
        columns=list(pictures),
    )


def verdict(atlas: Atlas) -> str:
    """Whether normalization helps the plane, and which distance keeps more (Markdown)."""
    raw, normalized = atlas.faithfulness["raw"], atlas.faithfulness["normalized"]
    defined = np.isfinite(raw.correlation) & np.isfinite(normalized.correlation)
    total = int(defined.sum())
    if not total:
        return "No head has a correlation on this corpus."
    by_r = int((normalized.correlation[defined] < raw.correlation[defined]).sum())
    by_key = int((normalized.top1[defined] > raw.top1[defined]).sum())
    cost = (
        " In most heads it brings the clouds together and **costs** faithfulness."
        if max(by_r, by_key) * 2 < total
        else ""
    )
    return (
        f"In the plane, normalization brings distance closer to attention in **{by_r} of"
        f" {total}** heads by correlation, and in **{by_key}** by nearest key.{cost} Nearest key:"
        f" {_percent(raw.top1)} of the queries raw, {_percent(normalized.top1)} normalized;"
        f" {_percent(atlas.measured.top1)} by the uniform baseline.\n\n{_better_distance(atlas)}"
    )


def _better_distance(atlas: Atlas) -> str:
    """Cosine and Euclidean distance side by side, after translation."""
    cosine, euclidean = (atlas.full[name]["translated"] for name in ("cosine", "euclidean"))
    r = _mean(cosine.correlation), _mean(euclidean.correlation)
    if not np.isfinite(r).all():
        return ""
    by_r, by_key = r[0] < r[1], _mean(cosine.top1) > _mean(euclidean.top1)
    names = ("cosine", "Euclidean") if by_r else ("Euclidean", "cosine")
    answer = (
        f"**{names[0]} distance keeps more**"
        if by_r == by_key
        else f"**{names[0]} distance keeps more by correlation, {names[1]} distance more by nearest"
        " key**"
    )
    return (
        f"After translation {answer}, in full space: r = {number(r[0])} with cosine,"
        f" {number(r[1])} with Euclidean distance; nearest key {_percent(cosine.top1)} and"
        f" {_percent(euclidean.top1)}."
    )


def _caption(screen: Screen, choice: Choice) -> str:
    """How to read the map, and what it was measured on."""
    picture = f"{screen.projection} in the plane" if choice.in_plane else "distances in full space"
    reading = (
        f"Correlation of {DISTANCES[choice.distance]} distance with the scores, both minus their"
        " row's mean, which softmax ignores; −1 would mean that near keys are the attended ones."
        if choice.measure == "correlation"
        else "How often the keys that a query attends to most are also its nearest among the keys"
        " of its sentence."
    )
    return (
        f"The map shows {picture} ({screen.stage}: {STAGES[screen.stage]}). {reading}"
        f" {_evidence(screen, choice)} Click a square for the head."
    )


def _evidence(screen: Screen, choice: Choice) -> str:
    """Pairs, sentences and sampling error of what the map shows."""
    atlas, measured = screen.atlas, screen.atlas.measured
    if choice.of_layouts(screen):
        return (
            f"{screen.projection} is measured on the {EVERY_HEAD_TOKENS} tokens it is laid out"
            " from; a cross marks a head that is not done yet. The table is of the components."
        )
    low, high = int(measured.pairs.min()), int(measured.pairs.max())
    pairs = f"{high:,}" if low == high else f"{low:,} to {high:,}"
    sample = (
        f"Plane and full space are measured on the same {pairs} permitted pairs per head, of"
        f" {measured.tokens:,} of {len(atlas.tokens):,} tokens in {measured.sentences:,} sentences;"
        " queries with a single permitted key are left out."
    )
    if choice.measure != "correlation":
        return sample
    figures = choice.figures(screen)
    half_widths = (figures.high - figures.low) / 2
    error = (
        f"; half the 95% interval of a head is {number(float(np.nanmedian(half_widths)))} (median;"
        " jackknife over sentences)"
        if np.isfinite(half_widths).any()
        else ""
    )
    return (
        f"{sample} All sentences are pooled: the mean over heads is"
        f" {number(_mean(figures.correlation))}; each sentence alone and then averaged,"
        f" {number(_mean(figures.per_sentence))}{error}."
    )


def _mean(values: Floats) -> float:
    finite = values[np.isfinite(values)]
    return round(float(finite.mean()), 3) if finite.size else float("nan")


def _percent(values: Floats) -> str:
    mean = _mean(values)
    return f"{mean:.0%}" if np.isfinite(mean) else "—"
