"""CLS attention: one map large over the image, beside it all heads as small pictures, and rollouts.

A region dragged on the large image and a head that is clicked change the picture at once; the page
hears of them a moment later.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from core.analysis.images.cls.region import Region, read_region
from core.components.packing import grid_of, pack
from core.components.reported_state import as_index, changes, reported, state_to_send
from core.components.scripts import register
from core.model.trace import Patches

if TYPE_CHECKING:
    from core.analysis.images import ClsMaps

_cls_maps = register("cls_maps")

SHARE_ENDS = (10, 95)  # per cent of a map's mass that can be outlined


@dataclass(frozen=True)
class View:
    """What is shown of the maps.

    Attributes
    ----------
    layer, column : of the large map, from 0; after a layer's heads come their mean and maximum.
    share : of a map's mass, 0 to 1, on the patches that are outlined.
    region : marked by the visitor, if any.
    only_patches : whether numbers are shares of the map's own mass.
    rollouts : whether these are shown too.
    """

    layer: int
    column: int
    share: float
    region: Region | None = None
    only_patches: bool = False
    rollouts: bool = False


def packed(
    maps: ClsMaps,
    patches: Patches,
    view: View,
    picture: Mapping[str, Any] | None = None,
    serial: int = 0,
) -> bytes:
    """What the component receives.

    `picture` is the name and the facts of a saved picture. With a new `serial` the component takes
    the layer, column, share and region of `view`; else it keeps its own.
    """
    region = view.region
    settings = {
        "grid": grid_of(patches),
        "layerLabels": list(maps.layer_labels),
        "heads": maps.heads,
        "source": maps.source,
        "exact": maps.exact,
        "serial": serial,
        "layer": view.layer,
        "column": view.column,
        "share": view.share,
        "shareEnds": SHARE_ENDS,
        "region": region and [region.top, region.left, region.bottom, region.right],
        "onlyPatches": view.only_patches,
        "picture": picture,
    }
    rollouts = maps.rollouts if view.rollouts else maps.rollouts[:0]
    return pack(settings, pixels=patches.pixels, maps=maps.by_head, rollouts=rollouts)


def show_cls_maps(
    maps: ClsMaps,
    patches: Patches,
    view: View,
    picture: Mapping[str, Any],
    *,
    key: str,
    of: str,
    on_change: Callable[[Mapping[str, Any]], None],
) -> None:
    """Draw the maps; moving and dragging never ask the server.

    Parameters
    ----------
    picture : as for :func:`packed`.
    of : names the image and the model; for another one the component takes the whole `view`.
    on_change : called with what a visitor has changed: `layer` and `column` of the large map (from
        0), `share` (in per cent) or the name of a `region` (empty: removed; unchecked).
    """
    sent, serial = state_to_send(key, {**_state_of(view), "of": of})
    shape = maps.by_head.shape[:2]  # the callback keeps no maps
    _cls_maps(
        key=key,
        data=packed(maps, patches, _as_sent(view, sent, patches), picture, serial),
        on_view_change=lambda: on_change(changes(key, checked(reported(key, "view"), shape))),
    )


def checked(report: Mapping[str, Any], shape: Sequence[int]) -> dict[str, Any]:
    """What of a report can be: numbers in their ranges, a text as the region. Others are left out.

    `shape` is of the maps (layer, column).
    """
    first, last = SHARE_ENDS
    numbers = {
        "layer": as_index(report.get("layer"), shape[0]),
        "column": as_index(report.get("column"), shape[1]),
        "share": as_index(report.get("share"), last + 1, first),
    }
    state = {name: number for name, number in numbers.items() if number is not None}
    region = report.get("region")
    return {**state, "region": region} if isinstance(region, str) else state


def _state_of(view: View) -> dict[str, Any]:
    """What the component changes by itself, as it reports it."""
    return {
        "layer": view.layer,
        "column": view.column,
        "share": round(100 * view.share),
        "region": "" if view.region is None else view.region.name,
    }


def _as_sent(view: View, sent: Mapping[str, Any], patches: Patches) -> View:
    """The view with the state that was sent last, in place of what was reported since."""
    name = sent["region"]
    return replace(
        view,
        layer=sent["layer"],
        column=sent["column"],
        share=sent["share"] / 100,
        region=read_region(name, patches.rows, patches.columns) if name else None,
    )
