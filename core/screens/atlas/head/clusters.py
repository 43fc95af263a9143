"""Clusters of the cloud on screen: found when asked for, named in the cloud, listed below it."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from core.analysis.arrays import Indices
from core.atlas.clusters import Cluster, Clusters, find_clusters, first_occurrences
from core.model.trace import Array
from core.screens.atlas.screen import CLUSTERS, Screen
from core.screens.atlas.wording import number, whole
from core.ui import python
from core.ui.cache.session import remembered
from core.ui.words.prose import Prose
from core.vocabulary import percent

_CACHED, _MAX_CACHED = "_atlas_clusters", 8  # pictures: stepping back and forth finds nothing anew
_WORDS = 5  # of a cluster, in the table
_words = Prose(__file__)


def clusters_of(screen: Screen, tokens: Indices, points: Array) -> Clusters | None:
    """The clusters of the drawn points (2 token, 2 or 3); None unless they are switched on."""
    if not screen.switches[CLUSTERS]:
        return None
    displays = [screen.atlas.tokens.displays[i] for i in tokens]
    firsts = first_occurrences(screen.atlas)[tokens]
    words = f"{displays} {firsts.tolist()}"
    picture = zlib.crc32(points.tobytes()), zlib.crc32(words.encode("utf-8", "replace"))

    def find() -> Clusters:
        with st.spinner("Finding clusters and shuffling their words …"):
            return find_clusters(points, displays, firsts=firsts)

    clusters = remembered(_CACHED, picture, find, _MAX_CACHED)
    if len(tokens) == len(screen.atlas.tokens):
        names = python.call(getattr, screen.atlas, "tokens.displays")
        repeats = python.call(first_occurrences, screen.atlas)
        run = python.call(find_clusters, python.Variable("points"), names, firsts=repeats)
        python.made("clusters", clusters, run)
    return clusters


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
    words = _words(
        "clusters",
        count=count,
        unnamed=unnamed,
        outside=percent(clusters.outside / points),
        shuffles=clusters.permutations,
        repeated=tokens.size - np.unique(first_occurrences(screen.atlas)[tokens]).size,
        whole=whole(screen.atlas),
    )
    st.caption(words)


def _row(screen: Screen, cluster: Cluster, tokens: Indices) -> dict[str, str | int | float]:
    positions = screen.atlas.tokens.position[tokens[cluster.points % tokens.size]]
    low, high = np.percentile(positions, (25, 75)) + 1
    words = cluster.words[:_WORDS]
    share = [f"{word.text} {percent(word.share)} (×{word.ratio:.1f})" for word in words]
    return {
        "cluster": cluster.name or "—",
        "queries": cluster.queries,
        "keys": int(cluster.points.size) - cluster.queries,
        "words, their share and × overall": " · ".join(share) or "none beyond chance",
        "p": number(words[0].p, ".3f") if words else "—",
        "half of it at positions": f"{low:.0f}–{high:.0f}",
    }
