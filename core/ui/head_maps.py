"""Charts of a model's heads that can be clicked, above all the map of layers by heads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from core.analysis.layers import rows_of
from core.components.reported_state import as_indices, as_list, as_mapping, reported
from core.figures.heads import head_map
from core.figures.palette import Palette
from core.ui.charts import show_chart
from core.vocabulary import Layered, listed, without_attention


def show_head_map(
    layered: Layered,
    values: NDArray[np.float64],
    name: str,
    colours: Palette,
    *,
    key: str,
    on_open: Callable[[int, int], None],
    chosen: tuple[int, int] | None = None,
    **look: Any,  # noqa: ANN401 - of core.figures.heads: bounds, title, signed, reverse ...
) -> None:
    """A square for every head, coloured by `values` (layer, head).

    Parameters
    ----------
    layered : the trace or atlas whose layers these are.
    name : of the values, for the hover.
    on_open : called with the numbers of layer and head of a clicked square, before the next run.
    chosen : layer and head, from 0, of the head that is framed.
    look : without `bounds`, from 0 to the largest size, and as far below where a value is negative.
    """
    rows = rows_of(layered)
    if "bounds" not in look:
        reach = float(np.abs(values[np.isfinite(values)]).max(initial=0)) or 1.0
        signed = look.setdefault("signed", bool((values < 0).any()))
        look["bounds"] = (-reach if signed else 0.0, reach)
    figure = head_map(values, rows, name, colours, chosen=chosen, **look)
    show_heads(figure, f"Map of all heads: {name}", key=key, on_open=on_open)
    show_gaps(layered)


def show_gaps(layered: Layered) -> None:
    """Under a map of heads: which layers are missing there."""
    if silent := gaps_note(layered):
        st.caption(silent)


def gaps_note(layered: Layered) -> str:
    """Which layers do not attend; empty where all do."""
    silent = without_attention(layered)
    if not silent:
        return ""
    return (
        f"Layer{'s' * (len(silent) > 1)} {listed(silent)} do{'es' * (len(silent) == 1)} not attend."
    )


def show_heads(
    figure: Any,  # noqa: ANN401 - of core.figures, which alone knows plotly
    alt: str,
    *,
    key: str,
    on_open: Callable[[int, int], None],
) -> None:
    """Any chart with a point per head; a click calls `on_open` with layer and head.

    A point's customdata begin with these, as people number them. `alt` says what the chart shows to
    those who do not see it.
    """
    show_chart(
        figure,
        key=key,
        on_select=lambda: _open(key, on_open),
        selection_mode="points",
        part="all-heads",
        quiet=True,
        alt=alt,
    )


def _open(key: str, on_open: Callable[[int, int], None]) -> None:
    points = as_list(reported(key, "selection").get("points"))
    if head := next(filter(None, map(_head_of, points)), None):
        on_open(*head)


def _head_of(point: object) -> tuple[int, int] | None:
    data = as_mapping(point).get("customdata")
    # Streamlit gives a point's own data as a list or a mapping.
    numbers = as_indices([*as_mapping(data).values()] or data)
    return (numbers[0], numbers[1]) if len(numbers) >= 2 else None
