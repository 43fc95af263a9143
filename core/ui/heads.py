"""Heads on a page: their table, the chosen one's row, and clickable charts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from core.analysis.layers import place_layers
from core.components.reported_state import as_indices, as_list, as_mapping, reported
from core.figures.heads import head_map
from core.figures.palette import Palette
from core.model import Trace
from core.ui.charts import show_chart
from core.ui.downloads import Contents, offer_csv
from core.vocabulary import Layered, head_name, listed, without_attention

if TYPE_CHECKING:
    import pandas as pd
    from streamlit.delta_generator import DeltaGenerator


@dataclass(frozen=True, eq=False, kw_only=True)
class HeadTable:
    """Measures of every head, and the chosen one; layer and head from 0."""

    trace: Trace
    table: pd.DataFrame
    layer: int
    head: int

    @property
    def number(self) -> int:
        """The chosen head's index among all heads, from 0."""
        return self.layer * self.trace.shape[1] + self.head

    @property
    def name(self) -> str:
        """The chosen head's name."""
        return head_name(self.trace, self.layer, self.head)

    @property
    def row(self) -> dict[str, Any]:
        """The chosen head's row of the table."""
        return {str(name): value for name, value in self.table.iloc[self.number].items()}

    def grid(self, column: str) -> NDArray[Any]:
        """A column of the table as (layer, head)."""
        return self.table[column].to_numpy().reshape(self.trace.shape[:2])


def names_of(table: pd.DataFrame) -> pd.Series[str]:
    """The name of the head in each row of a table."""
    return "L" + table["layer"].astype(str) + " H" + table["head"].astype(str)


def show_overview(
    heads: HeadTable,
    export: Contents,
    draw_map: Callable[[], object],
    card: Callable[[], object],
    *,
    border: bool = True,
) -> DeltaGenerator:
    """Draw the map beside the card, then a place, which this returns, then the file button."""
    left, right = st.columns([5, 4], gap="medium")
    with left:
        draw_map()
    with right, st.container(border=border):
        card()
    place = st.empty()
    with st.container(horizontal=True):
        offer_table(heads, export)
    return place


def show_head_table(
    heads: HeadTable,
    titles: Mapping[str, str],
    *,
    key: str,
    on_open: Callable[[int, int], None],
) -> None:
    """Draw the columns that have `titles`; a click on a row calls `on_open` with layer and head."""
    table = heads.table[[name for name in titles if name in heads.table]]
    columns: dict[str, Any] = {}
    for name in map(str, table):
        columns[name] = (
            st.column_config.NumberColumn(titles[name], format="%.3f")
            if table[name].dtype.kind == "f"
            else st.column_config.Column(titles[name])
        )
    table.insert(0, "head", names_of(heads.table))
    labels = tuple(heads.trace.layer_labels)
    st.dataframe(
        table,
        key=key,
        hide_index=True,
        height=420,
        placeholder="–",
        on_select=partial(_choose, key, labels, heads.trace.shape[1], on_open),
        selection_mode="single-row",
        column_config=columns,
    )


def _choose(
    key: str, layer_labels: tuple[int, ...], heads: int, on_open: Callable[[int, int], None]
) -> None:
    rows = as_indices(reported(key, "selection").get("rows"))
    if rows and rows[0] < len(layer_labels) * heads:
        layer, head = divmod(rows[0], heads)
        on_open(layer_labels[layer], head + 1)


def offer_table(heads: HeadTable, export: Contents) -> None:
    """A button that saves the whole table."""
    offer_csv(heads.table.copy, export, index=False, float_format="%.6f")


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
    name : what the values are, for the hover text.
    on_open : called with the numbers of a clicked square's layer and head, before the next run.
    chosen : layer and head, from 0, of the head to frame.
    look : default `bounds`: 0 to the largest magnitude, and as far below if a value is negative.
    """
    rows = place_layers(layered)
    if "bounds" not in look:
        reach = float(np.abs(values[np.isfinite(values)]).max(initial=0)) or 1.0
        signed = look.setdefault("signed", bool((values < 0).any()))
        look["bounds"] = (-reach if signed else 0.0, reach)
    figure = head_map(values, rows, name, colours, chosen=chosen, **look)
    show_heads(figure, f"Map of all heads: {name}", key=key, on_open=on_open)
    show_gaps(layered)


def show_gaps(layered: Layered) -> None:
    """Say under a map of heads which layers are missing."""
    if silent := gaps_note(layered):
        st.caption(silent)


def gaps_note(layered: Layered) -> str:
    """Which layers have no attention; empty if all have."""
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

    A point's customdata begin with these numbers, as people read them. `alt` describes the chart
    for screen readers.
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
    # Streamlit returns a point's own data as a list or a mapping.
    numbers = as_indices([*as_mapping(data).values()] or data)
    return (numbers[0], numbers[1]) if len(numbers) >= 2 else None
