"""Charts of a model's heads that can be clicked, above all the map of layers by heads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from core.figures.head_map import head_map
from core.figures.patterns import ring

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
    name : what the values are of, for the hover.
    on_open : called with layer and head, from 0, of a square that is clicked, before the next run.
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
    """Any chart with a point a head; a click calls `on_open` with layer and head, from 0.

    A point's data are layer and head from 1, or, where there are none, its y and x are; with
    `heads` a layer, they begin with the head's number among all heads, from 0.
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
    if points:
        on_open(*_head_of(points[0], heads))


def _head_of(point: dict[str, Any], heads: int | None) -> tuple[int, int]:
    data = point.get("customdata")
    if isinstance(data, dict):  # Streamlit gives a point's own data as a list or a mapping
        data = list(data.values())
    if heads is not None and isinstance(data, list | tuple):
        return divmod(int(data[0]), heads)
    pair = data if isinstance(data, list | tuple) else (point["y"], point["x"])
    layer, head = (int(each) - 1 for each in pair)
    return layer, head
