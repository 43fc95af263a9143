"""The atlas' matrix: all heads of a model as tiles, each a cloud of queries and keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from core.analysis.layers import Rows, rows_of
from core.components.export import standalone_page
from core.components.packing import pack
from core.components.points import CorpusPoints, quantise
from core.components.scripts import register

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

_atlas_matrix = register("atlas_matrix")

_MAX_CATEGORY = 255
_GAP = 0.18  # of a tile's height, for layers that do not attend


@dataclass(frozen=True, eq=False)
class Counts:
    """How many queries and keys lie in each cell of a plane, in place of too many points.

    Attributes
    ----------
    counts : whole numbers (head, 2, cell, cell): queries, then keys; rows of y from the lowest,
        columns of x.
    bounds : (head, 4), what the cells cover: x from and to, y from and to.
    """

    counts: NDArray[np.integer[Any]]
    bounds: NDArray[np.floating[Any]]


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
    fine: Counts | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class AtlasMatrix(CorpusPoints):
    """All heads, and the tokens of a sample that is drawn in each.

    `points` are (layer * head, 2 token, 2 or 3): a head with a point that is not finite has not
    been projected yet; its tile stays empty and says so. `tones` are for all heads or for each.

    Attributes
    ----------
    numbers, depth : of the layers, as people read them, and how many the model has.
    heads : of each layer.
    own_scale : each cloud fills its tile, instead of one scale for all.
    chosen : layer and head, from 0, with an outline.
    counts : of all tokens, drawn below the points; of the points only what a search found is drawn,
        if there was one.
    alone : of a matrix of one head.
    """

    numbers: tuple[int, ...]
    heads: int
    depth: int | None = None
    own_scale: bool = True
    chosen: tuple[int, int] | None = None
    counts: Counts | None = None
    alone: Alone | None = None

    def packed(self) -> bytes:
        """What the component receives: two bytes per coordinate, one per tone.

        Raises ValueError where the points do not fit the heads and labels.
        """
        dims = self.points.shape[-1]
        rows = rows_of(self, _GAP) if self.alone is None else Rows(self.numbers, (1.0,), (), 1.0)
        expected = (len(rows.numbers) * self.heads, 2 * len(self.labels), 3 if dims == 3 else 2)
        if self.points.shape != expected:
            raise ValueError(f"points have shape {self.points.shape}; expected {expected}")
        places, frames = quantise(self.points, None if self.counts is None else self.counts.bounds)
        chosen = -1 if self.chosen is None else self.chosen[0] * self.heads + self.chosen[1]
        settings = self.settings() | {
            "numbers": rows.numbers,
            "tops": [place - 1 for place in rows.places],
            "high": rows.end,
            "gaps": [(gap.place - 0.5, gap.name) for gap in rows.gaps],
            "heads": self.heads,
            "ownScale": self.own_scale,
            "chosen": chosen,
            **self._cells(),
        }
        return pack(
            settings,
            places=places,
            frames=frames,
            tones=self.packed_tones(_MAX_CATEGORY),
            **self._counted(),
            **self.token_arrays(),
        )

    def _cells(self) -> dict[str, Any]:
        """What the component is told of cells and of the only head."""
        alone = self.alone or Alone()
        fine = alone.fine
        return {
            "cells": 0 if self.counts is None else self.counts.counts.shape[-1],
            "fineCells": 0 if fine is None else fine.counts.shape[-1],
            "fineArea": [] if fine is None else fine.bounds[0].tolist(),
            "firstHead": alone.head,
            "single": self.alone is not None,
            "part": list(alone.part),
            "serial": alone.serial,
        }

    def _counted(self) -> dict[str, NDArray[Any]]:
        """The counts as float32, exact up to 16,777,216, and what they cover."""
        nothing = np.zeros(0, dtype=np.float32)
        fine = None if self.alone is None else self.alone.fine
        return {
            "counts": nothing if self.counts is None else self.counts.counts,
            "areas": nothing if self.counts is None else self.counts.bounds,
            "fineCounts": nothing if fine is None else fine.counts,
        }


def show_matrix(
    matrix: AtlasMatrix,
    *,
    key: str,
    on_open: Callable[[int, int], None] | None = None,
    on_part: Callable[[list[float]], None] | None = None,
) -> None:
    """Draw the matrix; pan, zoom and hover never ask the server.

    Parameters
    ----------
    on_open : called with the numbers of layer and head each time a head is opened.
    on_part : called with the part of the only head that is looked at, x from and to, y from and to;
        with nothing for all of it.
    """

    def opened() -> None:
        if on_open is not None and (head := st.session_state[key]["open"]):
            on_open(int(head["layer"]), int(head["head"]))

    def part_changed() -> None:
        if on_part is not None:
            on_part(_part(st.session_state[key]["part"]))

    _atlas_matrix(key=key, data=matrix.packed(), on_open_change=opened, on_part_change=part_changed)


def _part(sent: object) -> list[float]:
    """What a browser sent, if it is a part of a plane; else nothing."""
    numbers = [each for each in sent if type(each) in (int, float)] if type(sent) is list else []
    if len(numbers) != 4 or not np.isfinite(numbers).all():
        return []
    x0, x1, y0, y1 = (float(each) for each in numbers)
    return [x0, x1, y0, y1] if x0 < x1 and y0 < y1 else []


def matrix_page(
    matrix: AtlasMatrix, title: str, note: str, facts: Mapping[str, Any] | None = None
) -> str:
    """The matrix as one HTML file that opens without internet."""
    return standalone_page("atlas_matrix", matrix.packed(), title, note, facts=facts)
