"""Controls of the pages that draw queries and keys as points."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import streamlit as st

from core.ui import controls
from core.ui.clouds.wording import CRITERIA, DISTANCES, TARGETS
from core.ui.frame.layout import more

if TYPE_CHECKING:
    from core.analysis.projections.joint_embedding import Metric
    from core.analysis.query_key.scaling import Criterion
    from core.analysis.query_key.target import TargetKind


class Measure(NamedTuple):
    """What distance is between a query and a key, what it is compared with, and how c is picked."""

    distance: Metric
    target: TargetKind
    criterion: Criterion


def pick_measure(*, drawn: bool = False) -> Measure:
    """Distance, scores and the scale c; the widgets only where they are `drawn`."""
    distance = controls.choice(
        "distance",
        DISTANCES,
        "Distance" if drawn else "",
        subject="The distances are",
        help="Between a query and a key. The dot product does not change with it.",
    )
    target = controls.choice(
        "target",
        TARGETS,
        "Scores" if drawn else "",
        subject="The scores are",
        default="centred",
        help="What distance is compared with, at every stage: the model's scores less the mean of"
        " their row, which softmax ignores and distances lose too; or the unchanged scores.",
    )
    criterion = controls.choice(
        "criterion",
        CRITERIA,
        "Pick the scale c by" if drawn else "",
        subject="The criteria are",
        menu=True,
        width=205,
        help="c multiplies queries and divides keys, so that distance and scores correlate nearest"
        " to −1, or so that queries and keys have equal median norms.",
    )
    return Measure(distance, target, criterion)


def pick_slow() -> bool:
    """Behind the button: whether UMAP and t-SNE are measured too, and the measure."""
    with more():
        slow = controls.flag(
            "slow",
            "Add UMAP and t-SNE",
            help="Both are slow: UMAP takes about ten seconds to start.",
        )
        pick_measure(drawn=True)
    return slow


def pick_space() -> bool:
    """Whether the picture has three dimensions."""
    if st.session_state.get("dims") in {"2", "3"}:  # as on the atlas page
        st.session_state["dims"] += "-D"
    return controls.choice("dims", ["2-D", "3-D"], "Space", subject="The pictures are") == "3-D"


def pick_threshold() -> float | None:
    """The attention from which lines are drawn; None draws each query's strongest."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        join = controls.choice("join", ["strongest", "all above"], "Lines", subject="The lines are")
        if join == "strongest":
            return None
        return controls.number(
            "above", 0.01, 1.0, 0.2, "Attention at least", slider=True, width=150, step=0.01
        )


def pinned_point(queries: int, keys: int) -> str:
    """The pinned query or key as in links, "q3" or "k5"; empty where none is."""
    points = [f"{kind}{i + 1}" for kind, size in (("q", queries), ("k", keys)) for i in range(size)]
    return controls.choice("point", ["", *points], subject="Points are", optional=True)
