"""The controls of the query-key page's picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.query_key.clouds import HEAD_STAGES
from core.screens.query_key.wording import STAGE_NAMES
from core.ui import address

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.model import Trace

ONE_HEAD, ALL_HEADS, BOTH = "one head", "all heads", "side by side"
SPANS = [ONE_HEAD, ALL_HEADS, BOTH]
PROJECTIONS = ["PCA", "biplot", "UMAP", "t-SNE"]
COLOURINGS = ["type", "position", "position mod 5", "norm"]
_KEYS = (
    "span",
    "stage",
    "projection",
    "dims",
    "colour",
    "join",
    "above",
    "from",
    "to",
    "point",
    "hide",
    "scale",
    "sizes",
    "labels",
)
_USUAL = {"point": "", "sizes": False, "labels": True}  # which no link has to carry


def restore_picture() -> None:
    """Every control of the picture, from the link or as it was."""
    address.restore_choice("span", SPANS, ONE_HEAD, "The spans are")
    restore_stage()
    address.restore_choice("projection", PROJECTIONS, "PCA", "The projections are")
    if st.session_state.get("dims") in {"2", "3"}:  # as the atlas has them
        st.session_state["dims"] += "-D"
    address.restore_choice("dims", ["2-D", "3-D"], "2-D", "The pictures are")
    address.restore_choice("colour", COLOURINGS, "type", "Colours can show")
    address.restore_choice("join", ["strongest", "all above"], "strongest", "The lines are")
    address.restore_number("above", 0.01, 1.0, 0.2)
    address.restore_flag("hide")
    address.restore_flag("scale")
    address.restore_flag("sizes")
    address.restore_flag("labels", default=True)


def restore_stage() -> None:
    """The stage of the parts that show one."""
    address.restore_choice("stage", list(HEAD_STAGES), "normalized", "The stages are")


def shown_keys() -> list[str]:
    """The controls that a link to this picture must name."""
    state = st.session_state
    left_out = set() if state["span"] == ALL_HEADS else {"stage"}
    left_out |= {"above"} if state["join"] == "strongest" else set()
    left_out |= {key for key, value in _USUAL.items() if state[key] == value}
    return [key for key in _KEYS if key not in left_out]


def pick_stage() -> None:
    """A box with the four stages."""
    with st.container(width=190):
        st.selectbox(
            "Stage",
            list(HEAD_STAGES),
            key="stage",
            format_func=STAGE_NAMES.__getitem__,
            persist_state="session",
        )


def draw_controls(trace: Trace, labels: Sequence[str]) -> None:
    """Two rows: what is drawn and how, then which tokens."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.segmented_control(
            "Show",
            SPANS,
            key="span",
            required=True,
            persist_state="session",
            help="One head at every stage; all heads of the layer at one stage; or all heads as"
            " they are beside the same with the a and c of the search.",
        )
        if st.session_state["span"] == ALL_HEADS:
            pick_stage()
        with st.container(width=130):
            st.selectbox("Projection", PROJECTIONS, key="projection", persist_state="session")
        if st.session_state["span"] == ONE_HEAD:
            st.segmented_control(
                "Space", ["2-D", "3-D"], key="dims", required=True, persist_state="session"
            )
        with st.container(width=160):
            st.selectbox("Colour by", COLOURINGS, key="colour", persist_state="session")
        st.segmented_control(
            "Lines", ["strongest", "all above"], key="join", required=True, persist_state="session"
        )
        if st.session_state["join"] == "all above":
            with st.container(width=150):
                st.slider(
                    "Attention at least", 0.01, 1.0, key="above", step=0.01, persist_state="session"
                )
    _pick_tokens(trace, labels)


def _pick_tokens(trace: Trace, labels: Sequence[str]) -> None:
    positions = [token.position + 1 for token in trace.tokens]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for key, label in (("from", "Red lines from"), ("to", "to")):
            st.multiselect(
                label,
                positions,
                key=key,
                format_func=lambda position: labels[position - 1],
                placeholder="no token",
                width=172,
                persist_state="session",
            )
        st.toggle("Hide special tokens", key="hide", persist_state="session")
        st.toggle(
            "Own scales",
            key="scale",
            persist_state="session",
            help="Each panel as large as its points, instead of one scale for all.",
        )
        st.toggle(
            "Size by norm",
            key="sizes",
            persist_state="session",
            help="The longer a query or key, at the stage shown, the larger its point.",
        )
        st.toggle("Labels", key="labels", persist_state="session")
