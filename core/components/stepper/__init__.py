"""The layer and the head of a page: arrows beside a menu, and keys."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from core.components.reported_state import changes, reported, state_to_send
from core.components.scripts import register_component

_stepper = register_component("stepper")
Options = Mapping[str, Mapping[str, str]]  # "layer", "head" -> value -> what people read


def show_stepper(
    options: Options,
    view: Mapping[str, str],
    *,
    key: str,
    on_pick: Callable[[dict[str, str]], None],
) -> None:
    """Draw a stepper for each of the `options`, at what `view` says.

    `on_pick` is called with the picked values by name, only ones that were offered. The browser
    shows a pick at once, so that presses while the page runs are not lost.
    """

    def take() -> None:
        report = reported(key, "view")
        values = {name: str(report.get(name)) for name in options}
        picked = {name: value for name, value in values.items() if value in options[name]}
        on_pick(changes(key, picked))

    sent, serial = state_to_send(key, view)
    choices = {name: list(each.items()) for name, each in options.items()}
    _stepper(
        key=key,
        # As bytes: for any other nested data, Streamlit imports pandas to see if it is a table.
        data=json.dumps({"choices": choices, "view": sent, "serial": serial}).encode(),
        width="content",
        on_view_change=take,
    )
