"""Points and arrows in panels: the compact data that is sent, and what is reported."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from core.analysis.layers import LayerRows, place_layers
from core.components.export import standalone_page
from core.components.packing import grid_of, pack
from core.components.reported_state import as_index, as_indices, reported
from core.components.scripts import register_component
from core.model.trace import Patches

_points = register_component("points")

_STEPS = 65535  # per side of a frame: a uint16 for each coordinate
_UNKNOWN = -1.0  # in place of half a side, if a head's points are not all finite
_GAP = 0.18  # for layers without attention, as a share of a tile's height
# What screen readers say of a picture.
_CLOUD = (
    "{} queries and {} keys; arrow keys step from point to point, Enter pins one, Escape unpins"
)
_HEADS = "{} layers down, {} heads across, {} tokens in each; arrow keys move, Enter opens a head"


@dataclass(frozen=True, eq=False, kw_only=True)
class Coloured:
    """Queries and keys, and what their colours stand for.

    Attributes
    ----------
    labels : one per token.
    colouring : "type" tells queries from keys; "sequential" and "category" follow the tones.
    legend : the ends of the scale, or one name per category.
    shades : for the themes "light" and "dark" the colours of queries and of keys: one per step of a
        scale, or one per category.
    picture : the name and the facts of a saved picture.
    """

    labels: Sequence[str]
    colouring: str = "type"
    legend: Sequence[str] = ()
    shades: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict)
    picture: Mapping[str, Any] | None = None

    def pack(
        self, settings: dict[str, Any], tones: NDArray[Any], **arrays: NDArray[Any] | None
    ) -> bytes:
        """What the component receives; an array that is None is sent empty."""
        colours = {
            "colouring": self.colouring,
            "legend": list(self.legend),
            "shades": {} if self.colouring == "type" else dict(self.shades),
            "labels": list(self.labels),
            "picture": self.picture,
        }
        nothing = np.zeros(0, dtype=np.uint8)
        sent = {name: nothing if array is None else array for name, array in arrays.items()}
        return pack(colours | settings, tones=self.numbered(tones), **sent)

    def numbered(self, tones: NDArray[Any]) -> NDArray[Any]:
        """The number of each tone's colour, from 1; 0, the colour of its kind, for nan and if
        colouring is by type. uint8 for fewer than 256 colours, else uint16.
        """
        if self.colouring == "type":
            return np.zeros(tones.shape, dtype=np.uint8)
        count = len(self.shades["light"][0])
        steps = tones * (count - 1) if self.colouring == "sequential" else tones
        numbers = np.nan_to_num(1 + np.rint(steps).clip(0, count - 1), nan=0)
        return numbers.astype(np.uint8 if count < 256 else np.uint16)


@dataclass(frozen=True, eq=False)
class Panel:
    """One panel of queries and keys.

    Attributes
    ----------
    title : above the points.
    notes : lines of text below them.
    points : (query + key, 2), queries first.
    tones : (query + key,), what colours stand for: 0 to 1, or whole numbers for categories.
    axes : the names of both axes; empty for no names.
    group : the head whose lines it shows, an index into ``Clouds.lines``.
    """

    title: str
    notes: Sequence[str]
    points: NDArray[np.float64]
    tones: NDArray[np.float64]
    axes: Sequence[str] = ()
    group: int = 0


@dataclass(frozen=True, eq=False, kw_only=True)
class Clouds(Coloured):
    """Queries and keys of one sentence or image: what the panels share.

    Attributes
    ----------
    panels : in reading order.
    lines : for each head, (line, 4): query, key, attention, and 1 for a query's strongest; the
        strongest last.
    heads : the name of each head, e.g. "L4 H2".
    columns : maximum number of panels in a row; fewer on narrow screens.
    sources, targets : these queries and keys are ringed; a line from one to the other is red where
        it is the query's strongest, else dashed.
    key_labels : labels of the keys, if they are other tokens than the queries.
    shown, shown_keys : positions of the queries and keys that are drawn (the same unless given);
        lines to others are counted in a note.
    patches : of the image whose patches the points are, if any, at the size at which they are
        drawn. Tones that are nan then have the colour of their kind.
    partners : (query + key, 2), for each query the key that it attends to most, for each key the
        query that attends to it most; and that attention. Only for images.
    pinned : the only point whose lines are shown, "q" or "k" and its position from 1.
    """

    panels: Sequence[Panel]
    lines: Sequence[NDArray[np.float64]]
    heads: Sequence[str]
    columns: int = 3
    sources: Sequence[int] = ()
    targets: Sequence[int] = ()
    key_labels: Sequence[str] | None = None
    shown: Sequence[int] = ()
    shown_keys: Sequence[int] | None = None
    patches: Patches | None = None
    partners: NDArray[np.float64] | None = None
    pinned: str | None = None

    def packed(self) -> bytes:
        """What the component receives."""
        shown_keys = self.shown if self.shown_keys is None else self.shown_keys
        counts = len(self.shown), len(shown_keys)
        settings = {name: vars(self)[name] for name in ("heads", "columns", "sources", "targets")}
        settings |= {
            "kind": "clouds",
            "keyLabels": self.key_labels and list(self.key_labels),
            "titles": [panel.title for panel in self.panels],
            "described": [f"{panel.title}: {_CLOUD.format(*counts)}" for panel in self.panels],
            "axes": [list(panel.axes) for panel in self.panels],
            "notes": [list(panel.notes) for panel in self.panels],
            "groups": [panel.group for panel in self.panels],
            "lineCounts": [len(lines) for lines in self.lines],
            "shown": [*self.shown, *(place + len(self.labels) for place in shown_keys)],
            "pinned": self.pinned,
            "grid": self.patches and grid_of(self.patches),
        }
        return self.pack(
            settings,
            np.stack([panel.tones for panel in self.panels]),
            places=np.stack([panel.points for panel in self.panels]),
            lines=np.vstack([lines.reshape(-1, 4) for lines in self.lines]),
            pixels=None if self.patches is None else self.patches.pixels,
            partners=self.partners,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class AtlasCloud(Coloured):
    """Queries and keys of the tokens of a corpus, in all heads or in one.

    A tile with a point that is not finite has not been projected yet; it stays empty and says so.

    Attributes
    ----------
    points : (layer * head, 2 token, 2); for one head, the first axis may be missing. Queries come
        first; one scale for both axes.
    tones : ([layer * head,] 2 token), what colours stand for: 0 to 1, or whole numbers for
        categories.
    positions : each token's position in its sentence, from 0; people see it counted from 1.
    sentence : each token's sentence, an index into ``texts``.
    texts : the sentences.
    matches : (token,), whether a search found it.
    searching : tokens that do not match fade, even if none matches.
    sprites : for images, uint8 (token, side, side, 3): each patch's pixels, drawn in place of its
        point where there is room; `patched` says which tokens are patches.
    layer_labels, depth : the layers' numbers, as people read them, and how many the model has.
    heads : number of heads in each layer.
    chosen : layer and head, from 0, of the tile with an outline.
    title : the name of a head that fills the picture, e.g. "L4 H2". The rest is only for this.
    picked : a token whose sentence is highlighted, both its queries and its keys.
    lines : (line, 3), in the picked token's sentence: query token, key token, attention.
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

        Raises ValueError if the points do not fit the heads and labels.
        """
        is_one = self.title is not None
        rows = LayerRows(self.layer_labels, (1.0,), (), 1.0) if is_one else place_layers(self, _GAP)
        layer, head = self.chosen or (0, -1)
        shape = len(self.layer_labels) * self.heads, 2 * len(self.labels), 2
        places, frames = quantise_points(self.points.reshape(shape))
        window = places.tobytes() if is_one else repr((shape[0], self.layer_labels)).encode()
        lines = np.zeros((0, 3)) if self.lines is None else self.lines
        ranked = lines[np.argsort(lines[:, 2], kind="stable")]  # the strongest are drawn last
        count, side = (0, 0) if self.sprites is None else self.sprites.shape[:2]
        settings = {
            "kind": "head" if is_one else "heads",
            "titles": [self.title or ""],
            "described": [
                f"{self.title}: {len(self.labels):,} queries and as many keys"
                if is_one
                else _HEADS.format(len(self.layer_labels), self.heads, len(self.labels))
            ],
            "window": crc32(window),  # with another number, the whole is shown
            "numbers": rows.layer_labels,
            "tops": [place - 1 for place in rows.places],
            "high": rows.end,
            "gaps": [(gap.place - 0.5, gap.name) for gap in rows.gaps],
            "heads": self.heads,
            "chosen": layer * self.heads + head,
            "texts": list(self.texts),
            "searching": self.searching,
            "grid": {"columns": 1, "first": 0, "count": count, "size": side} if count else None,
            "picked": -1 if self.picked is None else self.picked,
            "lineCounts": [len(ranked)],
        }
        return self.pack(
            settings,
            self.tones,
            places=places,
            unplaced=(frames[:, 2] < 0).astype(np.uint8),
            lines=np.pad(ranked, ((0, 0), (0, 1))),
            positions=np.asarray(self.positions, dtype=np.uint16),
            sentence=np.asarray(self.sentence, dtype=np.uint16),
            matches=np.asarray(self.matches, dtype=np.uint8),
            pixels=self.sprites,
            patched=None if self.patched is None else self.patched.astype(np.uint8),
        )


def quantise_points(points: NDArray[Any]) -> tuple[NDArray[np.uint16], NDArray[np.float32]]:
    """Points as whole steps in a square around each head's cloud, so that axes stay equal.

    Parameters
    ----------
    points : (head, point, 2).

    Returns
    -------
    Steps from the frame's lowest corner, of the same shape; and (head, 3): the frame's middle and
    half its side, in units of the points. Half a side is -1 if a point of the head is not finite.
    A point is off by at most half a step, the side / 131070.
    """
    known = np.asarray(np.isfinite(points).all(axis=(1, 2)))
    clean = np.where(known[:, None, None], points, 0)
    low, high = clean.min(axis=1, initial=np.inf), clean.max(axis=1, initial=-np.inf)
    if not points.shape[1]:
        low = high = np.zeros((len(points), 2))
    middle = (low + high) / 2
    half = (high - low).max(axis=1) / 2
    side = np.where(half > 0, 2 * half, 1)
    shares = (clean - middle[:, None]) / side[:, None, None] + 0.5
    steps = np.rint(_STEPS * shares).clip(0, _STEPS).astype(np.uint16)
    frames = np.column_stack([middle, np.where(known, half, _UNKNOWN)])
    return steps, frames.astype(np.float32)


def restore_points(steps: NDArray[np.uint16], frames: NDArray[np.float32]) -> NDArray[np.float32]:
    """Undo :func:`quantise_points`, up to rounding: points in the plane, (head, point, 2)."""
    middle, half = frames[:, None, :2], frames[:, None, 2:]
    points: NDArray[np.float32] = middle + half * (2 / _STEPS * steps.astype(np.float32) - 1)
    return points


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
        "titles": list(titles),
        "described": [f"{title}: {count} arrows; arrow keys read them{holds}" for title in titles],
        "captions": list(notes),
        "count": count,
        "arrows": [arrow._asdict() for arrow in arrows],
        "held": list(held),
        "rightAngle": right_angle,
        "legend": legend,
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
    on_pin: Callable[[str | None], None] | None = None,
) -> None:
    """Draw queries and keys; pointing, moving and zooming never ask the server.

    Parameters
    ----------
    on_open : called with the numbers of layer and head each time a head is opened.
    on_pick : called with a token when one of its points is clicked, with None when it is released.
    on_pin : called with the new pin (an unchecked name) when a point is clicked, or None.
    """
    count = len(cloud.labels)  # so that the callbacks do not hold on to the cloud

    def opened() -> None:
        head = reported(key, "open")
        layer, number = as_index(head.get("layer")), as_index(head.get("head"))
        if on_open is not None and layer is not None and number is not None:
            on_open(layer, number)

    def picked() -> None:
        if on_pick is not None:
            on_pick(as_index(reported(key, "pick").get("token"), count))

    def pinned() -> None:
        point = reported(key, "pin").get("point")
        if on_pin is not None:
            on_pin(point if isinstance(point, str) else None)

    _points(
        key=key,
        data=cloud.packed(),
        on_open_change=opened,
        on_pick_change=picked,
        on_pin_change=pinned,
    )


def points_page(
    cloud: Clouds | AtlasCloud,
    title: str,
    note: str,
    body: str = "",
    facts: Mapping[str, Any] | None = None,
) -> str:
    """The view as one HTML file that opens without internet; `body` is HTML above it."""
    return standalone_page("points", cloud.packed(), title, note, body, facts)
