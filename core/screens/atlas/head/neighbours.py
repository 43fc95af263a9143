"""Buttons to the heads beside, above and below, as the matrix has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.ui.selectors import step_through_heads

if TYPE_CHECKING:
    from core.analysis.atlas import Atlas


def step_through_matrix(atlas: Atlas) -> None:
    """◀ and ▶ go from head to head, ▲ and ▼ to the same head of the layer above or below."""
    layers = atlas.shape[0]
    layer = int(st.session_state["layer"])

    def step(by: int) -> None:
        now = int(st.session_state["layer"])
        st.session_state["layer"] = str(min(layers, max(1, now + by)))

    with st.container(horizontal=True, gap="small", width="content"):
        step_through_heads(atlas)
        st.button(
            "▲",
            key="layer_before",
            help="The head above in the matrix: the layer before, the same head",
            on_click=step,
            args=(-1,),
            disabled=layer == 1,
        )
        st.button(
            "▼",
            key="layer_after",
            help="The head below in the matrix: the next layer, the same head",
            on_click=step,
            args=(1,),
            disabled=layer == layers,
        )
