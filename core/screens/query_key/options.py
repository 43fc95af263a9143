"""The row above the parts of the query-key page: what people use, and the rest behind a button."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.images.points import COLOURINGS, OF_PATCHES
from core.analysis.projections.joint_embedding import Projection
from core.screens.query_key.choice import (
    ALL_HEADS,
    ALL_STAGES,
    ALL_THREE,
    BEST_STAGE,
    BOTH,
    ONE_HEAD,
    PictureOptions,
    has_looks,
)
from core.screens.query_key.controls import pick_measure, pick_space, pick_threshold, pinned_point
from core.screens.query_key.wording import DASHED, QUANTITIES, RED_RULE
from core.ui import controls
from core.ui.frame.layout import more
from core.ui.words.inputs import hide_special
from core.ui.words.prose import Prose
from core.vocabulary import HEAD_STAGES, STAGE_NAMES, STAGES, HeadStage, labels_of

if TYPE_CHECKING:
    from core.model import Trace

PROJECTIONS: list[Projection] = ["PCA", "biplot", "UMAP", "t-SNE"]
_words = Prose(__file__)


def pick_map() -> str:
    """What the map of heads shows; the pairs beside it are of the same stage."""
    quantity = controls.choice(
        "quantity",
        list(QUANTITIES),
        "Map of",
        subject="The quantities are",
        default="normalized",
        menu=True,
        width=150,
        help=_words("quantities"),
    )
    with more():
        pick_measure(drawn=True)
    return quantity


def picture_options(trace: Trace) -> PictureOptions:
    """Which heads, and the stage; behind the button how they are drawn, and the measure.

    The colours of patches are what people use: they stand in the row.
    """
    span, colouring = _pick_span(trace), ""
    stage = _pick_stages(trace, span)
    if has_looks(trace):
        colouring = _pick_colouring(OF_PATCHES | COLOURINGS)
    with more():
        projection = controls.choice(
            "projection",
            PROJECTIONS,
            "Projection",
            subject="The projections are",
            menu=True,
            width=120,
        )
        return _pick_look(trace, span, stage, projection, colouring)


def _pick_look(
    trace: Trace, span: str, stage: str, projection: Projection, colouring: str
) -> PictureOptions:
    labels, key_labels = labels_of(trace.tokens), labels_of(trace.key_tokens)
    pictured = span == ONE_HEAD and has_looks(trace)
    point = pinned_point(len(labels), len(key_labels))
    threshold = pick_threshold()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        _pick_ends("from", "Red lines from", labels)
        _pick_ends("to", "to", key_labels)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        colouring = colouring or _pick_colouring(COLOURINGS)
        in_space = span == ONE_HEAD and pick_space()
    with st.container(horizontal=True):
        hide = _pick_hidden(trace)
        own_scale = controls.flag(
            "scale",
            "Zoom each panel",
            default=span == ONE_HEAD,
            help="Each panel as large as its points, instead of one scale for all.",
        )
        sized = controls.flag(
            "sizes",
            "Size by norm",
            optional=True,
            help="The longer a query or key at this stage, the larger its point.",
        )
        labelled = controls.flag("labels", "Labels", default=True, optional=True)
        dots = not pictured or controls.flag(
            "dots",
            "Dots instead of patches",
            optional=True,
            help="A disc for each query and a diamond for each key, in its colour.",
        )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        pick_measure(drawn=True)
    return PictureOptions(
        [token.position for token in trace.tokens if not (hide and token.special)],
        [token.position for token in trace.key_tokens if not (hide and token.special)],
        span,
        stage,
        projection,
        in_space,
        colouring,
        threshold,
        point,
        own_scale=own_scale,
        sized=sized,
        labelled=labelled,
        dots=dots,
        pictured=pictured,
    )


def _pick_colouring(colourings: dict[str, str]) -> str:
    return controls.choice(
        "colour",
        colourings,
        "Colour by",
        subject="Colours can show",
        default="type",
        menu=True,
        width=150,
    )


def _pick_hidden(trace: Trace) -> bool:
    """Whether special tokens are hidden: at first only those of an image."""
    if not has_looks(trace):
        return controls.flag("hide", hide_special(trace))
    return not controls.flag(
        "others",
        "Show CLS and registers",
        optional=True,
        disabled=not any(token.special for token in trace.tokens),
        help=_words("far_out"),
    )


def _pick_span(trace: Trace) -> str:
    """Which heads; the search finds nothing in cross attention."""
    return controls.choice(
        "span",
        [ONE_HEAD, ALL_HEADS, *([BOTH] if trace.source is None else [])],
        "Show",
        subject="The spans are",
        menu=True,
        width=112,
        help=_words("spans"),
    )


def _pick_stages(trace: Trace, span: str) -> str:
    """At which stages heads are shown: at first at the one where they are most faithful."""
    if span != ONE_HEAD:
        return BOTH if span == BOTH else _pick_stage(trace)
    searched = trace.source is None  # cross attention has none of the search
    return controls.choice(
        "stage",
        [BEST_STAGE, *(HEAD_STAGES if searched else STAGES), ALL_THREE, *[ALL_STAGES][:searched]],
        "Stage",
        subject="The stages are",
        names=_stage_name,
        help=_words("which_stage", best=True),
        menu=True,
        width=118,
    )


def _pick_stage(trace: Trace) -> HeadStage:
    """A box with the stages: cross attention has none of the search."""
    return controls.choice(
        "stage",
        HEAD_STAGES if trace.source is None else STAGES,
        "Stage",
        subject="The stages are",
        default="normalized",
        names=_stage_name,
        help=_words("which_stage", best=False),
        menu=True,
        width=118,
    )


def _stage_name(stage: str) -> str:
    """A stage as people read it; the names of several are what links carry too."""
    return STAGE_NAMES.get(stage, stage)


def _pick_ends(key: str, label: str, labels: Sequence[str]) -> None:
    """A box for the tokens that red lines may come from, or lead to."""
    names = dict(enumerate(labels, 1))
    controls.tokens(
        key,
        list(names),
        label,
        names=names.__getitem__,
        placeholder="no token",
        width=172,
        help=f"{RED_RULE}. {DASHED}",
    )
