"""The heatmap table: tokens x tokens with numbers, colours, sums and hover."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from core.components.packing import pack
from core.components.scripts import register

if TYPE_CHECKING:
    from core.analysis.attention_table import AttentionTable

_table = register("table")


def show_table(table: AttentionTable, *, key: str, full_scale: bool = False) -> None:
    """Draw a table; hovering never asks the server. `key` keeps scroll position and pinned cell.

    With `full_scale` colours go from 0 to 1 instead of 0 to the largest value shown.
    """
    settings = {
        "rows": asdict(table.rows),
        "columns": asdict(table.columns),
        "where": table.where,
        "kind": table.kind,
        "fullScale": full_scale,
    }
    sums = {"rowSums": table.row_sums, "columnSums": table.column_sums}
    _table(key=key, data=pack(settings, values=table.values, **sums))
