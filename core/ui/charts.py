"""Charts: each can be saved as a picture with a name that says what it shows."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.components.present import present_zoom
from core.ui.current import shown_model
from core.ui.downloads import contents

_CAMERA = "toImage"  # the only button of charts that are read and not moved


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
    it shows to those who do not see it. With `quiet` there is no button but that. While the page is
    presented, all in it is as much larger as everything else.
    """
    config: dict[str, Any] = {
        "displaylogo": False,
        "toImageButtonOptions": {
            "format": "svg",
            "filename": contents(key.replace("_", "-"), model or shown_model(), part).stem,
        },
    }
    if quiet:
        config["modeBarButtons"] = [[_CAMERA]]
    zoom = present_zoom()
    if zoom > 1:
        from core.figures.enlarged import enlarged  # with plotly, where a chart is drawn

        figure = enlarged(figure, zoom)
    st.plotly_chart(figure, key=key, alt=alt, config=config, **more)
