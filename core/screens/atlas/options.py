"""Switches of the atlas's pictures: the size of points, their labels, lines of attention."""

from __future__ import annotations

import streamlit as st

from core.ui import controls

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


def switches(*keys: str, drawn: bool = False) -> None:
    """Switches, which links carry where they are not as usual; `drawn` one after the other."""
    for key in keys:
        controls.flag(
            key,
            _NAMES[key] if drawn else "",
            default=_DEFAULTS[key],
            optional=True,
            help=_HELP[key],
        )


def dimensions(*, drawn: bool = False) -> int:
    """Whether pictures are flat or in space: 2 or 3."""
    if st.session_state.get("dims") in {"2-D", "3-D"}:  # as the page of queries and keys has them
        st.session_state["dims"] = st.session_state["dims"].removesuffix("-D")
    picked = controls.choice(
        "dims",
        {"2": "2-D", "3": "3-D"},
        "Dimensions" if drawn else "",
        subject="The picture has 2 or 3 dimensions",
        label_visibility="collapsed",
    )
    return int(picked)
