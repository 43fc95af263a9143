"""Two buttons, to what comes before and after, that count every press."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from core.components.reported_state import MOST, as_index, as_mapping, reported
from core.components.scripts import register

_stepper = register("stepper")
_COUNTED = "_steps_counted"


def show_stepper(
    before: str, after: str, *, key: str, arrows: str = "◀▶", on_step: Callable[[int], None]
) -> None:
    """Draw the buttons, named `before` and `after` for people who cannot see the arrows.

    Streamlit's own buttons lose presses that come while the page runs. These send how far they have
    been pressed in all, so that none is lost; `on_step` gets the steps since the last run, negative
    to what comes before.
    """

    def count() -> None:
        sent = as_mapping(reported(key, "steps"))
        visit, total = sent.get("visit"), as_index(sent.get("total"), first=-MOST) or 0
        last_visit, last_total = st.session_state.get((_COUNTED + key), (None, 0))
        st.session_state[_COUNTED + key] = (visit, total)
        if steps := total - (last_total if visit == last_visit else 0):
            on_step(steps)

    _stepper(
        key=key,
        data={"before": before, "after": after, "arrows": arrows},
        width="content",
        on_steps_change=count,
    )
