"""The atlas' matrix: all heads of a model as tiles, each a cloud of queries and keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.analysis.layers import Rows, rows_of
from core.atlas.density import Density
from core.components.export import standalone_page
from core.components.packing import pack
from core.components.points import CorpusPoints, quantise
from core.components.reported_state import as_index, as_mapping, as_numbers, reported
from core.components.scripts import register

_atlas_matrix = register("atlas_matrix")

_MAX_CATEGORY = 255
_MAX_PLACE = 1e30  # of a corner of a part, in units of the points
_GAP = 0.18  # of a tile's height, for layers that do not attend


_NOTHING = Density(np.zeros((0, 2, 0, 0), np.uint32), np.zeros((0, 4), np.float32))


@dataclass(frozen=True, eq=False)
class Alone:
    """The only head of a matrix, which is enlarged until its points can be drawn.

    Attributes
    ----------
    head : its number, as people read it.
    part : x from and to, y from and to, that the window begins with; nothing for the whole head.
    serial : with a new number the component takes `part`; else its window stays.
    fine : finer cells of the part that is looked at, as of one head.
    """

    head: int = 1
    part: Sequence[float] = ()
    serial: int = 0
    fine: Density | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class AtlasMatrix(CorpusPoints):
    """All heads, and the tokens of a sample that is drawn in each.

    `points` are (layer * head, 2 token, 2 or 3): a head with a point that is not finite has not
    been projected yet; its tile stays empty and says so. `tones` are for all heads or for each.

    Attributes
    ----------
    layer_labels, depth : of the layers, as people read them, and how many the model has.
    heads : of each layer.
    own_scale : each cloud fills its tile, instead of one scale for all.
    chosen : layer and head, from 0, with an outline.
    counts : of all tokens, drawn below the points; of the points only what a search found is drawn,
        if there was one.
    alone : of a matrix of one head.
    """

    layer_labels: tuple[int, ...]
    heads: int
    depth: int | None = None
    own_scale: bool = True
    chosen: tuple[int, int] | None = None
    counts: Density | None = None
    alone: Alone | None = None

    def packed(self) -> bytes:
        """What the component receives: two bytes per coordinate, one per tone.

        Raises ValueError where the points do not fit the heads and labels.
        """
        dims = self.points.shape[-1]
        rows = (
            rows_of(self, _GAP) if self.alone is None else Rows(self.layer_labels, (1.0,), (), 1.0)
        )
        expected = (
            len(rows.layer_labels) * self.heads,
            2 * len(self.labels),
            3 if dims == 3 else 2,
        )
        if self.points.shape != expected:
            raise ValueError(f"points have shape {self.points.shape}; expected {expected}")
        counts, alone = self.counts or _NOTHING, self.alone or Alone()
        bounds = counts.bounds.reshape(-1, 4)
        places, frames = quantise(self.points, None if self.counts is None else bounds)
        fine = alone.fine or _NOTHING
        chosen = -1 if self.chosen is None else self.chosen[0] * self.heads + self.chosen[1]
        settings = self.settings() | {
            "numbers": rows.layer_labels,
            "tops": [place - 1 for place in rows.places],
            "high": rows.end,
            "gaps": [(gap.place - 0.5, gap.name) for gap in rows.gaps],
            "heads": self.heads,
            "ownScale": self.own_scale,
            "chosen": chosen,
            "cells": counts.counts.shape[-1],
            "fineCells": fine.counts.shape[-1],
            "fineArea": fine.bounds.ravel().tolist(),
            "firstHead": alone.head,
            "single": self.alone is not None,
            "part": list(alone.part),
            "serial": alone.serial,
        }
        return pack(
            settings,
            places=places,
            frames=frames,
            tones=self.packed_tones(_MAX_CATEGORY),
            counts=counts.counts,  # float32 from here on, exact up to 16,777,216
            areas=counts.bounds,
            fineCounts=fine.counts,
            **self.token_arrays(),
        )


def show_matrix(
    matrix: AtlasMatrix,
    *,
    key: str,
    on_open: Callable[[int, int], None] | None = None,
    on_part: Callable[[list[float], int | None], None] | None = None,
) -> None:
    """Draw the matrix; pan, zoom and hover never ask the server.

    Parameters
    ----------
    on_open : called with the numbers of layer and head each time a head is opened.
    on_part : called with the part of the only head that is looked at, x from and to, y from and to;
        with nothing for all of it; and with the number of the state that was sent before.
    """

    def opened() -> None:
        head = as_mapping(reported(key, "open"))
        layer, number = as_index(head.get("layer")), as_index(head.get("head"))
        if on_open is not None and layer is not None and number is not None:
            on_open(layer, number)

    def part_changed() -> None:
        report = as_mapping(reported(key, "part"))
        if on_part is not None:
            on_part(_part(report.get("corners")), as_index(report.get("serial")))

    _atlas_matrix(key=key, data=matrix.packed(), on_open_change=opened, on_part_change=part_changed)


def _part(sent: object) -> list[float]:
    """What a browser sent, if it is a part of a plane; else nothing."""
    numbers = as_numbers(sent, _MAX_PLACE)
    if numbers is None or len(numbers) != 4:
        return []
    x0, x1, y0, y1 = numbers
    return [x0, x1, y0, y1] if x0 < x1 and y0 < y1 else []


def matrix_page(
    matrix: AtlasMatrix, title: str, note: str, facts: Mapping[str, Any] | None = None
) -> str:
    """The matrix as one HTML file that opens without internet."""
    return standalone_page("atlas_matrix", matrix.packed(), title, note, facts=facts)
