"""Switches of the atlas's pictures: the size of points, their labels, lines of attention."""

from __future__ import annotations

import streamlit as st

from core.ui import address

SIZES, LABELS, LINES = "sizes", "labels", "top2"
_DEFAULTS = {SIZES: False, LABELS: True, LINES: True}
_NAMES = {SIZES: "Size by norm", LABELS: "Labels", LINES: "Attention lines"}
_HELP = {
    SIZES: "The longer a token's query or key, the larger its point: the norm as the model has it,"
    " before keys are moved or scaled.",
    LABELS: "Tokens beside points. Pointing at a dot names it in any case.",
    LINES: "In the sentence of the token you clicked: from every query to the two keys it attends"
    " to most.",
}


def restore_switches(*keys: str) -> list[str]:
    """Set the switches from the link; those that are not as usual, which the link has to carry."""
    for key in keys:
        address.restore_flag(key, default=_DEFAULTS[key])
    return [key for key in keys if st.session_state[key] != _DEFAULTS[key]]


def draw_switches(*keys: str) -> None:
    """One after the other, in the row around them."""
    for key in keys:
        st.toggle(_NAMES[key], key=key, persist_state="session", help=_HELP[key])


def restore_dimensions() -> None:
    """Set from the link whether pictures are flat or in space."""
    if st.session_state.get("dims") in {"2-D", "3-D"}:  # as the page of queries and keys has them
        st.session_state["dims"] = st.session_state["dims"].removesuffix("-D")
    address.restore_choice("dims", ["2", "3"], "2", "The picture has 2 or 3 dimensions")


def pick_dimensions() -> int:
    """2 or 3."""
    st.segmented_control(
        "Dimensions",
        ["2", "3"],
        key="dims",
        format_func=lambda option: f"{option}-D",
        required=True,
        persist_state="session",
        label_visibility="collapsed",
    )
    return int(st.session_state["dims"])
