"""What the pictures of an atlas keep of attention, head by head."""

from __future__ import annotations

import operator
from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.analysis.arrays import Floats
from core.analysis.projections.joint_embedding import Metric
from core.analysis.query_key.target import TargetKind
from core.atlas import Atlas
from core.atlas.data import Kept, ModelFaithfulness
from core.atlas.head_table import head_table, pictures_of
from core.atlas.layouts import EVERY_HEAD_TOKENS
from core.figures.palette import Palette
from core.screens.atlas.drawn import note_points
from core.screens.atlas.layouts import (
    LOOK_EVERY,
    ensure_job,
    finished_layouts,
    follow,
    show_progress,
)
from core.screens.atlas.screen import Screen, contents_of, open_head
from core.screens.atlas.wording import NOT_MEASURED, number
from core.ui import controls, python
from core.ui.downloads import offer_csv
from core.ui.head_maps import show_head_map
from core.ui.words.prose import Prose
from core.ui.words.scores import DISTANCES, SCORES, TARGETS, published
from core.vocabulary import STAGES, percent

_words = Prose(__file__)
MEASURES = {
    "correlation": "correlation",
    "top1": "nearest key",
    "top3": "three nearest keys",
}
_FULL = "distances in full space"
SPACES = {"plane": "in the plane", "full": "full space"}


@dataclass(frozen=True)
class Choice:
    """What the map shows: a measure, of a distance and scores, in the plane or in full space."""

    measure: str
    distance: Metric
    in_plane: bool
    target: TargetKind

    def of_layouts(self, screen: Screen) -> bool:
        """Whether it is of UMAP or t-SNE."""
        return self.in_plane and screen.projection != "PCA"

    def figures(self, screen: Screen) -> ModelFaithfulness:
        """The atlas's own figures, for the components or full space."""
        kept = screen.atlas.kept(self.target)
        by_stage = kept.plane if self.in_plane else kept.full[self.distance]
        return by_stage[screen.stage]

    def written(self, screen: Screen) -> python.Call:
        """The same measure of all heads, as Python reads it from the atlas."""
        kept = python.call(screen.atlas.kept, self.target)
        by_stage = python.call(getattr, kept, "plane" if self.in_plane else "full")
        if not self.in_plane:
            by_stage = python.call(operator.getitem, by_stage, self.distance)
        figures = python.call(operator.getitem, by_stage, screen.stage)
        return python.call(getattr, figures, self.measure)


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
        target = controls.choice(
            "target",
            TARGETS,
            "Scores",
            subject="The scores are",
            default="centred",
            help="What distance is correlated with: the scores less the mean of their row, which"
            " softmax ignores; or the unchanged ones, as in published figures.",
        )
        space = "full"
        if distance == "euclidean":
            space = controls.choice("space", SPACES, "Where", subject="Faithfulness is measured")
    return Choice(measure, distance, space == "plane", target)


def _draw(screen: Screen, colours: Palette, choice: Choice) -> None:
    follow("trust")
    measure = choice.measure
    if choice.of_layouts(screen):
        if not show_progress(screen):
            st.rerun()
        values = np.full(screen.atlas.shape[:2], np.nan)
        note_points(screen)
        for head, layout in finished_layouts(screen).items():
            figures = layout.faithfulness if choice.target == "centred" else layout.raw_scores
            values[head] = getattr(figures, measure)
    else:
        values = getattr(choice.figures(screen), measure)
        python.made("values", values, choice.written(screen))
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
        st.dataframe(mean_table(screen.atlas, measure, choice.target), key="atlas_trust_table")
        st.markdown(verdict(screen.atlas, choice.target))
        _offer_figures(screen, choice)
    st.caption(_caption(screen, choice))


def _offer_figures(screen: Screen, choice: Choice) -> None:
    """Every head's figures of the chosen measure and scores as CSV."""
    table = python.shown("table", head_table, screen.atlas, choice.measure, choice.target)
    held = contents_of(screen, f"{choice.measure}-{choice.target}")
    offer_csv(lambda: table, held, index=False, float_format="%.6g", key="atlas_trust_csv")


