"""The cloud of one head: every query and key of a corpus, to turn, enlarge and encircle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from core.components.export import standalone_page
from core.components.packing import pack
from core.components.points import CorpusPoints, packed_sizes, quantise
from core.components.scripts import register

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_atlas_cloud = register("atlas_cloud")

MAX_CHOSEN = 2000  # points that a lasso sends to the page; the component says so if it holds more
_MAX_CATEGORY = 65535


@dataclass(frozen=True, eq=False, kw_only=True)
class AtlasCloud(CorpusPoints):
    """One head's queries and keys over a corpus of up to 10,000 tokens.

    Attributes
    ----------
    picked : a token whose sentence stands out, both its queries and its keys.
    title : what is shown, e.g. "L4 H2".
    norms : (2 token,), lengths of the vectors, if the size of a point shows them.
    lines : (line, 3) of the picked token's sentence: the tokens of query and key, the attention.
    """

    picked: int | None
    title: str
    norms: NDArray[np.float32] | None = None
    lines: NDArray[np.float64] | None = None

    def packed(self) -> bytes:
        """What the component receives: 2 bytes per coordinate, 1 or 2 per colour.

        Raises ValueError where the points do not fit the labels.
        """
        count, dims = len(self.labels), self.points.shape[-1]
        if self.points.shape != (2 * count, dims) or dims not in (2, 3):
            raise ValueError(f"expected ({2 * count}, 2 or 3) points, got {self.points.shape}")
        sizes, ends = packed_sizes(np.zeros(0) if self.norms is None else self.norms)
        lines = np.zeros((0, 3)) if self.lines is None else self.lines
        settings = self.settings() | {
            "title": self.title,
            "sizeEnds": ends,
            "picked": -1 if self.picked is None else self.picked,
            "most": MAX_CHOSEN,
        }
        return pack(
            settings,
            points=quantise(self.points[None].astype(np.float64))[0],
            tones=self.packed_tones(_MAX_CATEGORY),
            sizes=sizes,
            lines=lines[np.argsort(lines[:, 2], kind="stable")],  # the strongest are drawn last
            **self.token_arrays(),
        )


def show_cloud(
    cloud: AtlasCloud,
    *,
    key: str,
    on_pick: Callable[[int | None], None],
    on_choose: Callable[[list[int]], None],
) -> None:
    """Draw the cloud; pointing, turning and zooming never ask the server.

    Parameters
    ----------
    on_pick : called with a token when one of its points is clicked, with None when it is released.
    on_choose : called with the points inside a closed lasso, at most 2,000, queries first (a
        larger choice is thinned evenly), and with an empty list when the lasso is cleared.
    """

    def picked() -> None:
        sent = st.session_state[key]["pick"] or {}
        on_pick(_index(sent.get("token"), len(cloud.labels)))

    def chosen() -> None:
        sent = (st.session_state[key]["choose"] or {}).get("points")
        points = [_index(each, len(cloud.points)) for each in (sent or [])[:MAX_CHOSEN]]
        on_choose([each for each in points if each is not None])

    _atlas_cloud(key=key, data=cloud.packed(), on_pick_change=picked, on_choose_change=chosen)


def cloud_page(cloud: AtlasCloud, title: str, note: str) -> str:
    """The cloud as one HTML file that opens without internet."""
    return standalone_page("atlas_cloud", cloud.packed(), title, note)


def _index(value: object, count: int) -> int | None:
    """`value` if it is an index below `count`; what a browser sends is not trusted."""
    return value if type(value) is int and 0 <= value < count else None
