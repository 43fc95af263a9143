"""Clusters of the cloud on screen: found when asked for, named in the cloud, listed below it."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from core.atlas.clusters import Cluster, Clusters, find_clusters, first_occurrences
from core.model.trace import Array
from core.screens.atlas.screen import CLUSTERS, Screen, switch
from core.screens.atlas.wording import number, whole
from core.ui import python

if TYPE_CHECKING:
    Indices = NDArray[np.intp]

_CACHED, _MAX_CACHED = "_atlas_clusters", 8  # pictures: stepping back and forth finds nothing anew
_WORDS = 5  # of a cluster, in the table


def clusters_of(screen: Screen, tokens: Indices, points: Array) -> Clusters | None:
    """The clusters of the drawn points (2 token, 2 or 3); None unless they are switched on."""
    if not switch(CLUSTERS):
        return None
    displays = [screen.atlas.tokens.displays[i] for i in tokens]
    firsts = first_occurrences(screen.atlas)[tokens]
    words = f"{displays} {firsts.tolist()}"
    picture = zlib.crc32(points.tobytes()), zlib.crc32(words.encode("utf-8", "replace"))
    cached: dict[tuple[int, int], Clusters] = st.session_state.setdefault(_CACHED, {})
    if picture not in cached:
        with st.spinner("Finding clusters and shuffling their words …"):
            cached[picture] = find_clusters(points, displays, firsts=firsts)
        for oldest in list(cached)[:-_MAX_CACHED]:
            cached.pop(oldest, None)
    if len(tokens) == len(screen.atlas.tokens):
        names = python.call(getattr, python.call(getattr, screen.atlas, "tokens"), "displays")
        repeats = python.call(first_occurrences, screen.atlas)
        run = python.call(find_clusters, python.Variable("points"), names, firsts=repeats)
        python.made("clusters", cached[picture], run)
    return cached[picture]


def cluster_marks(clusters: Clusters | None, point_count: int) -> dict[str, Any]:
    """What the cloud is told of its clusters."""
    if clusters is None:
        return {}
    members = np.full(point_count, -1, dtype=np.int16)
    for index, cluster in enumerate(clusters.clusters):
        members[cluster.points] = index
    return {
        "clusters": [(each.name, each.middle, each.edge.tolist()) for each in clusters.clusters],
        "members": members,
    }


def show_clusters(screen: Screen, clusters: Clusters, tokens: Indices) -> None:
    """The clusters as a table, with how they were found and what has no name."""
    count, unnamed = len(clusters.clusters), len(clusters.clusters) - len(clusters.named)
    points = 2 * tokens.size
    if not count:
        st.caption(f"No clusters: nowhere do these {points:,} points lie densely together.")
        return
    table = pd.DataFrame([_row(screen, cluster, tokens) for cluster in clusters.clusters])
    st.dataframe(table, key="atlas_clusters", hide_index=True)
    repeated = tokens.size - np.unique(first_occurrences(screen.atlas)[tokens]).size
    names = "all of them have a name" if not unnamed else f"**{unnamed}** of them without a name"
    st.caption(
        f"**{count}** clusters, {names}: dense groups in this picture (HDBSCAN, each at least 1 %"
        f" of the points); {clusters.outside / points:.0%} of the points lie in none. A name is up"
        " to three words, each 3 % of the cluster's points or more, at least 1.5 times as frequent"
        " there as in the whole picture, and beyond chance: the words were shuffled"
        f" {clusters.permutations} times over all tokens, and p is how often the most surprising"
        " word of any cluster was then as surprising as this one (so it is corrected for words and"
        f" clusters; at most 0.05).{_describe_repeats(screen, repeated)} Any word may then stand"
        " at any token, so one that keeps to a few sentences or to one place in them counts as if"
        " it were spread. The menu above the cloud chooses the points of a cluster."
    )


def _describe_repeats(screen: Screen, repeated: int) -> str:
    """What of the drawn tokens is in sentences that were there before."""
    if not repeated:
        return ""
    verb = "is" if repeated == 1 else "are"
    return (
        f" {repeated:,} of the tokens {verb} in {whole(screen.atlas)} that repeat an earlier one,"
        " and share its cluster, but do not count."
    )


def _row(screen: Screen, cluster: Cluster, tokens: Indices) -> dict[str, str | int | float]:
    positions = screen.atlas.tokens.position[tokens[cluster.points % tokens.size]]
    low, high = np.percentile(positions, (25, 75)) + 1
    words = cluster.words[:_WORDS]
    share = [f"{word.text} {word.share:.0%} (×{word.ratio:.1f})" for word in words]
    return {
        "cluster": cluster.name or "—",
        "queries": cluster.queries,
        "keys": int(cluster.points.size) - cluster.queries,
        "words, their share and × overall": " · ".join(share) or "none beyond chance",
        "p": number(words[0].p, ".3f") if words else "—",
        "half of it at positions": f"{low:.0f}–{high:.0f}",
    }
