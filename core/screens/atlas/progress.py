"""How far the background is with UMAP or t-SNE of all heads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from core.screens.atlas.layouts import ensure_job, forget_failed
from core.ui.messages import escape

if TYPE_CHECKING:
    from collections.abc import Callable

    from core.screens.atlas.screen import Screen
    from core.screens.atlas.shelf import LayoutJob

LOOK_EVERY = 2.5  # seconds between two looks at what is being laid out
_WAITING = "_atlas_waiting"


def ensure_layouts(screen: Screen) -> LayoutJob:
    """The background's job for what is on the screen, started if need be."""
    at = screen.layer, screen.head
    return ensure_job(screen.shelf, screen.atlas, screen.projection, screen.stage, at)


def tell_progress(screen: Screen) -> bool:
    """Where it is; False once, when it has just come to its end or to an error."""
    job = ensure_layouts(screen)
    slot = st.container()  # always there: what moves up when it goes would be drawn anew
    if job.error:
        with slot:
            tell_failed(job.error, lambda: forget_failed(screen.shelf, job.projection, job.stage))
    elif job.running:
        slot.progress(
            job.done / job.total,
            text=f"{job.projection}: {job.done} of {job.total} heads; the others follow in the"
            " background while this page is open",
        )
        st.session_state[_WAITING] = True
        return True
    return not st.session_state.pop(_WAITING, False)


def tell_failed(error: str, on_retry: Callable[[], None] | None = None) -> None:
    """Why a projection failed, and the button that tries again."""
    st.warning(escape(error))
    st.button("Try again", key="projection_again", on_click=on_retry)


def follow(part: str) -> None:
    """Run the whole page where a click in a fragment has left `part`, as opening a head does."""
    if st.session_state["part"] != part:
        st.rerun()
