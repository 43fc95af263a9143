"""The heatmap table: tokens x tokens with numbers, colours, sums and hover."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from core.analysis.attention_table import AttentionTable
from core.components.packing import pack
from core.components.reported_state import as_indices, reported
from core.components.scripts import register_component

_table = register_component("table")


@dataclass(frozen=True)
class Cells:
    """Highlighted cells, each as the positions of its query and its key, from 1.

    Attributes
    ----------
    held : the pinned cell; empty for none.
    serial : when it changes, the component takes `held`; else it keeps its own.
    found : the cell that is outlined while none is pinned; empty for none.
    """

    held: tuple[int, ...] = ()
    serial: int = 0
    found: tuple[int, ...] = ()


def show_table(
    table: AttentionTable,
    *,
    key: str,
    cells: Cells,
    on_hold: Callable[[tuple[int, ...]], None],
    picture: Mapping[str, Any] | None = None,
) -> None:
    """Draw a table; hovering never asks the server. `key` keeps the scroll position.

    `on_hold` is called with the positions of the newly pinned cell; empty for none.
    `picture` says what a saved picture is called and carries inside (see ``shared/save.js``);
    without it there is no button for saving, as in all components.
    """

    def held_changed() -> None:
        cell = as_indices(reported(key, "view").get("held"))
        on_hold(tuple(cell) if len(cell) == 2 else ())

    _table(key=key, data=pack_table(table, cells, picture), on_view_change=held_changed)


def pack_table(
    table: AttentionTable, cells: Cells, picture: Mapping[str, Any] | None = None
) -> bytes:
    """What the component receives; arguments as for :func:`show_table`."""
    settings = {
        "rows": asdict(table.rows),
        "columns": asdict(table.columns),
        "where": table.where,
        "kind": table.kind,
        "picture": picture,
    } | asdict(cells)
    arrays = {"values": table.values, "rowSums": table.row_sums, "columnSums": table.column_sums}
    if not table.permitted.all():
        arrays["permitted"] = table.permitted.astype(np.uint8)
    return pack(settings, **arrays)
