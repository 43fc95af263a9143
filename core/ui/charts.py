"""Charts: each can be saved as a picture with a name that says what it shows."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.ui import controls
from core.ui.address import to_text
from core.ui.current import shown_model
from core.ui.downloads import file_stem, head_part

_CAMERA = [["toImage"]]  # the only button of charts that are read and not moved


def show_chart(
    figure: Any,  # noqa: ANN401 - of core.figures, which alone knows plotly
    *,
    key: str,
    alt: str,
    model: str | None = None,
    part: str | None = None,
    quiet: bool = False,
    **more: Any,  # noqa: ANN401 - of st.plotly_chart: on_select, selection_mode, width
) -> None:
    """A chart whose camera button, seen under the pointer, saves an SVG.

    Its `key` begins with the page's name and names the file, with the model, which is that on
    screen unless given, and the `part` of it, which is the chosen layer and head. `alt` says what
    it shows to those who do not see it. With `quiet` there is no button but that.
    """
    config: dict[str, Any] = {
        "displaylogo": False,
        "toImageButtonOptions": {
            "format": "svg",
            "filename": _stem(key, model or shown_model(), part),
        },
    }
    if quiet:
        config["modeBarButtons"] = _CAMERA
    st.plotly_chart(figure, key=key, alt=alt, config=config, **more)


def _stem(key: str, model: str, part: str | None) -> str:
    declared = controls.declared()
    layer, head = (
        (to_text(st.session_state.get(name)) or "") if name in declared else ""
        for name in ("layer", "head")
    )
    return file_stem(key.replace("_", "-"), model, head_part(layer, head) if part is None else part)
