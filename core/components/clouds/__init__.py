"""Clouds of queries and keys: panels of points, with lines that single out one point."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.components.export import standalone_page
from core.components.packing import grid_of, pack
from core.components.points import Coloured
from core.components.reported_state import reported
from core.components.scripts import register
from core.model.trace import Patches

_clouds = register("clouds")


@dataclass(frozen=True, eq=False)
class Panel:
    """One panel.

    Attributes
    ----------
    title : above the points.
    axes : the names of both axes; none are written without.
    notes : lines of text below them.
    points : (query + key, 2), queries first.
    tones : (query + key,), what colours stand for: 0 to 1, or whole numbers for categories.
    group : which head's lines it shows, an index into ``Clouds.lines``.
    """

    title: str
    notes: Sequence[str]
    points: NDArray[np.float64]
    tones: NDArray[np.float64]
    axes: Sequence[str] = ()
    group: int = 0


@dataclass(frozen=True, eq=False)
class Image:
    """The image whose patches the points are.

    Attributes
    ----------
    patches : as large as they are drawn.
    partners : (query + key, 2), for each query the key that it attends to most, for each key the
        query that gives it most, and the attention.
    """

    patches: Patches
    partners: NDArray[np.float64]


@dataclass(frozen=True, eq=False, kw_only=True)
class Clouds(Coloured):
    """Everything the panels share.

    Attributes
    ----------
    panels : in reading order.
    lines : for each head, (line, 4): query, key, attention, and 1 for a query's strongest; the most
        attention last.
    heads : the name of each head, e.g. "L4 H2".
    columns : the maximum in a row; fewer on narrow screens.
    sources, targets : these queries and keys are ringed; a line from one to the other is red where
        it is the query's strongest, else dashed.
    key_labels : of the keys, where those are other tokens than the queries.
    shown, shown_keys : positions that are drawn, of queries and of keys (the same unless given);
        lines to others are counted in a note.
    image : what the points are patches of, if they are. Tones that are not numbers then have the
        colour of their kind.
    """

    panels: Sequence[Panel]
    lines: Sequence[NDArray[np.float64]]
    heads: Sequence[str]
    columns: int = 3
    sources: Sequence[int] = ()
    targets: Sequence[int] = ()
    key_labels: Sequence[str] | None = None
    shown: Sequence[int] = ()
    shown_keys: Sequence[int] | None = None
    image: Image | None = None

    def packed(self, pinned: str | None = None) -> bytes:
        """What the component receives."""
        keys = self.labels if self.key_labels is None else self.key_labels
        shown_keys = self.shown if self.shown_keys is None else self.shown_keys
        settings = self.settings() | {
            "labels": [*self.labels, *keys],
            "queries": len(self.labels),
            "titles": [panel.title for panel in self.panels],
            "axes": [list(panel.axes) for panel in self.panels],
            "notes": [list(panel.notes) for panel in self.panels],
            "groups": [panel.group for panel in self.panels],
            "heads": list(self.heads),
            "lineCounts": [len(lines) for lines in self.lines],
            "columns": self.columns,
            "sources": list(self.sources),
            "targets": list(self.targets),
            "shown": [*self.shown, *(place + len(self.labels) for place in shown_keys)],
            "pinned": pinned,
            "grid": None if self.image is None else grid_of(self.image.patches),
        }
        nothing = np.zeros(0, dtype=np.uint8)
        return pack(
            settings,
            points=np.stack([panel.points for panel in self.panels]),
            tones=np.stack([panel.tones for panel in self.panels]),
            lines=np.vstack([lines.reshape(-1, 4) for lines in self.lines]),
            pixels=nothing if self.image is None else self.image.patches.pixels,
            partners=nothing if self.image is None else self.image.partners,
        )


def show_clouds(
    clouds: Clouds, *, key: str, pinned: str | None, on_pin: Callable[[str | None], None]
) -> None:
    """Draw the panels; hovering never asks the server.

    Parameters
    ----------
    pinned : the only point whose lines are shown, "q" or "k" and its position from 1.
    on_pin : called with the new one (a name, unchecked), or None, when a point is clicked.
    """

    def take_pin() -> None:
        point = reported(key, "pin").get("point")
        on_pin(point if isinstance(point, str) else None)

    _clouds(key=key, data=clouds.packed(pinned), on_pin_change=take_pin)


def clouds_page(
    clouds: Clouds, title: str, note: str, body: str = "", facts: Mapping[str, Any] | None = None
) -> str:
    """The panels as one HTML file that opens without internet; `body` is HTML above them."""
    return standalone_page("clouds", clouds.packed(), title, note, body, facts)
