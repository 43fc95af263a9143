"""Pickers that several pages have: a part of the page, the next head, one token."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.ui import controls

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from core.model import Trace
    from core.ui.controls import HasHeads


def pick_part(
    parts: Mapping[str, str], *, key: str = "part", subject: str = "The parts are"
) -> str:
    """Which part of a page is shown, the first one first; `parts` are names in links and labels."""
    return controls.choice(key, parts, "Part", subject=subject, label_visibility="collapsed")


def step_through_heads(trace: HasHeads) -> None:
    """Buttons to the previous and the next head, from layer to layer; for pickers without means."""
    layers, heads = trace.shape[:2]

    def step(by: int) -> None:
        place = (int(st.session_state["layer"]) - 1) * heads + int(st.session_state["head"]) - 1
        layer, head = divmod((place + by) % (layers * heads), heads)
        st.session_state.update(layer=str(layer + 1), head=str(head + 1))

    with st.container(horizontal=True, gap="small", width="content"):
        st.button("◀", key="head_before", help="Previous head", on_click=step, args=(-1,))
        st.button("▶", key="head_after", help="Next head", on_click=step, args=(1,))


def pick_token(label: str, key: str, trace: Trace, labels: Sequence[str], default: int) -> int:
    """A picker for one token that is not special; returns its position.

    `labels` has one entry a position, each different; links carry the label, as people read it.
    """
    positions = {
        labels[token.position]: token.position for token in trace.tokens if not token.special
    }
    picked = controls.choice(
        key,
        list(positions),
        label,
        subject="The tokens of this text are",
        default=labels[default],
        menu=True,
        width=210,
    )
    return positions[picked]
