"""Points and arrows in panels: the compact data that is sent, and what is reported."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from core.analysis.layers import place_layers
from core.components.export import standalone_page
from core.components.packing import grid_of, pack, quantise_points
from core.components.reported_state import as_index, as_indices, reported
from core.components.scripts import register_component
from core.model.trace import Patches

_points = register_component("points")

_GAP = 0.18  # for layers without attention, as a share of a tile's height
_CLOUD = "{}: {} queries and {} keys; arrow keys step through them, Enter pins, Escape unpins"
_HEADS = "{} layers down, {} heads across, {} tokens in each; arrow keys step, Enter opens a head"
_nothing: Any = partial(np.zeros, 0, dtype=np.uint8)


@dataclass(frozen=True, eq=False, kw_only=True)
class _Coloured:
    """Queries and keys, what their colours stand for, and where in a corpus they are.

    Attributes
    ----------
    labels : one per token.
    colouring : "type" tells queries from keys; "sequential" and "category" follow the tones.
    legend : the ends of the scale, or one name per category.
    shades : for the themes "light" and "dark" the colours of queries and of keys: one per step of a
        scale, or one per category.
    picture : the name and the facts of a saved picture.
    reading : what is below the picture while no point is read.
    patches : of the image whose patches the points are, if any, at the size at which they are
        drawn. Tones that are nan then have the colour of their kind.
    patched : whether each of the patches is one; if empty, all are.
    texts : the sentences of a corpus; the rest is only for those.
    sentence, position : each token's sentence, an index into `texts`, and its place there, from 0.
    spans : (token, 2), its first character in the sentence, and the one after its last.
    matches : (token,), whether a search found it; others fade. Empty without a search.
    """

    labels: Sequence[str]
    colouring: str = "type"
    legend: Sequence[str] = ()
    shades: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict)
    picture: Mapping[str, Any] | None = None
    reading: str = "Point at a dot for its lines, press to pin them."
    patches: Patches | None = None
    patched: NDArray[np.bool_] = field(default_factory=_nothing)
    texts: Sequence[str] = ()
    sentence: NDArray[np.intp] = field(default_factory=_nothing)
    position: NDArray[np.intp] = field(default_factory=_nothing)
    spans: NDArray[np.intp] = field(default_factory=_nothing)
    matches: NDArray[np.bool_] = field(default_factory=_nothing)

    def pack(self, settings: dict[str, Any], tones: NDArray[Any], **arrays: NDArray[Any]) -> bytes:
        """What the component receives. Of each tone the number of its colour is sent, from 1; 0,
        the colour of its kind, for nan and if colouring is by type.
        """
        numbers = np.zeros(tones.shape, dtype=np.uint8)
        if self.colouring != "type":
            last = len(self.shades["light"][0]) - 1
            steps = tones * last if self.colouring == "sequential" else tones
            numbers = np.nan_to_num(1 + np.rint(steps).clip(0, last), nan=0)
            numbers = numbers.astype(np.uint8 if last < 255 else np.uint16)
        names = ("labels", "colouring", "legend", "shades", "picture", "reading", "texts")
        shared = {name: vars(self)[name] for name in names}
        shared["grid"] = self.patches and grid_of(self.patches)
        arrays |= {name: vars(self)[name] for name in ("sentence", "position", "spans")}
        arrays |= {name: vars(self)[name].astype(np.uint8) for name in ("matches", "patched")}
        if self.patches:
            arrays["pixels"] = self.patches.pixels
        return pack(shared | settings, tones=numbers, **arrays)


@dataclass(frozen=True, eq=False)
class Panel:
    """One panel of queries and keys.

    Attributes
    ----------
    title : above the points.
    notes : lines of text below them.
    points : (query + key, 2), queries first.
    tones : (query + key,), what colours stand for: 0 to 1, or whole numbers for categories.
    lines : (line, 4): query, key, attention, and 1 for a query's strongest; the strongest last. Of
        a corpus, those of the pinned token's sentence.
    """

    title: str
    notes: Sequence[str]
    points: NDArray[np.floating[Any]]
    tones: NDArray[np.floating[Any]]
    lines: NDArray[np.floating[Any]] = field(default_factory=_nothing)


@dataclass(frozen=True, eq=False, kw_only=True)
class Clouds(_Coloured):
    """Queries and keys of a sentence or an image, or of a corpus in one head: what panels share.

    Attributes
    ----------
    panels : in reading order.
    columns : maximum number of panels in a row; fewer on narrow screens.
    sources, targets : these queries and keys are ringed; a line from one to the other is red where
        it is the query's strongest, else dashed.
    key_labels : labels of the keys, if they are other tokens than the queries.
    shown, shown_keys : positions of the queries and keys that are drawn, the same unless given; if
        empty, all. Lines to others are counted in a note.
    pinned : the only point whose lines are shown; of a corpus, the token whose sentence is.
    """

    panels: Sequence[Panel]
    columns: int = 3
    sources: Sequence[int] = ()
    targets: Sequence[int] = ()
    key_labels: Sequence[str] | None = None
    shown: Sequence[int] = ()
    shown_keys: Sequence[int] | None = None
    pinned: int | None = None

    def packed(self) -> bytes:
        """What the component receives."""
        count = len(self.labels)
        shown_keys = self.shown if self.shown_keys is None else self.shown_keys
        counts = len(self.shown) or count, len(shown_keys) or len(self.key_labels or self.labels)
        places = np.stack([panel.points for panel in self.panels])
        settings = {name: vars(self)[name] for name in ("columns", "sources", "targets")}
        settings |= {
            "kind": "clouds",
            "keyLabels": self.key_labels,
            "titles": [panel.title for panel in self.panels],
            "described": [_CLOUD.format(panel.title, *counts) for panel in self.panels],
            "notes": [panel.notes for panel in self.panels],
            "lineCounts": [len(panel.lines) for panel in self.panels],
            "shown": [*self.shown, *(place + count for place in shown_keys)],
            "pinned": -1 if self.pinned is None else self.pinned,
            "window": crc32(places.tobytes()),  # with another number, all is shown
        }
        return self.pack(
            settings,
            np.stack([panel.tones for panel in self.panels]),
            places=places,
            lines=np.vstack([panel.lines.reshape(-1, 4) for panel in self.panels]),
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class AtlasCloud(_Coloured):
    """Queries and keys of the tokens of a corpus, in all heads.

    A tile with a point that is not finite has not been projected yet; it stays empty and says so.

    Attributes
    ----------
    points : (layer * head, 2 token, 2). Queries come first; one scale for both axes.
    tones : ([layer * head,] 2 token), what colours stand for: 0 to 1, or whole numbers for
        categories.
    layer_labels, depth : the layers' numbers, as people read them, and how many the model has.
    across : number of heads in each layer.
    chosen : layer and head, from 0, of the tile with an outline.
    """

    points: NDArray[np.float32]
    tones: NDArray[np.floating[Any]]
    layer_labels: tuple[int, ...]
    across: int
    depth: int | None = None
    chosen: tuple[int, int] | None = None

    def packed(self) -> bytes:
        """What the component receives: 2 bytes per coordinate, 1 or 2 per colour.

        Raises ValueError if the points do not fit the heads and labels.
        """
        rows, count = place_layers(self, _GAP), len(self.labels)
        layer, head = self.chosen or (0, -1)
        places, frames = quantise_points(
            self.points.reshape(len(self.layer_labels) * self.across, 2 * count, 2)
        )
        settings = {
            "kind": "heads",
            "titles": [""],
            "described": [_HEADS.format(len(self.layer_labels), self.across, count)],
            "numbers": rows.layer_labels,
            "tops": [place - 1 for place in rows.places],
            "high": rows.end,
            "gaps": [(gap.place - 0.5, gap.name) for gap in rows.gaps],
            "across": self.across,
            "chosen": layer * self.across + head,
            "window": crc32(repr((self.layer_labels, self.across)).encode()),
        }
        unplaced = (frames[:, 2] < 0).astype(np.uint8)
        return self.pack(settings, self.tones, places=places, unplaced=unplaced)


class Arrow(NamedTuple):
    """One arrow of every plane: its label, its colour, and its name on hover."""

    label: str
    colour: str
    name: str


def show_planes(
    coordinates: NDArray[np.float64],
    arrows: Sequence[Arrow],
    titles: Sequence[str],
    notes: Sequence[str],
    *,
    key: str,
    held: Sequence[int] = (),
    right_angle: bool = False,
    legend: bool = False,
    on_pick: Callable[[list[int]], None] | None = None,
    picture: Mapping[str, Any] | None = None,
) -> None:
    """Draw the planes in a grid that fits the width; axes are equal, arrows start at the origin.

    Parameters
    ----------
    coordinates : (plane, arrow, 2).
    arrows : one for each entry of the second axis.
    titles, notes : one per plane.
    held : arrows that are coloured while the others are grey; if none is held, all are coloured.
    right_angle : mark that the last arrow is the projection of the one before it onto the first.
    legend : name every arrow beside its colour, below the planes.
    on_pick : called with the arrows to hold when one is clicked; without it, clicks do nothing.
    picture : the name and the facts of a saved picture.
    """
    count = len(arrows)  # so that the callback does not hold on to the labels

    def take_pick() -> None:
        if on_pick is not None:
            on_pick(as_indices(reported(key, "pick").get("arrows"), count))

    holds = "" if on_pick is None else ", Enter holds one"
    settings = {
        "kind": "arrows",
        "titles": titles,
        "described": [f"{title}: {count} arrows; arrow keys read them{holds}" for title in titles],
        "captions": notes,
        "columns": len(titles),
        "labels": [arrow.label for arrow in arrows],
        "keyLabels": [],
        "texts": [],
        "arrows": [arrow._asdict() for arrow in arrows],
        "held": held,
        "rightAngle": right_angle,
        "showsLegend": legend,
        "canPick": on_pick is not None,
        "picture": picture,
    }
    _points(key=key, data=pack(settings, places=coordinates), on_pick_change=take_pick)


def show_points(
    cloud: Clouds | AtlasCloud,
    *,
    key: str,
    on_open: Callable[[int, int], None] | None = None,
    on_pick: Callable[[int | None], None] | None = None,
) -> None:
    """Draw queries and keys; pointing, moving and zooming never ask the server.

    Parameters
    ----------
    on_open : called with the numbers of layer and head each time a head is opened.
    on_pick : called with a point when one is pinned, of a corpus with its token; with None when it
        is released.
    """
    keys = getattr(cloud, "key_labels", None) or cloud.labels
    count = len(cloud.labels) + len(keys)  # so that the callbacks do not hold on to the cloud

    def opened() -> None:
        head = reported(key, "open")
        layer, number = as_index(head.get("layer")), as_index(head.get("head"))
        if on_open is not None and layer is not None and number is not None:
            on_open(layer, number)

    def picked() -> None:
        if on_pick is not None:
            on_pick(as_index(reported(key, "pick").get("point"), count))

    _points(key=key, data=cloud.packed(), on_open_change=opened, on_pick_change=picked)


def points_page(
    cloud: Clouds | AtlasCloud,
    title: str,
    note: str,
    body: str = "",
    facts: Mapping[str, Any] | None = None,
) -> str:
    """The view as one HTML file that opens without internet; `body` is HTML above it."""
    return standalone_page("points", cloud.packed(), title, note, body, facts)
