"""Two sides compared: attention of a head on each, the difference, and a map of all heads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.components.packing import pack
from core.components.reported_state import as_index, as_indices, reported
from core.components.scripts import register_component

_compare = register_component("compare")
Numbers = NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False, kw_only=True)
class CompareView:
    """What the component draws; positions, layers and heads from 0.

    Attributes
    ----------
    names : of the pairs of words, which are the rows and the columns before the last, the rest.
    titles : of side A and of side B.
    words : of each side; `pairs` are their indices in A and in B.
    corrected : whether the visitor has set a pair.
    weights : attention in A, in B, and the change, each (pair, pair + 1).
    layer_labels : people's numbers of A's layers.
    chosen : layer and head.
    distances : (layer, head); `over` says whether each is beyond the noise floor.
    about : each head in one line, in the order of layers and heads.
    held : row and column of the pinned cell; empty for none.
    serial : when it changes, the component takes `held`; else it keeps its own.
    picture : the name and the facts of a saved picture.
    """

    names: Sequence[str]
    titles: tuple[str, str]
    words: tuple[Sequence[str], Sequence[str]]
    pairs: Sequence[tuple[int, int]]
    corrected: bool
    weights: tuple[Numbers, Numbers, Numbers]
    layer_labels: Sequence[int]
    chosen: tuple[int, int]
    distances: Numbers
    over: NDArray[np.bool_]
    about: Sequence[str]
    held: Sequence[int] = ()
    serial: int = 0
    picture: Mapping[str, Any] | None = None

    def packed(self) -> bytes:
        """What the component receives."""
        settings = {
            name: getattr(self, name)
            for name in ("names", "titles", "words", "pairs", "corrected", "chosen", "about")
        }
        settings |= {name: getattr(self, name) for name in ("held", "serial", "picture")}
        settings |= {"layerLabels": self.layer_labels, "heads": self.distances.shape[1]}
        a, b, change = self.weights
        over = self.over.astype(np.uint8)
        return pack(settings, a=a, b=b, change=change, distance=self.distances, over=over)


def show_compare(
    view: CompareView,
    *,
    key: str,
    on_hold: Callable[[tuple[int, ...]], None],
    on_open: Callable[[int, int], None],
    on_match: Callable[[tuple[int, int] | None], None],
) -> None:
    """Draw both sides; pointing never asks the server.

    `on_hold` gets the row and column that were pinned, or nothing; `on_open` a layer and a head;
    `on_match` a word of A and one of B that are to be partners, None to undo all such pairs.
    """
    rows, (layers, heads) = len(view.names), view.distances.shape

    def held() -> None:
        cell = as_indices(reported(key, "view").get("held"))
        on_hold(tuple(cell) if len(cell) == 2 and max(cell) < rows else ())

    def opened() -> None:
        place = reported(key, "open")
        layer, head = as_index(place.get("layer"), layers), as_index(place.get("head"), heads)
        if layer is not None and head is not None:
            on_open(layer, head)

    def matched() -> None:
        pair = reported(key, "match")
        a, b = (as_index(pair.get(side), len(view.words[i])) for i, side in enumerate("ab"))
        on_match(None if a is None or b is None else (a, b))

    _compare(
        key=key,
        data=view.packed(),
        on_view_change=held,
        on_open_change=opened,
        on_match_change=matched,
    )
