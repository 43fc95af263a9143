"""Charts that can be saved as a picture, under a file name that says what it shows."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.components.present import present_zoom
from core.ui.current import shown_model
from core.ui.downloads import contents

_CAMERA = "toImage"  # the only button on charts that are not zoomed or turned


def show_chart(
    figure: Any,  # noqa: ANN401 - of core.figures, which alone knows plotly
    *,
    key: str,
    alt: str,
    part: str | None = None,
    quiet: bool = False,
    **more: Any,  # noqa: ANN401 - of st.plotly_chart: on_select, selection_mode, width
) -> None:
    """A chart whose camera button, visible on hover, saves an SVG.

    The file is named by the `key`, which begins with the page's name, the model on screen and the
    `part` (by default the chosen layer and head). `alt` describes the chart for screen readers.
    With `quiet` there is no other button. While the page is presented, the chart is enlarged like
    everything else.
    """
    config: dict[str, Any] = {
        "displaylogo": False,
        "toImageButtonOptions": {
            "format": "svg",
            "filename": contents(key.replace("_", "-"), shown_model(), part).stem,
        },
    }
    if quiet:
        config["modeBarButtons"] = [[_CAMERA]]
    zoom = present_zoom()
    if zoom > 1:
        from core.figures.enlarged import enlarged  # imports plotly, so only where a chart is drawn

        figure = enlarged(figure, zoom)
    st.plotly_chart(figure, key=key, alt=alt, config=config, **more)
