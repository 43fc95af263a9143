"""The row above the points: what is drawn and how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import streamlit as st

from core.analysis.query_key.clouds import STAGES
from core.screens.patch_space.colouring import COLOURINGS
from core.ui import controls
from core.ui.clouds.pickers import pick_measure, pick_space, pick_threshold, pinned_point
from core.ui.frame.layout import more

if TYPE_CHECKING:
    from core.analysis.projections.joint_embedding import Projection
    from core.analysis.query_key.clouds import Stage
    from core.model import Trace

PROJECTIONS: list[Projection] = ["PCA", "UMAP", "t-SNE"]
ALL_STAGES = "all three"


@dataclass(frozen=True)
class PointOptions:
    """What is drawn, and how.

    `shown` are the positions drawn. `threshold` is the attention from which lines are drawn; None
    draws each query's strongest. `point` is the pinned one, as in links.
    """

    shown: list[int]
    stages: tuple[Stage, ...]
    projection: Projection
    in_space: bool
    colouring: str
    threshold: float | None
    point: str
    own_scale: bool
    dots: bool


def pick_points(trace: Trace) -> PointOptions:
    """Colours in the row; behind the button stage, projection, lines and the measure."""
    colouring = controls.choice(
        "colour",
        COLOURINGS,
        "Colour by",
        subject="Colours can show",
        menu=True,
        width=165,
    )
    with more():
        options = _pick_look(trace, _pick_stages(), colouring)
        with st.container(horizontal=True, vertical_alignment="bottom"):
            pick_measure(drawn=True)
    return options


def _pick_stages() -> tuple[Stage, ...]:
    stage = controls.choice(
        "stage",
        [*STAGES, ALL_STAGES],
        "Stage",
        subject="The stages are",
        default="normalized",
        help="Keys moved so that both clouds have one middle (translated), then both scaled"
        " (normalized). No stage changes the attention.",
    )
    return STAGES if stage == ALL_STAGES else (cast("Stage", stage),)


def _pick_look(trace: Trace, stages: tuple[Stage, ...], colouring: str) -> PointOptions:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        projection = controls.choice(
            "projection",
            PROJECTIONS,
            "Projection",
            subject="The projections are",
            menu=True,
            width=120,
        )
        in_space = pick_space()
    threshold = pick_threshold()
    with st.container(horizontal=True):
        others = controls.flag(
            "others",
            "Show CLS and registers",
            optional=True,
            disabled=not any(token.special for token in trace.tokens),
            help="They are part of every projection and figure, drawn or not; most lie far out.",
        )
        dots = controls.flag(
            "dots",
            "Dots instead of patches",
            optional=True,
            help="A disc for each query and a diamond for each key, in its colour.",
        )
        own_scale = controls.flag(
            "scale",
            "Zoom each panel",
            optional=True,
            help="Each panel as large as its points, instead of one scale for all.",
        )
    count = len(trace.tokens)
    return PointOptions(
        [token.position for token in trace.tokens if others or not token.special],
        stages,
        projection,
        in_space,
        colouring,
        threshold,
        pinned_point(count, count),
        own_scale=own_scale,
        dots=dots,
    )
