"""The points of one head's picture as a file that Embedding Atlas opens."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any
from weakref import ref

import numpy as np

from core.analysis.arrays import Indices
from core.atlas import Atlas
from core.atlas.one_head.table import EMBEDDING_ATLAS, embedding_atlas_file
from core.model.trace import Array
from core.screens.atlas.screen import Screen
from core.ui.downloads import Contents, offer_file


def offer_points(screen: Screen, tokens: Indices, points: Array, held: Contents) -> None:
    """A button for the points of the picture, of all tokens where all have a place in it."""
    atlas = screen.atlas
    if screen.projection == "PCA":
        tokens = np.arange(len(atlas.tokens))
        components = atlas.points[screen.stage][screen.layer, screen.head]
        points = components[:, :2].copy()  # not a view that keeps all heads
    offer_file(
        "Save as Parquet",
        partial(_file, ref(atlas), tokens, points, held.facts),
        held,
        ".parquet",
        width="stretch",
        help=f"The {2 * tokens.size:,} points of {tokens.size:,} tokens with their words and"
        f" sentences. Embedding Atlas opens it with `embedding-atlas FILE {EMBEDDING_ATLAS}`.",
    )


def _file(reference: ref[Atlas], tokens: Indices, points: Array, facts: Mapping[str, Any]) -> bytes:
    """Made when the button is pressed, which must not keep an atlas that has been dropped."""
    atlas = reference()
    if atlas is None:
        raise LookupError("This atlas is no longer in memory: open the page again, then save it.")
    return embedding_atlas_file(atlas, tokens, points, facts)
