"""The search over the whole corpus: what is typed, what is found, how it is spread in each head."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import ref

import numpy as np
import pandas as pd
import streamlit as st

from core.analysis.atlas import SearchError, search_tokens
from core.analysis.atlas.dispersion import CLUSTERS, MAX_MATCHES, clusters_of, dispersion
from core.analysis.atlas.search import KINDS, MAX_QUERY, Kind
from core.screens.atlas.screen import Found, open_head
from core.screens.atlas.wording import number
from core.ui import address, controls
from core.ui.head_maps import show_head_map
from core.ui.messages import escape, quote

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from core.analysis.atlas import Atlas
    from core.analysis.query_key.clouds import Stage
    from core.figures.palette import Palette
    from core.screens.atlas.screen import Screen

_KINDS = {
    "token": "a token",
    "substring": "part of a token",
    "phrase": "a phrase",
    "regex": "a regular expression",
}
_KEPT, _ERROR = "_atlas_found", "_atlas_find_error"
_OF_LINK = "_atlas_expression_of_link"  # not run until the visitor asks for it
_WAITING = "_atlas_expression_waits"  # in this run of the page
_ASKED, _MOST_ASKED = "_atlas_expressions_asked", 20  # that this visitor ran
_LISTED = 5  # heads at each end of the list


def ask(atlas: Atlas, stage: Stage) -> Found | None:
    """The search box; what it found, or None where nothing is searched for."""
    query, kind = _fields()
    if not query:
        return None
    if kind == "regex":
        if query == st.session_state[_OF_LINK]:
            st.session_state[_WAITING] = query
            return None
        _note_asked(query)
    of = (ref(atlas), stage, query, kind)
    kept = st.session_state.get(_KEPT)
    if kept is not None and kept[0] == of:
        found: Found | str = kept[1]
    else:
        try:
            matches = search_tokens(atlas, query, kind)
            found = Found(query, matches, dispersion(atlas.points[stage][..., :2], matches.tokens))
        except SearchError as error:
            found = str(error)
        st.session_state[_KEPT] = of, found
    if isinstance(found, str):
        st.session_state[_ERROR] = found
        return None
    return found


def _fields() -> tuple[str, Kind]:
    """What is looked for and how, from the link at first; an expression of a link is marked."""
    came = address.asks_for("find") or address.asks_for("kind")
    query = controls.text(
        "find",
        "",
        "Find",
        max_chars=MAX_QUERY,
        column=150,
        placeholder="a word, e.g. she",
    ).strip()
    kind = controls.choice(
        "kind",
        KINDS,
        "as",
        subject="One can search for",
        names=_KINDS.__getitem__,
        menu=True,
        width=150,
        help="A phrase is of whole words, which may be of several tokens. A regular expression"
        " (RE2) reads the text of each sentence, without special tokens; `\\w` and `\\b` know"
        " letters without accents, `\\pL` is any letter. Case never matters.",
    )
    _mark_link(query, kind, came=came)
    return query, kind


def _mark_link(query: str, kind: Kind, *, came: bool) -> None:
    """A link fills the fields in; an expression in them waits until the visitor asks for it.

    It no longer waits once the visitor changes a field, and never if this visitor ran it before:
    back and forward go through addresses of one's own.
    """
    state = st.session_state
    if came:
        fresh = kind == "regex" and query not in state.get(_ASKED, ())
        state[_OF_LINK] = query if fresh else ""
    elif kind != "regex" or query != state.setdefault(_OF_LINK, ""):
        state[_OF_LINK] = ""


def _note_asked(query: str) -> None:
    asked = [other for other in st.session_state.get(_ASKED, ()) if other != query]
    st.session_state[_ASKED] = [*asked[1 - _MOST_ASKED :], query]


def _run_of_link() -> None:
    st.session_state[_OF_LINK] = ""


def tell(found: Found | None, atlas: Atlas) -> None:
    """How much was found, why nothing could be, or what waits to be searched for."""
    error = st.session_state.pop(_ERROR, None)
    if error:
        st.warning(escape(error))
    waiting = st.session_state.pop(_WAITING, None)
    if waiting:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(
                f"The expression {quote(waiting)} came with the link and was not run.",
                width="content",
            )
            st.button("Search", key="atlas_search", on_click=_run_of_link)
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
        show_head_map(
            spread,
            "dispersion",
            colours,
            key="atlas_spread",
            on_open=open_head,
            title="dispersion",
            reverse=True,
        )
    with right:
        st.dataframe(_table(spread), key="atlas_spread_table", hide_index=True)
        st.caption(
            f"Dispersion: mean distance of a match to {_centres(int(found.matches.tokens.sum()))},"
            " over the same for as many random tokens, in the plane of the first two components."
            " Near 0 the matches lie together: the head looks at **what** a token is. Near 1 they"
            " are scattered: it looks at something else, such as **where** it stands."
        )


def _centres(matches: int) -> str:
    """What distances were measured to, for so many matches."""
    if clusters_of(matches) == 1:
        return f"the middle of all {matches} (too few for clusters)"
    drawn = f" of {MAX_MATCHES} drawn from the {matches:,}" if matches > MAX_MATCHES else ""
    return f"the nearest of {CLUSTERS} k-means centres{drawn}"


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
