"""The atlas' matrix: all heads of a model as tiles, each a cloud of queries and keys."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import streamlit as st

from core.components.export import standalone_page
from core.components.packing import pack
from core.components.registry import register
from core.components.shades import checked_shades

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

_atlas_matrix = register("atlas_matrix")

_STEPS = 65535  # of a frame's side: a uint16 for each coordinate
_EMPTY = -1.0  # half a side of a head that has no points yet


@dataclass(frozen=True, eq=False)
class AtlasMatrix:
    """All heads, and the tokens of a sample that is drawn in each.

    Attributes
    ----------
    layers, heads : of the model.
    points : float32 (layer * head, 2 token, 2 or 3), queries first. A head with a point that is not
        finite has not been projected yet: its tile stays empty and says so.
    tones : (2 token,) or (layer * head, 2 token), what colours stand for: 0 to 1 where
        sequential, whole numbers below 256 for categories.
    colouring : "type" for queries and keys.
    legend : what the colours stand for, from low to high, or one a category.
    labels : one a token; they may repeat.
    positions : of each token in its sentence, from 0.
    sentence : of each token, an index into `texts`.
    matches : boolean (token,), found by the search.
    searching : a search is on: what was not found fades, even where nothing was found.
    own_scale : each cloud fills its tile, instead of one scale for all.
    chosen : layer and head, from 0, with an outline.
    shades : for the themes "light" and "dark" the colours of queries and of keys: one a step of a
        scale, or one a category.
    labelled : tokens stand beside points where a tile is large.
    """

    layers: int
    heads: int
    points: NDArray[np.float32]
    tones: NDArray[np.floating[Any]]
    colouring: Literal["type", "sequential", "category"]
    legend: Sequence[str]
    labels: Sequence[str]
    positions: Sequence[int]
    sentence: Sequence[int]
    texts: Sequence[str]
    matches: NDArray[np.bool_]
    searching: bool = False
    own_scale: bool = True
    chosen: tuple[int, int] | None = None
    shades: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict)
    labelled: bool = True

    def packed(self) -> bytes:
        """What the component receives: two bytes a coordinate, one a tone.

        Raises
        ------
        ValueError : the points are not as many as heads and labels.
        """
        dims = self.points.shape[-1]
        expected = (self.layers * self.heads, 2 * len(self.labels), 3 if dims == 3 else 2)
        if self.points.shape != expected:
            raise ValueError(f"points have shape {self.points.shape}; expected {expected}")
        places, frames = quantise(self.points)
        chosen = -1 if self.chosen is None else self.chosen[0] * self.heads + self.chosen[1]
        settings: dict[str, Any] = {
            "layers": self.layers,
            "heads": self.heads,
            "dims": dims,
            "colouring": self.colouring,
            "legend": list(self.legend),
            "shades": checked_shades(self.shades, self.colouring, len(self.legend)),
            "labelled": self.labelled,
            "labels": list(self.labels),
            "texts": list(self.texts),
            "searching": bool(self.searching),
            "ownScale": bool(self.own_scale),
            "chosen": chosen,
        }
        return pack(
            settings,
            places=places,
            frames=frames,
            tones=self._toned(),
            positions=np.asarray(self.positions),
            sentence=np.asarray(self.sentence),
            matches=np.asarray(self.matches, dtype=np.uint8),
        )

    def _toned(self) -> NDArray[np.uint8]:
        tones = np.nan_to_num(np.asarray(self.tones, dtype=np.float32))
        if self.colouring == "sequential":
            tones = np.rint(255 * tones)
        return tones.clip(0, 255).astype(np.uint8)


def quantise(points: NDArray[np.float32]) -> tuple[NDArray[np.uint16], NDArray[np.float32]]:
    """Points as steps of a square (a cube) around each head's cloud, so that axes stay equal.

    Parameters
    ----------
    points : (head, point, 2 or 3).

    Returns
    -------
    Steps from the frame's lowest corner, of the same shape; and (head, 3): the frame's middle
    in the plane of the first two axes, and half its side, in units of the points. Half a side is
    -1 where a point of the head is not finite. A point is off by at most half a step, the side /
    131070.
    """
    known = np.asarray(np.isfinite(points).all(axis=(1, 2)))
    clean = np.where(known[:, None, None], points, 0)
    low, high = clean.min(axis=1, initial=np.inf), clean.max(axis=1, initial=-np.inf)
    if not points.shape[1]:
        low = high = np.zeros((len(points), points.shape[-1]))
    middle = (low + high) / 2
    half = (high - low).max(axis=1) / 2
    side = np.where(half > 0, 2 * half, 1)
    shares = (clean - middle[:, None]) / side[:, None, None] + 0.5
    steps = np.rint(_STEPS * shares).clip(0, _STEPS).astype(np.uint16)
    frames = np.column_stack([middle[:, :2], np.where(known, half, _EMPTY)])
    return steps, frames.astype(np.float32)


def show_matrix(matrix: AtlasMatrix, *, key: str, on_open: Callable[[int, int], None]) -> None:
    """Draw the matrix; pan, zoom and hover never ask the server.

    Parameters
    ----------
    on_open : called with layer and head, from 0, each time a head is opened.
    """

    def opened() -> None:
        place = st.session_state[key]["open"]
        if place:
            on_open(int(place["layer"]), int(place["head"]))

    _atlas_matrix(key=key, data=matrix.packed(), on_open_change=opened)


def matrix_page(matrix: AtlasMatrix, title: str, note: str) -> str:
    """The matrix as one HTML file that opens without internet."""
    return standalone_page("atlas_matrix", matrix.packed(), title, note)
