"""The cloud of one head: every query and key of a corpus, to turn, enlarge and encircle."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import streamlit as st

from core.components.export import standalone_page
from core.components.packing import pack
from core.components.registry import register
from core.components.shades import checked_shades
from core.components.sizes import packed_sizes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

_atlas_cloud = register("atlas_cloud")

MAX_CHOSEN = 2000  # points that a lasso hands on; the component says so where it holds more
_LAST = 65535  # of uint16


@dataclass(frozen=True, eq=False)
class AtlasCloud:
    """One head's queries and keys over a corpus of up to 10,000 tokens.

    Attributes
    ----------
    points : (2 token, 2 or 3), queries first; one scale for all axes.
    tones : (2 token,), what colours stand for: 0 to 1, or whole numbers for categories.
    colouring : "type" is queries against keys; "sequential" and "category" go by the tones.
    legend : what the colours stand for: the ends of the scale, or one name a category.
    labels : one a token; they may repeat.
    positions : of each token in its sentence, from 0; people are shown them from 1.
    sentence : of each token, an index into ``texts``.
    texts : the sentences.
    matches : (token,), what a search found.
    searching : what does not match fades, and what does grows.
    picked : a token whose sentence stands out, both its queries and its keys.
    title : what is shown, e.g. "L4 H2".
    shades : for the themes "light" and "dark" the colours of queries and of keys: one a step of a
        scale, or one a category.
    norms : (2 token,), lengths of the vectors, where the size of a point is to show them.
    lines : (line, 3) of the picked token's sentence: the tokens of query and key, the attention.
    labelled : tokens stand beside points.
    """

    points: NDArray[np.float32]
    tones: NDArray[np.float64]
    colouring: Literal["type", "sequential", "category"]
    legend: Sequence[str]
    labels: Sequence[str]
    positions: Sequence[int]
    sentence: Sequence[int]
    texts: Sequence[str]
    matches: NDArray[np.bool_]
    searching: bool
    picked: int | None
    title: str
    shades: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict)
    norms: NDArray[np.float32] | None = None
    lines: NDArray[np.float64] | None = None
    labelled: bool = True

    def packed(self) -> bytes:
        """What the component receives: 2 bytes a coordinate, 1 or 2 a colour."""
        count, dims = len(self.labels), self.points.shape[-1]
        if self.points.shape != (2 * count, dims) or dims not in (2, 3):
            raise ValueError(f"expected ({2 * count}, 2 or 3) points, got {self.points.shape}")
        sizes, ends = packed_sizes(np.zeros(0) if self.norms is None else self.norms)
        settings: dict[str, Any] = {
            "title": self.title,
            "dims": dims,
            "colouring": self.colouring,
            "legend": list(self.legend),
            "shades": checked_shades(self.shades, self.colouring, len(self.legend)),
            "sizeEnds": ends,
            "labelled": self.labelled,
            "labels": list(self.labels),
            "texts": list(self.texts),
            "searching": self.searching,
            "picked": -1 if self.picked is None else self.picked,
            "most": MAX_CHOSEN,
        }
        return pack(
            settings,
            points=quantised(self.points),
            tones=_tones(self.tones, self.colouring),
            sizes=sizes,
            lines=_lines(self.lines),
            positions=np.asarray(self.positions, dtype=np.uint16),
            sentence=np.asarray(self.sentence, dtype=np.uint16),
            matches=np.asarray(self.matches, dtype=np.uint8),
        )


def quantised(points: NDArray[np.floating[Any]]) -> NDArray[np.uint16]:
    """Points (point, axis) on a grid of 65,536 steps an axis over the smallest cube around them.

    All axes have the same step, so distances keep their proportions; a coordinate is off by at
    most half a step, 1/131,070 of the widest axis.
    """
    exact = points.astype(np.float64)
    if not len(exact):
        return np.zeros(exact.shape, dtype=np.uint16)
    low, high = exact.min(axis=0), exact.max(axis=0)
    width = max(float((high - low).max()), np.finfo(np.float32).tiny)
    share = (exact - (low + high) / 2) / width + 0.5  # 0 to 1
    return np.rint(np.clip(share, 0, 1) * _LAST).astype(np.uint16)


def show_cloud(
    cloud: AtlasCloud,
    *,
    key: str,
    on_pick: Callable[[int | None], None],
    on_choose: Callable[[list[int]], None],
) -> None:
    """Draw the cloud; pointing, turning and enlarging never ask the server.

    Parameters
    ----------
    on_pick : called with a token when one of its points is clicked, with None when it is let go.
    on_choose : called with the points inside a closed lasso, at most 2,000, queries first (a
        larger choice is thinned evenly), and with none of them when the lasso is cleared.
    """

    def picked() -> None:
        sent = st.session_state[key]["pick"] or {}
        on_pick(_whole(sent.get("token"), len(cloud.labels)))

    def chosen() -> None:
        sent = (st.session_state[key]["choose"] or {}).get("points")
        found = [_whole(each, len(cloud.points)) for each in (sent or [])[:MAX_CHOSEN]]
        on_choose([each for each in found if each is not None])

    _atlas_cloud(key=key, data=cloud.packed(), on_pick_change=picked, on_choose_change=chosen)


def cloud_page(cloud: AtlasCloud, title: str, note: str) -> str:
    """The cloud as one HTML file that opens without internet."""
    return standalone_page("atlas_cloud", cloud.packed(), title, note)


def _tones(tones: NDArray[np.float64], colouring: str) -> NDArray[Any]:
    """256 steps of a scale, or the number of a category; what is not a number is the lowest."""
    known = np.nan_to_num(tones, nan=0.0)
    if colouring == "sequential":
        return np.rint(255 * np.clip(known, 0, 1)).astype(np.uint8)
    return np.clip(known, 0, _LAST).astype(np.uint16)


def _lines(lines: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """The strongest last, which is drawn over the others."""
    if lines is None:
        return np.zeros((0, 3))
    return lines[np.argsort(lines[:, 2], kind="stable")]


def _whole(value: object, count: int) -> int | None:
    """`value` where it is an index below `count`; what a browser sends is not trusted."""
    return value if type(value) is int and 0 <= value < count else None
