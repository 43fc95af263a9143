"""Charts of a model's heads that can be clicked, above all the map of layers by heads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from core.figures.head_map import head_map, ring

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from core.figures.palette import Palette


def show_head_map(
    values: NDArray[np.float64],
    name: str,
    colours: Palette,
    *,
    key: str,
    on_open: Callable[[int, int], None],
    chosen: tuple[int, int] | None = None,
    **look: Any,  # noqa: ANN401 - of core.figures.head_map: bounds, title, signed, reverse ...
) -> None:
    """A square for every head, coloured by `values` (layer, head).

    Parameters
    ----------
    name : of the values, for the hover.
    on_open : called with layer and head, from 0, of a clicked square, before the next run.
    chosen : layer and head, from 0, of the square with a ring.
    """
    figure = head_map(values, name, colours, **look)
    if chosen is not None:
        ring(figure, *chosen, values.shape[1], colours)
    show_heads(figure, key=key, on_open=on_open)


def show_heads(
    figure: Any,  # noqa: ANN401 - of core.figures, which alone knows plotly
    *,
    key: str,
    on_open: Callable[[int, int], None],
    heads: int | None = None,
) -> None:
    """Any chart with a point per head; a click calls `on_open` with layer and head, from 0.

    A point's customdata, or else its y and x, are layer and head from 1; if `heads` (per layer) is
    given, its customdata begin with the number of the head among all heads, from 0.
    """
    st.plotly_chart(
        figure,
        key=key,
        on_select=lambda: _open(key, on_open, heads),
        selection_mode="points",
        config={"displayModeBar": False},
    )


def _open(key: str, on_open: Callable[[int, int], None], heads: int | None) -> None:
    points = st.session_state[key].selection.points
    if not points:
        return
    data = points[0].get("customdata")
    if isinstance(data, dict):  # Streamlit gives a point's own data as a list or a mapping
        data = list(data.values())
    if not isinstance(data, list | tuple):
        data = [points[0]["y"], points[0]["x"]]
    elif heads is not None:
        on_open(*divmod(int(data[0]), heads))
        return
    on_open(int(data[0]) - 1, int(data[1]) - 1)
