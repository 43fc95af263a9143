"""Queries and keys of a corpus as clouds: all heads of a model as tiles, or one head alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.analysis.layers import Rows, rows_of
from core.components.export import standalone_page
from core.components.packing import pack
from core.components.points import Coloured, quantise
from core.components.reported_state import as_index, reported
from core.components.scripts import register

_atlas_cloud = register("atlas_cloud")

_MAX_CATEGORY = 65535  # a uint16 each
_GAP = 0.18  # of a tile's height, for layers that do not attend


@dataclass(frozen=True, eq=False, kw_only=True)
class AtlasCloud(Coloured):
    """Queries and keys of the tokens of a corpus, in all heads or in one.

    A tile with a point that is not finite has not been projected yet; it stays empty and says so.

    Attributes
    ----------
    points : (layer * head, 2 token, 2), of one head also without the first axis; queries first, one
        scale for both axes.
    tones : ([layer * head,] 2 token), what colours stand for: 0 to 1, or whole numbers for
        categories.
    positions : of each token in its sentence, from 0; people are shown them from 1.
    sentence : of each token, an index into ``texts``.
    texts : the sentences.
    matches : (token,), what a search found.
    searching : what does not match fades, even if nothing matches.
    sprites : of images, uint8 (token, side, side, 3): what each patch looks like, drawn in place of
        its point where there is room; `patched` says which tokens are patches.
    layer_labels, depth : of the layers, as people read them, and how many the model has.
    heads : of each layer.
    chosen : layer and head, from 0, with an outline.
    title : of a head whose points fill the picture, e.g. "L4 H2". What follows is only for this.
    picked : a token whose sentence stands out, both its queries and its keys.
    lines : (line, 3) of the picked token's sentence: the tokens of query and key, the attention.
    """

    points: NDArray[np.float32]
    tones: NDArray[np.floating[Any]]
    positions: Sequence[int]
    sentence: Sequence[int]
    texts: Sequence[str]
    matches: NDArray[np.bool_]
    searching: bool = False
    sprites: NDArray[np.uint8] | None = None
    patched: NDArray[np.bool_] | None = None
    layer_labels: tuple[int, ...] = (1,)
    heads: int = 1
    depth: int | None = None
    chosen: tuple[int, int] | None = None
    title: str | None = None
    picked: int | None = None
    lines: NDArray[np.float64] | None = None

    def packed(self) -> bytes:
        """What the component receives: 2 bytes per coordinate, 1 or 2 per colour.

        Raises ValueError where the points do not fit the heads and labels.
        """
        places, frames = quantise(self._checked_points())
        lines = np.zeros((0, 3)) if self.lines is None else self.lines
        return pack(
            self.settings() | self._grid(),
            places=places,
            frames=frames,
            tones=self._packed_tones(),
            lines=lines[np.argsort(lines[:, 2], kind="stable")],  # the strongest are drawn last
            positions=np.asarray(self.positions, dtype=np.uint16),
            sentence=np.asarray(self.sentence, dtype=np.uint16),
            matches=np.asarray(self.matches, dtype=np.uint8),
            sprites=np.zeros(0, np.uint8) if self.sprites is None else self.sprites,
            patched=np.asarray(() if self.patched is None else self.patched, dtype=np.uint8),
        )

    def settings(self) -> dict[str, Any]:
        """What a component is told of the colours, the tokens and what is picked."""
        return super().settings() | {
            "texts": list(self.texts),
            "searching": self.searching,
            "spriteSide": 0 if self.sprites is None else self.sprites.shape[1],
            "alone": self.title is not None,
            "title": self.title or "",
            "picked": -1 if self.picked is None else self.picked,
        }

    def _packed_tones(self) -> NDArray[Any]:
        """256 steps of a scale, or category numbers; what is not a number counts as 0."""
        tones = np.nan_to_num(self.tones)
        if self.colouring == "sequential":
            return np.rint(255 * np.clip(tones, 0, 1)).astype(np.uint8)
        return np.clip(tones, 0, _MAX_CATEGORY).astype(np.uint16)

    def _grid(self) -> dict[str, Any]:
        """Where the tiles lie, and which of them has an outline."""
        is_one = self.title is not None
        rows = Rows(self.layer_labels, (1.0,), (), 1.0) if is_one else rows_of(self, _GAP)
        layer, head = self.chosen or (0, -1)
        return {
            "numbers": rows.layer_labels,
            "tops": [place - 1 for place in rows.places],
            "high": rows.end,
            "gaps": [(gap.place - 0.5, gap.name) for gap in rows.gaps],
            "heads": self.heads,
            "chosen": layer * self.heads + head,
        }

    def _checked_points(self) -> NDArray[Any]:
        """The points, (layer * head, 2 token, 2), if there are as many as heads and labels."""
        points = self.points[None].astype(np.float64) if self.points.ndim == 2 else self.points
        expected = (len(self.layer_labels) * self.heads, 2 * len(self.labels), 2)
        if points.shape != expected:
            raise ValueError(f"points have shape {points.shape}; expected {expected}")
        return points


def show_cloud(
    cloud: AtlasCloud,
    *,
    key: str,
    on_open: Callable[[int, int], None] | None = None,
    on_pick: Callable[[int | None], None] | None = None,
) -> None:
    """Draw the cloud; pointing, moving and zooming never ask the server.

    Parameters
    ----------
    on_open : called with the numbers of layer and head each time a head is opened.
    on_pick : called with a token when one of its points is clicked, with None when it is released.
    """

    def opened() -> None:
        head = reported(key, "open")
        layer, number = as_index(head.get("layer")), as_index(head.get("head"))
        if on_open is not None and layer is not None and number is not None:
            on_open(layer, number)

    def picked() -> None:
        token = reported(key, "pick").get("token")
        if on_pick is not None:
            on_pick(as_index(token, len(cloud.labels)))

    _atlas_cloud(
        key=key,
        data=cloud.packed(),
        on_open_change=opened,
        on_pick_change=picked,
    )


def cloud_page(
    cloud: AtlasCloud, title: str, note: str, facts: Mapping[str, Any] | None = None
) -> str:
    """The cloud as one HTML file that opens without internet."""
    return standalone_page("atlas_cloud", cloud.packed(), title, note, facts=facts)
