"""The atlas' matrix: all heads of a model as tiles, each a cloud of queries and keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from core.analysis.layers import rows_of
from core.components.export import standalone_page
from core.components.packing import pack
from core.components.points import CorpusPoints, quantise
from core.components.scripts import register

if TYPE_CHECKING:
    from collections.abc import Callable

_atlas_matrix = register("atlas_matrix")

_MAX_CATEGORY = 255
_GAP = 0.18  # of a tile's height, for layers that do not attend


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
    """

    numbers: tuple[int, ...]
    heads: int
    depth: int | None = None
    own_scale: bool = True
    chosen: tuple[int, int] | None = None

    def packed(self) -> bytes:
        """What the component receives: two bytes per coordinate, one per tone.

        Raises ValueError where the points do not fit the heads and labels.
        """
        dims = self.points.shape[-1]
        rows = rows_of(self, _GAP)
        expected = (len(rows.numbers) * self.heads, 2 * len(self.labels), 3 if dims == 3 else 2)
        if self.points.shape != expected:
            raise ValueError(f"points have shape {self.points.shape}; expected {expected}")
        places, frames = quantise(self.points)
        chosen = -1 if self.chosen is None else self.chosen[0] * self.heads + self.chosen[1]
        settings = self.settings() | {
            "numbers": rows.numbers,
            "tops": [place - 1 for place in rows.places],
            "high": rows.end,
            "gaps": [(gap.place - 0.5, gap.name) for gap in rows.gaps],
            "heads": self.heads,
            "ownScale": self.own_scale,
            "chosen": chosen,
        }
        return pack(
            settings,
            places=places,
            frames=frames,
            tones=self.packed_tones(_MAX_CATEGORY),
            **self.token_arrays(),
        )


def show_matrix(matrix: AtlasMatrix, *, key: str, on_open: Callable[[int, int], None]) -> None:
    """Draw the matrix; pan, zoom and hover never ask the server.

    Each time a head is opened, `on_open` is called with the numbers of layer and head.
    """

    def opened() -> None:
        if head := st.session_state[key]["open"]:
            on_open(int(head["layer"]), int(head["head"]))

    _atlas_matrix(key=key, data=matrix.packed(), on_open_change=opened)


def matrix_page(matrix: AtlasMatrix, title: str, note: str) -> str:
    """The matrix as one HTML file that opens without internet."""
    return standalone_page("atlas_matrix", matrix.packed(), title, note)