def mean_table(atlas: Atlas, measure: str, target: TargetKind = "centred") -> pd.DataFrame:
    """Means over heads, a row per stage and a column per picture."""
    pictures = pictures_of(atlas, target)
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


def verdict(atlas: Atlas, target: TargetKind = "centred") -> str:
    """Whether normalization helps the plane, and which distance keeps more (Markdown)."""
    kept = atlas.kept(target)
    raw, normalized = kept.plane["raw"], kept.plane["normalized"]
    defined = np.isfinite(raw.correlation) & np.isfinite(normalized.correlation)
    total = int(defined.sum())
    if not total:
        return _words("no_correlation")
    by_r = int((normalized.correlation[defined] < raw.correlation[defined]).sum())
    by_key = int((normalized.top1[defined] > raw.top1[defined]).sum())
    plane = _words(
        "normalization",
        by_r=by_r,
        by_key=by_key,
        heads=total,
        raw=percent(_mean(raw.top1)),
        normalized=percent(_mean(normalized.top1)),
        uniform=percent(_mean(atlas.measured.top1)),
    )
    return f"{plane}\n\n{_better_distance(kept)}"


def _better_distance(kept: Kept) -> str:
    """Cosine and Euclidean distance side by side, after translation."""
    cosine, euclidean = (kept.full[name]["translated"] for name in ("cosine", "euclidean"))
    r = _mean(cosine.correlation), _mean(euclidean.correlation)
    if not np.isfinite(r).all():
        return ""
    by_r = r[0] < r[1]
    return _words(
        "distances",
        names=("cosine", "Euclidean") if by_r else ("Euclidean", "cosine"),
        agree=by_r == (_mean(cosine.top1) > _mean(euclidean.top1)),
        r=list(map(number, r)),
        top1=(percent(_mean(cosine.top1)), percent(_mean(euclidean.top1))),
    )


def _caption(screen: Screen, choice: Choice) -> str:
    """How to read the map, and what it was measured on."""
    return _words(
        "faithfulness_caption",
        picture=f"{screen.projection} in the plane" if choice.in_plane else _FULL,
        stage=screen.stage,
        reading=_reading(choice),
        evidence=_evidence(screen, choice),
    )


def _reading(choice: Choice) -> str:
    """What the measure is, and what was published of it."""
    distance, scores = DISTANCES[choice.distance], SCORES[choice.target]
    if choice.measure != "correlation":
        return _words("nearest_keys")
    if choice.target == "centred":
        return _words("centred_correlation", distance=distance, scores=scores)
    compared = published() if choice.distance == "cosine" else ""
    return _words("raw_correlation", distance=distance, scores=scores, published=compared)


def _evidence(screen: Screen, choice: Choice) -> str:
    """Pairs, sentences and sampling error of what the map shows."""
    atlas, measured = screen.atlas, screen.atlas.measured
    if choice.of_layouts(screen):
        return _words("of_layouts", projection=screen.projection, tokens=EVERY_HEAD_TOKENS)
    low, high = int(measured.pairs.min()), int(measured.pairs.max())
    sample = _words(
        "of_pairs",
        pairs=f"{high:,}" if low == high else f"{low:,} to {high:,}",
        measured=measured.tokens,
        tokens=len(atlas.tokens),
        sentences=measured.sentences,
    )
    if choice.measure != "correlation":
        return sample
    figures = choice.figures(screen)
    half_widths = (figures.high - figures.low) / 2
    measurable = np.isfinite(half_widths).any()
    pooled = _words(
        "pooled",
        pooled=number(_mean(figures.correlation)),
        alone=number(_mean(figures.per_sentence)),
        error=number(float(np.nanmedian(half_widths))) if measurable else "",
    )
    return f"{sample} {pooled}"


def _mean(values: Floats) -> float:
    finite = values[np.isfinite(values)]
    return round(float(finite.mean()), 3) if finite.size else float("nan")
