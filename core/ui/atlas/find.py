"""The search over the whole corpus: what is typed, what is found, how it is spread in each head."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import ref

import numpy as np
import pandas as pd
import streamlit as st

from core.analysis.atlas import Matches, SearchError, search_tokens
from core.analysis.atlas.dispersion import CLUSTERS, dispersion
from core.analysis.atlas.search import KINDS, LONGEST_QUERY
from core.figures.head_map import head_map
from core.ui import address
from core.ui.atlas.screen import open_head
from core.ui.atlas.wording import number
from core.ui.messages import escape, quote

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from core.analysis.atlas import Atlas
    from core.analysis.clouds import Stage
    from core.figures.palette import Palette
    from core.ui.atlas.screen import Screen

_KINDS = {
    "token": "a token",
    "substring": "part of a token",
    "phrase": "a phrase",
    "regex": "a regular expression",
}
_KEPT = "_atlas_found"
_LISTED = 5  # heads at each end of the list


@dataclass(frozen=True, eq=False)
class Found:
    """What was found, and how it is spread in each head's plane of components, (layer, head)."""

    query: str
    matches: Matches
    spread: NDArray[np.float64]


def ask(atlas: Atlas, stage: Stage) -> Found | None:
    """The search box; what it found, or None where nothing is searched for."""
    address.restore_text("find", "")
    address.restore_choice("kind", list(KINDS), "token", "One can search for")
    with st.container(width=150):
        st.text_input(
            "Find",
            key="find",
            max_chars=LONGEST_QUERY,
            placeholder="a word, e.g. she",
            persist_state="session",
        )
    with st.container(width=150):
        st.selectbox(
            "as",
            list(KINDS),
            key="kind",
            format_func=_KINDS.__getitem__,
            persist_state="session",
            help="A phrase is of whole words, which may be of several tokens. A regular expression"
            " reads the text of each sentence, without special tokens. Case never matters.",
        )
    query = st.session_state["find"].strip()
    if not query:
        return None
    of = (ref(atlas), stage, query, st.session_state["kind"])
    kept = st.session_state.get(_KEPT)
    if kept is not None and kept[0] == of:
        found: Found | str = kept[1]
    else:
        try:
            matches = search_tokens(atlas, query, st.session_state["kind"])
            found = Found(query, matches, dispersion(atlas.points[stage][..., :2], matches.tokens))
        except SearchError as error:
            found = str(error)
        st.session_state[_KEPT] = of, found
    if isinstance(found, str):
        st.session_state["_atlas_find_error"] = found
        return None
    return found


def tell(found: Found | None, atlas: Atlas) -> None:
    """How much was found, or why nothing could be."""
    error = st.session_state.pop("_atlas_find_error", None)
    if error:
        st.warning(escape(error))
    if found is None:
        return
    matches = found.matches
    if not matches.count:
        st.info(
            f"{quote(found.query)} is not among the {len(atlas.tokens):,} tokens of this corpus."
        )
        return
    tokens = int(matches.tokens.sum())
    several = f" ({tokens:,} tokens)" if tokens != matches.count else ""
    st.markdown(
        f"{quote(found.query)}: **{matches.count:,}** match{'es' * (matches.count != 1)}{several}"
        f" in {matches.sentences:,} of {len(atlas.sentences):,} sentences. They are drawn large;"
        " all else fades."
    )


def show_spread(screen: Screen, colours: Palette) -> None:
    """Heads from those where the matches lie together to those where they are scattered."""
    found = screen.found
    if found is None or not np.isfinite(found.spread).any():
        return
    st.subheader("Where do they lie together?", anchor=False)
    left, right = st.columns([3, 2], gap="medium")
    spread = found.spread
    with left:
        st.plotly_chart(
            head_map(
                spread, "dispersion", colours, bounds=(0.0, 1.0), title="dispersion", reverse=True
            ),
            key="atlas_spread",
            on_select=_open_clicked,
            selection_mode="points",
            config={"displayModeBar": False},
        )
    with right:
        st.dataframe(_table(spread), key="atlas_spread_table", hide_index=True)
        st.caption(
            f"Dispersion: mean distance of a match to the nearest of {CLUSTERS} cluster centres,"
            " over the same for as many random tokens, in the plane of the first two components."
            " Near 0 the matches lie together: the head looks at **what** a token is. Near 1 they"
            " are scattered: it looks at something else, such as **where** it stands."
        )


def _table(spread: NDArray[np.float64]) -> pd.DataFrame:
    heads = spread.shape[1]
    known = [int(i) for i in np.argsort(spread, axis=None) if np.isfinite(spread.flat[i])]
    shown = known if len(known) <= 2 * _LISTED else [*known[:_LISTED], *known[-_LISTED:]]
    return pd.DataFrame(
        {
            "head": [f"L{i // heads + 1} H{i % heads + 1}" for i in shown],
            "dispersion": [float(number(float(spread.flat[i]))) for i in shown],
            "lies": ["together" if i in known[:_LISTED] else "scattered" for i in shown],
        }
    )


def _open_clicked() -> None:
    points = st.session_state["atlas_spread"].selection.points
    if points:
        open_head(int(points[0]["y"]) - 1, int(points[0]["x"]) - 1)
