"""The strip of a lesson: what a step says and asks, guesses, and the way to other steps."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from core.components.reported_state import as_index, reported
from core.components.scripts import register_component

_lesson = register_component("lesson")


def show_lesson(data: Mapping[str, object], *, key: str, on_step: Callable[[int], None]) -> None:
    """Draw the strip from what :func:`core.ui.lessons.saying.strip` says.

    Guesses are judged and kept by the browser. `on_step` is called with the number of the step to
    open, from 1, or with 0 to leave.
    """

    def take() -> None:
        report = reported(key, "view")
        number = as_index(report.get("step"))
        if number is not None and report.get("lesson") == data["lesson"]:
            on_step(number)

    # As bytes: for any other nested data, Streamlit imports pandas to see if it is a table.
    _lesson(key=key, data=json.dumps(data).encode(), on_view_change=take)
