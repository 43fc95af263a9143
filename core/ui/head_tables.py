"""A table with a row per head: the chosen head's row, columns as maps, and all rows on a page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st
from numpy.typing import NDArray

from core.components.reported_state import as_indices, reported
from core.model import Trace
from core.ui.downloads import Contents, offer_csv
from core.vocabulary import head_name

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, kw_only=True)
class HeadTable:
    """What was measured of every head, and the one that is chosen; layer and head from 0."""

    trace: Trace
    table: pd.DataFrame
    layer: int
    head: int

    @property
    def number(self) -> int:
        """The chosen head's number among all heads, from 0."""
        return self.layer * self.trace.shape[1] + self.head

    @property
    def name(self) -> str:
        """The chosen head as people read it."""
        return head_name(self.trace, self.layer, self.head)

    @property
    def row(self) -> dict[str, Any]:
        """The chosen head's row of the table."""
        return {str(name): value for name, value in self.table.iloc[self.number].items()}

    def grid(self, column: str) -> NDArray[Any]:
        """A column of the table as (layer, head)."""
        return self.table[column].to_numpy().reshape(self.trace.shape[:2])


def names_of(table: pd.DataFrame) -> pd.Series[str]:
    """The head of each row of a table, as people read it."""
    return "L" + table["layer"].astype(str) + " H" + table["head"].astype(str)


def show_rows(
    heads: HeadTable,
    shown: pd.DataFrame,
    columns: Mapping[str, Any],
    *,
    key: str,
    on_open: Callable[[int, int], None],
) -> None:
    """The columns that are `shown`; a click on a row calls `on_open` with its layer and head."""
    choose = partial(_choose, key, tuple(heads.trace.layer_labels), heads.trace.shape[1], on_open)
    st.dataframe(
        shown,
        key=key,
        hide_index=True,
        height=420,
        placeholder="–",
        on_select=choose,
        selection_mode="single-row",
        column_config=dict(columns),
    )


def _choose(
    key: str, layer_labels: tuple[int, ...], heads: int, on_open: Callable[[int, int], None]
) -> None:
    rows = as_indices(reported(key, "selection").get("rows"))
    if rows and rows[0] < len(layer_labels) * heads:
        layer, head = divmod(rows[0], heads)
        on_open(layer_labels[layer], head + 1)


def offer_table(heads: HeadTable, held: Contents) -> None:
    """A button for the whole table as a file."""
    offer_csv(heads.table.copy, held, index=False, float_format="%.6f")
