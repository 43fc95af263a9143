"""The cloud of one head: every query and key of a corpus, to turn, enlarge and encircle."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.components.export import standalone_page
from core.components.packing import pack
from core.components.points import CorpusPoints, packed_sizes, quantise
from core.components.reported_state import as_index, as_indices, as_mapping, as_numbers, reported
from core.components.scripts import register

_atlas_cloud = register("atlas_cloud")

_MAX_CATEGORY = 65535
_MAX_CORNERS = 10_000  # of a lasso
_MAX_PLACE = 1e3  # of a corner, in halves of the frame's side


@dataclass(frozen=True, eq=False, kw_only=True)
class AtlasCloud(CorpusPoints):
    """One head's queries and keys over a corpus of up to 10,000 tokens.

    Attributes
    ----------
    picked : a token whose sentence stands out, both its queries and its keys.
    title : what is shown, e.g. "L4 H2".
    norms : (2 token,), lengths of the vectors, if the size of a point shows them.
    lines : (line, 3) of the picked token's sentence: the tokens of query and key, the attention.
    clusters : of each group of points its name, which may be empty, the point where that stands,
        and the points at the corners of its outline.
    members : (2 token,), the cluster of each point, -1 for none; of at most 255 clusters.
    """

    picked: int | None
    title: str
    norms: NDArray[np.float32] | None = None
    lines: NDArray[np.float64] | None = None
    clusters: Sequence[tuple[str, int, Sequence[int]]] = ()
    members: NDArray[np.integer[Any]] | None = None

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
            "clusters": [
                {"name": name, "middle": middle, "edge": list(edge)}
                for name, middle, edge in self.clusters
            ],
        }
        return pack(
            settings,
            points=quantise(self.points[None].astype(np.float64))[0],
            tones=self.packed_tones(_MAX_CATEGORY),
            sizes=sizes,
            lines=lines[np.argsort(lines[:, 2], kind="stable")],  # the strongest are drawn last
            members=np.asarray(() if self.members is None else self.members + 1, dtype=np.uint8),
            **self.token_arrays(),
        )


def show_cloud(
    cloud: AtlasCloud,
    *,
    key: str,
    on_pick: Callable[[int | None], None],
    on_choose: Callable[[list[int], NDArray[np.float64] | None], None],
) -> None:
    """Draw the cloud; pointing, turning and zooming never ask the server.

    Parameters
    ----------
    on_pick : called with a token when one of its points is clicked, with None when it is released.
    on_choose : called with the points inside a closed lasso or in a cluster, queries first, and
        with an empty list when the choice is cleared; and with the lasso's corners (corner, 2),
        where it chose all that is in it in the plane, in units of the points, else None.
    """

    def picked() -> None:
        on_pick(as_index(as_mapping(reported(key, "pick")).get("token"), len(cloud.labels)))

    def chosen() -> None:
        sent = as_mapping(reported(key, "choose"))
        outline = _outline(sent.get("outline"), cloud.points)
        on_choose(as_indices(sent.get("points"), len(cloud.points)), outline)

    _atlas_cloud(key=key, data=cloud.packed(), on_pick_change=picked, on_choose_change=chosen)


def cloud_page(
    cloud: AtlasCloud, title: str, note: str, facts: Mapping[str, Any] | None = None
) -> str:
    """The cloud as one HTML file that opens without internet."""
    return standalone_page("atlas_cloud", cloud.packed(), title, note, facts=facts)


def _outline(value: object, points: NDArray[Any]) -> NDArray[np.float64] | None:
    """The corners that a browser sent, from its frame around the points to their own units."""
    corners = as_numbers(value, _MAX_PLACE)
    if corners is None or not 6 <= len(corners) <= 2 * _MAX_CORNERS or len(corners) % 2:
        return None
    if points.shape[-1] != 2:
        return None
    _, frames = quantise(points[None].astype(np.float64))
    x, y, half = frames[0].astype(np.float64)
    return np.array(corners).reshape(-1, 2) * half + [x, y]
