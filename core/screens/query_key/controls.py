"""The controls of the query-key page: the common ones in the row, the rest behind a button."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import streamlit as st

from core.analysis.images.points import OF_PATCHES, PATCH_COLOURINGS
from core.analysis.normalization import NOTEBOOK_RANGE, SearchRange
from core.analysis.query_key.correlation import Distance, Measure
from core.screens.query_key.choice import has_looks
from core.screens.query_key.wording import CRITERIA, DASHED, DISTANCES, RED_RULE
from core.ui import address, controls
from core.ui.current import found_head
from core.ui.words.labels import hide_special
from core.ui.words.prose import Prose
from core.vocabulary import STAGES, labels_of

if TYPE_CHECKING:
    from core.model import Trace

_words = Prose(__file__)
ALL_THREE, SPACE = "all three", "PCA 3-D"
CLOUD_VIEWS = ("PCA", SPACE, "UMAP", "t-SNE")
_CHOSEN_FOR = "_chosen_for"


class PictureOptions(NamedTuple):
    """What the picture shows, and how.

    `stage` is a head's stage or ``ALL_THREE``, `projection` one of ``CLOUD_VIEWS``, `points` the
    names of queries, then keys, in links, `point` the pinned one; `shown` and `shown_keys` are the
    positions drawn.
    """

    stage: str
    projection: str
    colouring: str
    points: list[str]
    point: int | None
    shown: list[int]
    shown_keys: list[int]


def search_range(*, drawn: bool) -> SearchRange:
    """The range of the notebook's search; fields for it are only in that part."""
    labels = ("a from − to +", "c from − to +", "Steps of each") if drawn else ("", "", "")
    a, c, steps = NOTEBOOK_RANGE
    return SearchRange(
        controls.number("a_range", 0.01, 100.0, a, labels[0], width=122, optional=True, step=0.5),
        controls.number("c_range", 0.1, 100.0, c, labels[1], width=122, optional=True, step=0.5),
        controls.number("steps", 2, 60, steps, labels[2], width=116, optional=True),
    )


def chosen_tokens(trace: Trace, *, drawn: bool) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Positions of the chosen sources and targets.

    The choice is reset for another text, in which positions mean nothing.
    """
    state, sides = st.session_state, (trace.tokens, trace.key_tokens)
    text = (trace.model, trace.attention_type, *(token.text for side in sides for token in side))
    if state.get(_CHOSEN_FOR) not in {None, text}:
        for key in ("from", "to", "point"):
            state.pop(key, None)
    if state.get(_CHOSEN_FOR) != text and not (address.asks_for("from") or address.asks_for("to")):
        link = found_head(trace)  # the pair that Home names
        state["from"], state["to"] = ([link.query + 1], [link.key + 1]) if link else ([], [])
    state[_CHOSEN_FOR] = text
    with st.container(horizontal=True, vertical_alignment="bottom"):
        sources = _pick_ends("from", "Red lines from" if drawn else "", labels_of(trace.tokens))
        targets = _pick_ends("to", "to" if drawn else "", labels_of(trace.key_tokens))
    return sources, targets


def _pick_ends(key: str, label: str, labels: Sequence[str]) -> tuple[int, ...]:
    """Pick the tokens that red lines may start from, or lead to."""
    names = dict(enumerate(labels, 1))
    picked = controls.tokens(
        key,
        list(names),
        label,
        names=names.__getitem__,
        placeholder="no token",
        width=172,
        help=f"{RED_RULE}. {DASHED}",
    )
    return tuple(position - 1 for position in picked)


def pick_measure(*, drawn: bool) -> tuple[Distance, Measure]:
    """The distance between a query and a key, and the criterion that picks the scale c."""
    distance = controls.choice(
        "distance",
        DISTANCES,
        "Distance" if drawn else "",
        subject="The distances are",
        menu=True,
        width=150,
        help=_words("distance"),
    )
    criterion = controls.choice(
        "criterion",
        CRITERIA,
        "Pick the scale c by" if drawn else "",
        subject="The criteria are",
        menu=True,
        width=205,
        help=_words("criterion"),
    )
    return distance, criterion


def pick_stage(trace: Trace) -> tuple[str, str]:
    """Pick the stage, and what colours show."""
    stage = controls.choice(
        "stage",
        [ALL_THREE, *STAGES],
        "Stage",
        subject="The stages are",
        menu=True,
        width=118,
        help=_words("which_stage"),
    )
    colouring = controls.choice(
        "colour",
        OF_PATCHES | PATCH_COLOURINGS if has_looks(trace) else PATCH_COLOURINGS,
        "Colour by",
        subject="Colours can show",
        default="type",
        menu=True,
        width=125,
    )
    return stage, colouring


def pick_look(trace: Trace, stage: str, colouring: str) -> PictureOptions:
    """Pick the projection, and whether special tokens are drawn: by default only in a text."""
    projection = controls.choice(
        "projection",
        CLOUD_VIEWS,
        "Projection",
        subject="The projections are",
        menu=True,
        width=120,
    )
    sides = (("q", trace.tokens), ("k", trace.key_tokens))
    points = [f"{kind}{i + 1}" for kind, tokens in sides for i in range(len(tokens))]
    point = controls.choice("point", ["", *points], subject="Points are", optional=True)
    hide = controls.flag("hide", hide_special(trace), default=has_looks(trace))
    shown, shown_keys = (
        [token.position for token in tokens if not (hide and token.special)] for _, tokens in sides
    )
    pinned = points.index(point) if point else None
    return PictureOptions(stage, projection, colouring, points, pinned, shown, shown_keys)
