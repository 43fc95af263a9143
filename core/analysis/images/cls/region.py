"""A rectangle of patches, as links write it: ``r1c2-r5c6``."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from core.analysis.arrays import Bools

_FORM = re.compile(r"r([1-9]\d{0,3})c([1-9]\d{0,3})-r([1-9]\d{0,3})c([1-9]\d{0,3})")


@dataclass(frozen=True)
class Region:
    """A rectangle of patches; rows and columns from 0, the last ones included."""

    top: int
    left: int
    bottom: int
    right: int

    @property
    def name(self) -> str:
        """As people read it and links write it, from 1."""
        return f"r{self.top + 1}c{self.left + 1}-r{self.bottom + 1}c{self.right + 1}"

    @property
    def count(self) -> int:
        """How many patches it has."""
        return (self.bottom - self.top + 1) * (self.right - self.left + 1)

    def on_grid(self, rows: int, columns: int) -> Bools:
        """Which patches of a grid are in it, bool (row, column)."""
        inside = np.zeros((rows, columns), dtype=np.bool_)
        inside[self.top : self.bottom + 1, self.left : self.right + 1] = True
        return inside


def read_region(text: str, rows: int, columns: int) -> Region:
    """The region of that name, its corners given in any order.

    >>> read_region("r5c6-r1c2", 8, 8)
    Region(top=0, left=1, bottom=4, right=5)

    Raises
    ------
    ValueError
        When it is not written as one, or reaches beyond a grid of so many rows and columns.
    """
    match = _FORM.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not of the form r1c2-r5c6")
    down, across = ([int(match[i]) - 1, int(match[i + 2]) - 1] for i in (1, 2))
    if max(down) >= rows or max(across) >= columns:
        raise ValueError(f"{text!r} reaches beyond {rows} x {columns} patches")
    return Region(min(down), min(across), max(down), max(across))


def middle_region(rows: int, columns: int) -> Region:
    """The middle half of the rows and of the columns: a quarter of the area."""
    top, left = rows // 4, columns // 4
    return Region(top, left, max(top, rows - top - 1), max(left, columns - left - 1))
