"""The part with the maps: a large one, rollouts, all heads, and the region that is measured."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from core.analysis.images import Region, cls_table, read_region
from core.analysis.images.cls.maps import SUMMARIES, TOP_SHARE
from core.components.cls_maps import SHARE_ENDS, View, packed, show_cls_maps
from core.components.export import standalone_page
from core.model.trace import Patches
from core.screens.class_attention import cached
from core.screens.class_attention.help import explain, headline
from core.ui import controls
from core.ui.cache import TraceKey
from core.ui.current import current_key
from core.ui.downloads import contents, offer_csv, offer_file
from core.ui.frame.layout import more
from core.ui.navigation import ask
from core.ui.place import pick_head
from core.ui.words.messages import notice, quote
from core.ui.words.prose import Prose

if TYPE_CHECKING:
    import pandas as pd

    from core.model import Trace

KEY = "cls_maps"  # of the component
SHARES = (*SHARE_ENDS, round(100 * TOP_SHARE))  # per cent of a map's mass
_words = Prose(__file__)


def pick_view(trace: Trace, patches: Patches) -> View:
    """The controls of the maps, in the row above them."""
    layer, head = pick_head(trace, heads=SUMMARIES)
    share = controls.number("mass", *SHARES)  # drawn by the picture itself
    with more():
        rollouts = controls.flag("rollouts", "Rollout over all layers", help=_words("rollouts"))
        only_patches = controls.flag(
            "only_patches", "Numbers without CLS", help=_words("only_patches")
        )
    column = head if isinstance(head, int) else trace.shape[1] + SUMMARIES.index(head)
    return View(int(layer), column, share / 100, _pick_region(patches), only_patches, rollouts)


def _pick_region(patches: Patches) -> Region | None:
    """The region of the link, or that was dragged; one that does not fit is removed, and said."""
    name = controls.text("region", "", optional=True)
    if not name:
        return None
    try:
        return read_region(name, patches.rows, patches.columns)
    except ValueError:
        notice(
            f"{quote(name)} is not a region of {patches.rows} × {patches.columns} patches; regions"
            " are written as `r1c2-r5c6`. None is marked."
        )
        st.session_state["region"] = ""
        return None


def show_maps(trace: Trace, patches: Patches, view: View) -> None:
    """The picture, how to read it, and its files."""
    key = current_key(trace.model)
    maps = cached.cls_maps(key)
    ask(headline(maps, view), "Press a small map to enlarge it.")
    held = contents("class-attention", trace.model)
    picture = held.titled("CLS attention")
    show_cls_maps(
        maps,
        patches,
        view,
        picture,
        key=KEY,
        of=repr(key),
        on_change=partial(take_change, trace.layer_labels, maps.heads),
    )
    note = explain(maps, view)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(note, width="stretch")
        offer_csv(partial(_table, key, view), held, index=False)
        title = f"CLS attention · {trace.model}"
        data = packed(maps, patches, view, picture)
        offer_file(
            "Save as HTML",
            partial(standalone_page, KEY, data, title, note, facts=held.facts),
            held,
            ".html",
            help="One file that opens offline, where regions can still be marked.",
        )


def _table(key: TraceKey, view: View) -> pd.DataFrame:
    """The numbers of every map; made anew from the cache, so that no session keeps the maps."""
    return cls_table(cached.cls_maps(key), view.share, view.region)


def take_change(layer_labels: tuple[int, ...], heads: int, changes: Mapping[str, Any]) -> None:
    """Make what was changed in the picture the page's state."""
    picked: dict[str, Any] = {}
    if "layer" in changes:
        picked["layer"] = str(layer_labels[changes["layer"]])
    if "column" in changes:
        picked["head"] = [*map(str, range(1, heads + 1)), *SUMMARIES][changes["column"]]
    if "region" in changes:
        picked["region"] = changes["region"]
    if "share" in changes:
        picked["mass"] = changes["share"]
    controls.pick(**picked)
