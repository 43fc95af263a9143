"""The row above the parts of the query-key page: what people use, and the rest behind a button."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.attention_table import labels_of
from core.analysis.query_key.clouds import HEAD_STAGES, STAGES
from core.screens.query_key.controls import ALL_HEADS, BOTH, ONE_HEAD
from core.screens.query_key.wording import QUANTITIES
from core.ui import controls
from core.ui.clouds.choice import STAGE_NAMES
from core.ui.clouds.pickers import pick_measure, pick_space, pick_threshold, pinned_point
from core.ui.frame.layout import more
from core.ui.words.inputs import hide_special

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.analysis.projections.joint_embedding import Projection
    from core.analysis.query_key.clouds import HeadStage
    from core.model import Trace

PROJECTIONS: list[Projection] = ["PCA", "biplot", "UMAP", "t-SNE"]
COLOURINGS = ["type", "position", "position mod 5", "norm"]


@dataclass(frozen=True)
class PictureOptions:
    """What the picture shows and how.

    `shown` and `shown_keys` are the positions drawn. `stages` is empty for one head, which has all.
    `threshold` is the attention from which lines are drawn; None draws each query's strongest.
    `point` is the pinned one, as in links.
    """

    labels: Sequence[str]
    key_labels: Sequence[str]
    shown: list[int]
    shown_keys: list[int]
    span: str
    stages: tuple[HeadStage, ...]
    projection: Projection
    in_space: bool
    colouring: str
    threshold: float | None
    point: str
    own_scale: bool
    sized: bool
    labelled: bool


def pick_map(trace: Trace) -> tuple[str, HeadStage]:
    """What the map of heads shows and, behind the button, the stage of the pairs."""
    quantity = controls.choice(
        "quantity",
        list(QUANTITIES),
        "Map of",
        subject="The quantities are",
        default="normalized",
        menu=True,
        width=150,
        help="Correlation of distance with the scores: raw, after translation, after scaling; how"
        " often the nearest key is the most attended one; or the chosen c.",
    )
    with more():
        stage = _pick_stage(trace)
        pick_measure(drawn=True)
    return quantity, stage


def picture_options(trace: Trace) -> PictureOptions:
    """Which heads; behind the button how they are drawn, what is red, and the measure."""
    span = _pick_span(trace)
    with more():
        with st.container(horizontal=True, vertical_alignment="bottom"):
            projection = controls.choice(
                "projection",
                PROJECTIONS,
                "Projection",
                subject="The projections are",
                menu=True,
                width=120,
            )
            stages = _stages_of(span, trace)
        return _look(trace, span, stages, projection)


def _look(
    trace: Trace, span: str, stages: tuple[HeadStage, ...], projection: Projection
) -> PictureOptions:
    labels, key_labels = labels_of(trace.tokens), labels_of(trace.key_tokens)
    point = pinned_point(len(labels), len(key_labels))
    threshold = pick_threshold()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        _pick_red("from", "Red lines from", labels)
        _pick_red("to", "to", key_labels)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        colouring = controls.choice(
            "colour", COLOURINGS, "Colour by", subject="Colours can show", menu=True, width=150
        )
        in_space = span == ONE_HEAD and pick_space()
    with st.container(horizontal=True):
        hide = controls.flag("hide", hide_special(trace))
        own_scale = controls.flag(
            "scale",
            "Zoom each panel",
            help="Each panel as large as its points, instead of one scale for all.",
        )
        sized = controls.flag(
            "sizes",
            "Size by norm",
            optional=True,
            help="The longer a query or key at this stage, the larger its point.",
        )
        labelled = controls.flag("labels", "Labels", default=True, optional=True)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        pick_measure(drawn=True)
    return PictureOptions(
        labels,
        key_labels,
        [token.position for token in trace.tokens if not (hide and token.special)],
        [token.position for token in trace.key_tokens if not (hide and token.special)],
        span,
        stages,
        projection,
        in_space,
        colouring,
        threshold,
        point,
        own_scale=own_scale,
        sized=sized,
        labelled=labelled,
    )


def _pick_span(trace: Trace) -> str:
    """Which heads; the search finds nothing in cross attention."""
    return controls.choice(
        "span",
        [ONE_HEAD, ALL_HEADS, *([BOTH] if trace.source is None else [])],
        "Show",
        subject="The spans are",
        menu=True,
        width=128,
        help="One head at every stage; all heads of the layer at one stage; or all heads raw"
        " beside the same heads with the a and c of the search.",
    )


def _stages_of(span: str, trace: Trace) -> tuple[HeadStage, ...]:
    """At which stages heads are shown; empty for one head, which is shown at all of them."""
    if span == ALL_HEADS:
        return (_pick_stage(trace),)
    return ("raw", "searched") if span == BOTH else ()


def _pick_stage(trace: Trace) -> HeadStage:
    """A box with the stages: cross attention has none of the search."""
    return controls.choice(
        "stage",
        HEAD_STAGES if trace.source is None else STAGES,
        "Stage",
        subject="The stages are",
        default="normalized",
        names=STAGE_NAMES.__getitem__,
        menu=True,
        width=190,
    )


def _pick_red(key: str, label: str, labels: Sequence[str]) -> None:
    """A box for the tokens that red lines come from, or lead to."""
    names = dict(enumerate(labels, 1))
    controls.tokens(
        key, list(names), label, names=names.__getitem__, placeholder="no token", width=172
    )
