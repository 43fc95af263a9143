"""Two sides compared: attention of a head on each, the change, and a map of all heads."""

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


@dataclass(frozen=True, eq=False, kw_only=True)
class CompareView:
    """What the component draws, under the names that its script has; layers and heads from 0.

    Attributes
    ----------
    names : of the pairs of words: the rows, and the columns before the last, which is the rest.
    titles : of A and of B.
    words : of A and of B; `pairs` are their indices in both, `corrected` if some are the visitor's.
    a, b, change : (pair, pair + 1), attention in A and in B, and B less A.
    layers : the numbers of A's layers, as people read them.
    chosen : layer and head.
    distance : (layer, head); `over` says whether each is beyond the noise floor, `about` all in
        a line a head.
    held : row and column of the pinned cell; empty for none.
    serial : when it changes, the component takes `held`; else it keeps its own.
    picture : the name and the facts of a saved picture.
    """

    names: Sequence[str]
    titles: tuple[str, str]
    words: tuple[Sequence[str], Sequence[str]]
    pairs: Sequence[tuple[int, int]]
    corrected: bool
    a: NDArray[np.float32]
    b: NDArray[np.float32]
    change: NDArray[np.float32]
    layers: Sequence[int]
    chosen: tuple[int, int]
    distance: NDArray[np.float64]
    over: NDArray[np.bool_]
    about: Sequence[str]
    held: Sequence[int]
    serial: int
    picture: Mapping[str, Any] | None = None

    def packed(self) -> bytes:
        """What the component receives."""
        fields = vars(self) | {"over": self.over.astype(np.uint8), "heads": self.over.shape[1]}
        arrays = {name: each for name, each in fields.items() if isinstance(each, np.ndarray)}
        settings = {name: each for name, each in fields.items() if name not in arrays}
        return pack(settings, **arrays)


def show_compare(
    view: CompareView,
    *,
    key: str,
    on_hold: Callable[[list[int]], None],
    on_open: Callable[[int, int], None],
    on_match: Callable[[list[int]], None],
) -> None:
    """Draw both sides; pointing never asks the server.

    `on_hold` gets the row and column that were pinned, or nothing; `on_open` a layer and a head;
    `on_match` a word of A and one of B that are to be partners, nothing to undo all such pairs.
    """

    def read(name: str, **counts: int) -> list[int]:
        report = reported(key, name)
        found = [as_index(report.get(part), count) for part, count in counts.items()]
        return as_indices(found) if None not in found else []

    def opened() -> None:
        if place := read("open", layer=layers, head=heads):
            on_open(place[0], place[1])

    (layers, heads), rows = view.over.shape, len(view.names)
    a, b = map(len, view.words)
    _compare(
        key=key,
        data=view.packed(),
        on_view_change=lambda: on_hold(read("view", row=rows, column=rows)),
        on_open_change=opened,
        on_match_change=lambda: on_match(read("match", a=a, b=b)),
    )
