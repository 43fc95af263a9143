"""The controls of the query-key page's picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.query_key.clouds import HEAD_STAGES
from core.screens.query_key.wording import STAGE_NAMES
from core.ui import controls

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.analysis.query_key.clouds import HeadStage
    from core.model import Trace

ONE_HEAD, ALL_HEADS, BOTH = "one head", "all heads", "side by side"
SPANS = [ONE_HEAD, ALL_HEADS, BOTH]
PROJECTIONS = ["PCA", "biplot", "UMAP", "t-SNE"]
COLOURINGS = ["type", "position", "position mod 5", "norm"]


def pick_stage() -> HeadStage:
    """A box with the four stages."""
    return controls.choice(
        "stage",
        HEAD_STAGES,
        "Stage",
        subject="The stages are",
        default="normalized",
        names=STAGE_NAMES.__getitem__,
        menu=True,
        width=190,
    )


def draw_controls(trace: Trace, labels: Sequence[str]) -> None:
    """Two rows: what is drawn and how, then which tokens."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        span = controls.choice(
            "span",
            SPANS,
            "Show",
            subject="The spans are",
            help="One head at every stage; all heads of the layer at one stage; or all heads as"
            " they are beside the same with the a and c of the search.",
        )
        if span == ALL_HEADS:
            pick_stage()
        controls.choice(
            "projection",
            PROJECTIONS,
            "Projection",
            subject="The projections are",
            menu=True,
            width=130,
        )
        if span == ONE_HEAD:
            if st.session_state.get("dims") in {"2", "3"}:  # as the atlas has them
                st.session_state["dims"] += "-D"
            controls.choice("dims", ["2-D", "3-D"], "Space", subject="The pictures are")
        controls.choice(
            "colour", COLOURINGS, "Colour by", subject="Colours can show", menu=True, width=160
        )
        join = controls.choice("join", ["strongest", "all above"], "Lines", subject="The lines are")
        if join == "all above":
            controls.number(
                "above", 0.01, 1.0, 0.2, "Attention at least", slider=True, width=150, step=0.01
            )
    _pick_tokens(trace, labels)


def _pick_tokens(trace: Trace, labels: Sequence[str]) -> None:
    positions = [token.position + 1 for token in trace.tokens]
    points = [f"{kind}{position}" for kind in "qk" for position in positions]
    controls.choice("point", ["", *points], subject="Points are", optional=True)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for key, label in (("from", "Red lines from"), ("to", "to")):
            controls.tokens(
                key,
                positions,
                label,
                names=lambda position: labels[position - 1],
                placeholder="no token",
                width=172,
            )
        controls.flag("hide", "Hide special tokens")
        controls.flag(
            "scale",
            "Own scales",
            help="Each panel as large as its points, instead of one scale for all.",
        )
        controls.flag(
            "sizes",
            "Size by norm",
            optional=True,
            help="The longer a query or key, at the stage shown, the larger its point.",
        )
        controls.flag("labels", "Labels", default=True, optional=True)
