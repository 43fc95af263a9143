"""The points in a lasso or a cluster: the most common tokens, and each with its sentence."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from weakref import ref

import numpy as np
import pandas as pd
import streamlit as st

from core.analysis.arrays import Floats, Indices
from core.atlas import Atlas
from core.atlas.one_head.table import PointRows, point_rows, points_inside
from core.model.trace import Array
from core.screens.atlas.head.points_file import frame_of
from core.screens.atlas.screen import Screen, contents_of
from core.screens.atlas.wording import number, whole
from core.ui import python
from core.ui.downloads import offer_csv
from core.ui.words.prose import Prose
from core.vocabulary import Stage, percent

CHOSEN = "_atlas_chosen"  # a Choice
_COMMON = 12  # tokens listed by how often they are chosen
_ROWS = 200  # points listed with their sentences; the file has all
_words = Prose(__file__)


@dataclass(frozen=True, eq=False)
class Choice:
    """What a lasso, a cluster or a search has chosen.

    Attributes
    ----------
    tokens : those that were drawn.
    points : chosen among theirs, queries first.
    outline : the lasso's corners (corner, 2) in the plane, where it chose all that is inside.
    place : layer, head and stage of the picture it was drawn in.
    """

    tokens: Indices
    points: Indices
    outline: Floats | None
    place: tuple[int, int, Stage]


def show_chosen(screen: Screen, tokens: Indices, points: Array) -> None:
    """The most common tokens of what is chosen, then every point with its sentence, and a file.

    The choice stays when the head changes, and goes when the drawn tokens do, as in the cloud.
    `points` are those of the drawn tokens, (2 token, 2 or 3).
    """
    chosen: Choice | None = st.session_state.get(CHOSEN)
    if chosen is None or not chosen.points.size or not np.array_equal(chosen.tokens, tokens):
        return
    indices, columns = chosen.points, screen.atlas.tokens
    inside = tokens[indices % tokens.size]
    queries = int((indices < tokens.size).sum())
    position = number(float(columns.position[inside].mean()) + 1, ".1f")
    st.markdown(
        f"**Chosen:** {queries:,} queries and {indices.size - queries:,} keys; mean position"
        f" {position} in their {whole(screen.atlas)}."
    )
    st.dataframe(
        _common(screen.atlas, inside), key="atlas_lasso", hide_index=True, height="content"
    )
    table = point_rows(screen.atlas, tokens, points, indices[:_ROWS]).frame()
    table = table[["point", "token", "sentence"]]
    table = table.rename(columns={"sentence": whole(screen.atlas, 1)})
    st.dataframe(table, key="atlas_chosen", hide_index=True)
    of_file = _points_of_file(screen, chosen, points)
    count = of_file[-1].size
    if count > _ROWS:
        words = _words(
            "rows_of_the_file",
            listed=_ROWS,
            chosen=chosen.points.size,
            count=count,
            drawn=chosen.tokens.size,
            size=len(columns),
        )
        st.caption(words)
    held = contents_of(screen, f"{screen.file_name}-chosen")
    make = partial(frame_of, ref(screen.atlas), *of_file)
    _note(screen, *of_file)
    offer_csv(make, held, index=False, float_format="%.6g", key="atlas_chosen_csv")


def _note(screen: Screen, tokens: Indices, points: Array, chosen: Indices) -> None:
    """The table of the file, where all tokens are drawn, so that places in it say which."""
    if tokens.size == len(screen.atlas.tokens) and points is not None:
        every = python.call(np.arange, int(tokens.size))
        places = python.call(np.array, chosen.tolist())
        rows = python.call(point_rows, screen.atlas, every, python.Variable("points"), places)
        python.made("table", None, python.call(PointRows.frame, rows))


def _points_of_file(
    screen: Screen, chosen: Choice, points: Array
) -> tuple[Indices, Array, Indices]:
    """Tokens, their points, and the chosen ones: those drawn, or all that lie in a lasso."""
    atlas = screen.atlas
    size = len(atlas.tokens)
    if chosen.outline is None or chosen.tokens.size == size or screen.projection != "PCA":
        return chosen.tokens, points, chosen.points
    layer, head, stage = chosen.place
    inside = points_inside(atlas.points[stage][layer, head, :, :2], chosen.outline)
    own = atlas.points[screen.stage][screen.layer, screen.head, :, : points.shape[1]]
    return np.arange(size), own.copy(), inside  # not a view that keeps all heads


def _common(atlas: Atlas, inside: Indices) -> pd.DataFrame:
    """The most common tokens, with how many of their points are among the chosen."""
    displays = atlas.tokens.displays
    totals = Counter(displays)
    common = Counter(displays[i] for i in inside).most_common(_COMMON)
    return pd.DataFrame(
        {
            "token": [token for token, _ in common],
            "points": [count for _, count in common],
            "of all": [percent(count / (2 * totals[token])) for token, count in common],
        }
    )
