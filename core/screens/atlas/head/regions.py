"""Regions of the cloud on screen: found when asked for, named in the cloud, listed below it."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st

from core.analysis.atlas.regions import find_regions
from core.screens.atlas.screen import REGIONS, switch
from core.screens.atlas.wording import number

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from core.analysis.atlas.regions import Region, Regions
    from core.model.trace import Array
    from core.screens.atlas.screen import Screen

    Indices = NDArray[np.intp]

_CACHED, _MAX_CACHED = "_atlas_regions", 8  # pictures: stepping back and forth finds nothing anew
_WORDS = 5  # of a region, in the table


def regions_of(screen: Screen, tokens: Indices, points: Array) -> Regions | None:
    """The regions of the drawn points (2 token, 2 or 3); None unless they are switched on."""
    if not switch(REGIONS):
        return None
    displays = [screen.atlas.tokens.displays[i] for i in tokens]
    picture = zlib.crc32(points.tobytes()), zlib.crc32(repr(displays).encode("utf-8", "replace"))
    cached: dict[tuple[int, int], Regions] = st.session_state.setdefault(_CACHED, {})
    if picture not in cached:
        with st.spinner("Finding regions and shuffling their words …"):
            cached[picture] = find_regions(points, displays)
        for oldest in list(cached)[:-_MAX_CACHED]:
            cached.pop(oldest, None)
    return cached[picture]


def region_marks(regions: Regions | None, point_count: int) -> dict[str, Any]:
    """What the cloud is told of its regions."""
    if regions is None:
        return {}
    members = np.full(point_count, -1, dtype=np.int16)
    for index, region in enumerate(regions.regions):
        members[region.points] = index
    return {
        "regions": [(each.name, each.middle, each.edge.tolist()) for each in regions.regions],
        "members": members,
    }


def show_regions(screen: Screen, regions: Regions, tokens: Indices) -> None:
    """The regions as a table, with how they were found and what has no name."""
    count, unnamed = len(regions.regions), len(regions.regions) - len(regions.named)
    points = 2 * tokens.size
    if not count:
        st.caption(f"No regions: nowhere do these {points:,} points lie densely together.")
        return
    table = pd.DataFrame([_row(screen, region, tokens) for region in regions.regions])
    st.dataframe(table, key="atlas_regions", hide_index=True)
    names = "all of them have a name" if not unnamed else f"**{unnamed}** of them without a name"
    st.caption(
        f"**{count}** regions, {names}: dense groups in this picture (HDBSCAN, each at least 1 % of"
        f" the points); {regions.outside / points:.0%} of the points lie in none. A name is up to"
        " three words, each 3 % of the region's points or more, at least 1.5 times as frequent"
        " there as in the whole picture, and beyond chance: the words of all tokens were shuffled"
        f" {regions.permutations} times, and p is how often the most surprising word of any region"
        " was then as surprising as this one (so it is corrected for words and regions; at most"
        " 0.05). The menu above the cloud chooses the points of a region."
    )


def _row(screen: Screen, region: Region, tokens: Indices) -> dict[str, str | int | float]:
    positions = screen.atlas.tokens.position[tokens[region.points % tokens.size]]
    low, high = np.percentile(positions, (25, 75)) + 1
    words = region.words[:_WORDS]
    share = [
        f"{word.text} {word.inside / region.points.size:.0%} (×{word.ratio:.1f})" for word in words
    ]
    return {
        "region": region.name or "—",
        "queries": region.queries,
        "keys": int(region.points.size) - region.queries,
        "words, their share and × overall": " · ".join(share) or "none beyond chance",
        "p": number(words[0].p, ".3f") if words else "—",
        "half of it at positions": f"{low:.0f}–{high:.0f}",
    }
