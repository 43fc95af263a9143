"""The search over the whole corpus: the query, its matches, their dispersion in each head."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast
from weakref import ref

import numpy as np
import pandas as pd
import streamlit as st

from core.analysis.atlas import SearchError, search_tokens
from core.analysis.atlas.dispersion import CLUSTERS, MAX_MATCHES, cluster_count, dispersion
from core.analysis.atlas.files import AtlasFileError
from core.analysis.atlas.images.search import IMAGE_KINDS, ImageKind, search_patches
from core.analysis.atlas.search import KINDS, MAX_QUERY, Kind
from core.analysis.layers import head_name
from core.screens.atlas.large.found import show_everywhere
from core.screens.atlas.screen import Search, open_head
from core.screens.atlas.wording import number, whole
from core.ui import address, controls
from core.ui.head_maps import show_head_map
from core.ui.messages import escape, quote

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from streamlit.delta_generator import DeltaGenerator

    from core.analysis.atlas import Atlas, Matches
    from core.analysis.atlas.files import LargeAtlas
    from core.analysis.query_key.clouds import Stage
    from core.figures.palette import Palette
    from core.screens.atlas.screen import Screen

_KINDS = {
    "token": "a token",
    "substring": "part of a token",
    "phrase": "a phrase",
    "regex": "a regular expression",
    "image": "an image",
    "region": "a region of all images",
    "like": "patches like one",
}
_TEXT_HELP = (
    "A phrase is one or more whole words. A regular expression (RE2) reads the text of"
    " each sentence, without special tokens; `\\w` and `\\b` know letters without accents,"
    " `\\pL` is any letter. Case is ignored."
)
_IMAGE_HELP = (
    "An image by its name or a part of it. A region by its corners, as in `r1c1-r4c6`: rows and"
    " columns count from 1. Patches like one by its place and its image, as in `r3c5 cat`: those of"
    " nearly the same mean colour, in any image."
)
_CACHED, _ERROR = "_atlas_found", "_atlas_find_error"
_FROM_LINK = "_atlas_expression_of_link"  # not run until the visitor asks for it
_WAITING = "_atlas_expression_waits"  # in this run of the page
_RUN, _MAX_RUN = "_atlas_expressions_asked", 20  # expressions that this visitor ran
_LISTED = 5  # heads at each end of the list


def find(
    atlas: Atlas, stage: Stage, settings: DeltaGenerator, large: LargeAtlas | None = None
) -> Search | None:
    """The search box and its result; None without a search.

    `settings` has what matches; the `large` atlas that this one is a sample of is searched whole.
    """
    query, kind = _fields(settings, atlas)
    if not query:
        return None
    state = st.session_state
    if kind == "regex":
        if query == state[_FROM_LINK]:
            state[_WAITING] = query
            return None
        others = [other for other in state.get(_RUN, ()) if other != query]
        state[_RUN] = [*others[1 - _MAX_RUN :], query]
    question = (ref(atlas), stage, query, kind)
    if state.get(_CACHED, (None,))[0] != question:
        try:
            matches = _search(atlas, query, kind)
            everywhere = None if large is None else large.search(query, cast("Kind", kind))
            spread = dispersion(atlas.points[stage][..., :2], matches.tokens)
            state[_CACHED] = question, Search(query, matches, spread, everywhere)
        except (SearchError, AtlasFileError) as error:
            state[_CACHED] = question, str(error)
    result: Search | str = state[_CACHED][1]
    if isinstance(result, str):
        state[_ERROR] = result
        return None
    return result


def _search(atlas: Atlas, query: str, kind: Kind | ImageKind) -> Matches:
    if atlas.images is None:
        return search_tokens(atlas, query, cast("Kind", kind))
    return search_patches(atlas, query, cast("ImageKind", kind))


def _fields(settings: DeltaGenerator, atlas: Atlas) -> tuple[str, Kind | ImageKind]:
    """What to look for and how; an expression that comes with a link is marked as such."""
    from_link = address.asks_for("find") or address.asks_for("kind")
    query = controls.text(
        "find",
        "",
        "Find",
        max_chars=MAX_QUERY,
        column=125,
        placeholder="e.g. she" if atlas.images is None else "e.g. cat",
    ).strip()
    with settings:
        kinds: Sequence[Kind | ImageKind] = KINDS if atlas.images is None else IMAGE_KINDS
        kind = controls.choice(
            "kind",
            kinds,
            "Match what is found as",
            subject="One can search for",
            names=_KINDS.__getitem__,
            menu=True,
            help=_TEXT_HELP if atlas.images is None else _IMAGE_HELP,
        )
    _mark_link(query, kind, from_link=from_link)
    return query, kind


def _mark_link(query: str, kind: Kind | ImageKind, *, from_link: bool) -> None:
    """Let an expression that a link put into the fields wait until the visitor asks for it.

    It no longer waits once the visitor changes a field, and never if this visitor ran it before:
    the browser's back and forward buttons go through the visitor's own addresses.
    """
    state = st.session_state
    if from_link:
        new = kind == "regex" and query not in state.get(_RUN, ())
        state[_FROM_LINK] = query if new else ""
    elif kind != "regex" or query != state.setdefault(_FROM_LINK, ""):
        state[_FROM_LINK] = ""


def show_result(search: Search | None, atlas: Atlas, large: LargeAtlas | None = None) -> None:
    """How much was found, why the search failed, or which expression is waiting."""
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
            st.button(
                "Search",
                key="atlas_search",
                on_click=st.session_state.update,
                kwargs={_FROM_LINK: ""},
            )
    if search is None:
        return
    if large is not None and search.everywhere is not None:
        show_everywhere(search, search.everywhere, large)
        return
    matches = search.matches
    if not matches.count:
        st.info(
            f"{quote(search.query)} is not among the {len(atlas.tokens):,} tokens of this corpus."
        )
        return
    tokens = int(matches.tokens.sum())
    token_note = f" ({tokens:,} tokens)" if tokens != matches.count else ""
    st.markdown(
        f"{quote(search.query)}: **{matches.count:,}** match{'es' * (matches.count != 1)}"
        f"{token_note} in {matches.sentences:,} of {len(atlas.sentences):,} {whole(atlas)}."
        " They are drawn large; everything else fades."
    )


def show_spread(screen: Screen, colours: Palette) -> None:
    """Heads from those where the matches lie together to those where they are scattered."""
    search = screen.search
    if search is None or not np.isfinite(search.spread).any():
        return
    st.header("Where do they lie together?", anchor=False)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        show_head_map(
            screen.atlas,
            search.spread,
            "dispersion",
            colours,
            key="atlas_spread",
            on_open=open_head,
            title="dispersion",
            reverse=True,
        )
    with right:
        st.dataframe(_table(screen.atlas, search.spread), key="atlas_spread_table", hide_index=True)
        st.caption(
            f"Dispersion: mean distance of a match to {_centres(int(search.matches.tokens.sum()))},"
            " divided by the same for as many random tokens, in the plane of the first two"
            " components. Near 0 the matches lie together: the head looks at **what** a token is."
            " Near 1 they are scattered: it looks at something else, such as **where** it is."
        )


def _centres(matches: int) -> str:
    """What distances were measured from, for this many matches."""
    if cluster_count(matches) == 1:
        return f"the mean of all {matches} (too few for clusters)"
    sample = f" of {MAX_MATCHES} drawn from the {matches:,}" if matches > MAX_MATCHES else ""
    return f"the nearest of {CLUSTERS} k-means centres{sample}"


def _table(atlas: Atlas, spread: NDArray[np.float64]) -> pd.DataFrame:
    order = [int(i) for i in np.argsort(spread, axis=None) if np.isfinite(spread.flat[i])]
    together, rest = order[:_LISTED], order[_LISTED:]
    listed = [*together, *rest[-_LISTED:]]
    return pd.DataFrame(
        {
            "head": [head_name(atlas, *divmod(i, spread.shape[1])) for i in listed],
            "dispersion": [float(number(float(spread.flat[i]))) for i in listed],
            "lies": ["together" if i in together else "scattered" for i in listed],
        }
    )
