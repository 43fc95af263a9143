"""The search over the whole corpus: the query, its matches, their dispersion in each head."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from weakref import ref

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from core.atlas import Atlas, search_tokens
from core.atlas.dispersion import MAX_MATCHES, cluster_count, dispersion
from core.atlas.files import AtlasFileError
from core.atlas.search import Matches, SearchError
from core.atlas.search.expression import KINDS, MAX_QUERY, Kind, no_step
from core.atlas.search.patches import IMAGE_KINDS, ImageKind, search_patches
from core.atlas.sources import InMemory, Source, matches_table
from core.figures.palette import Palette
from core.screens.atlas.corpus.noting import points_of
from core.screens.atlas.screen import Screen, Search, open_head
from core.screens.atlas.wording import number, whole
from core.ui import address, controls, python
from core.ui.cache.session import remembered
from core.ui.downloads import contents, offer_csv
from core.ui.frame import find_row
from core.ui.head_maps import show_head_map
from core.ui.serve import turns
from core.ui.serve.progress import UPDATE_SECONDS, Bar
from core.ui.words.messages import escape, quote
from core.ui.words.prose import Prose
from core.vocabulary import Stage, head_name

_KINDS = {
    "token": "a token",
    "substring": "part of a token",
    "phrase": "a phrase",
    "regex": "a regular expression",
    "image": "an image",
    "region": "a region of all images",
    "like": "patches like one",
}
_OF_SENTENCES = ("phrase", "regex")  # which may take long; words are looked up
_line = turns.FifoQueue()  # a search may take a processor for seconds: two would only share it
_CACHED, _ERROR = "_atlas_found", "_atlas_find_error"
_LINKED = "_atlas_search_of_link"  # a link has asked for a search that has not begun
_FROM_LINK = "_atlas_expression_of_link"  # not run until the visitor asks for it
_WAITING = "_atlas_expression_waits"  # in this run of the page
_RUN, _MAX_RUN = "_atlas_expressions_asked", 20  # expressions that this visitor ran
_words = Prose(__file__)
_LISTED = 5  # heads at each end of the list
_ROWS = 100  # matches in the table below the result
_ROWS_SAVED = 20_000  # matches in its file


def draw_search(*, images: bool) -> str:
    """The search box, in the first row: what to look for."""
    if address.asks_for("find") or address.asks_for("kind"):
        st.session_state[_LINKED] = True
    with find_row.place():
        query = controls.text(
            "find",
            "",
            "Find",
            max_chars=MAX_QUERY,
            placeholder=f"Search the corpus, e.g. {'cat' if images else 'she'}",
            label_visibility="collapsed",
        )
        st.button("Find", key="show_text", type="primary", help="Or press Enter.")
    return query.strip()


def find(source: Source, stage: Stage, query: str) -> Search | None:
    """The result of a search; None without one. Draws what counts as a match."""
    atlas = source.sample
    kind = _pick_kind(atlas)
    _mark_link(query, kind)
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
    result = remembered(_CACHED, question, lambda: _search(source, stage, query, kind))
    if isinstance(result, str):
        state[_ERROR] = result
        return None
    _note(result, source, stage, kind)
    return result


def _search(source: Source, stage: Stage, query: str, kind: Kind | ImageKind) -> Search | str:
    """What is found, or why nothing can be."""
    atlas = source.sample
    try:
        with search_turn() if kind in _OF_SENTENCES else nullcontext(no_step) as step:
            everywhere = matches = source.search(query, kind, step)
            if source.facts.tokens > len(atlas.tokens):
                matches = InMemory(atlas).search(query, kind, step)
    except (SearchError, AtlasFileError) as error:
        return str(error)
    spread = dispersion(atlas.points[stage][..., :2], matches.tokens)
    return Search(query, matches, spread, everywhere)


@contextmanager
def search_turn() -> Iterator[Callable[[], None]]:
    """Wait for a turn; gives what the search calls between its steps.

    Streamlit ends a run whose visitor has left, or asked for something else, with an exception
    wherever the run shows something: so words are shown again and again while it waits or works.
    """
    slot = st.empty()
    bar = Bar(lambda _, words: slot.caption(words))
    ticket = _line.join()
    try:
        with turns.long_work():
            while not _line.wait(ticket, UPDATE_SECONDS):
                slot.caption(_describe_wait(_line.ahead(ticket)))
            yield lambda: bar.step(0.0, "Searching the sentences …")
    finally:
        _line.leave(ticket)
    slot.empty()


def _describe_wait(ahead: int) -> str:
    if ahead > 1:
        return f"{ahead} searches are ahead of yours on this server"
    return "Another search is running on this server; yours is next"


def _note(result: Search, source: Source, stage: Stage, kind: Kind | ImageKind) -> None:
    atlas = source.sample
    search = search_tokens if atlas.images is None else search_patches
    matches = python.call(search, atlas, result.query, kind)
    python.made("matches", result.matches, matches)
    if result.everywhere is not result.matches:
        everywhere = python.call(source.search, result.query, kind)
        python.made("everywhere", result.everywhere, everywhere)
    plane = python.call(operator.getitem, points_of(atlas, stage), (..., slice(None, 2)))
    tokens = python.call(getattr, result.matches, "tokens")
    python.made("spread", result.spread, python.call(dispersion, plane, tokens))


def _pick_kind(atlas: Atlas) -> Kind | ImageKind:
    """What counts as a match."""
    kinds: Sequence[Kind | ImageKind] = KINDS if atlas.images is None else IMAGE_KINDS
    return controls.choice(
        "kind",
        kinds,
        "Match what is found as",
        subject="One can search for",
        names=_KINDS.__getitem__,
        menu=True,
        help=_words("kinds_of_texts" if atlas.images is None else "kinds_of_images"),
    )


def _mark_link(query: str, kind: Kind | ImageKind) -> None:
    """Let an expression that a link put into the fields wait until the visitor asks for it.

    It no longer waits once the visitor changes a field, and never if this visitor ran it before:
    the browser's back and forward buttons go through the visitor's own addresses.
    """
    state = st.session_state
    if state.pop(_LINKED, False):
        new = kind == "regex" and query not in state.get(_RUN, ())
        state[_FROM_LINK] = query if new else ""
    elif kind != "regex" or query != state.setdefault(_FROM_LINK, ""):
        state[_FROM_LINK] = ""


def show_result(search: Search | None, source: Source) -> None:
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
    found, facts = search.everywhere, source.facts
    query = quote(search.query)
    if not found.count:
        st.info(f"{query} is not among the {facts.tokens:,} tokens of this corpus.")
        return
    words = f"{query}: **{found.count:,}** match{'es' * (found.count != 1)}"
    where = f"in {found.sentences:,} of {facts.sentences:,} {whole(source.sample)}"
    if found is search.matches:
        of_tokens = f" ({found.indices.size:,} tokens)" * (found.indices.size != found.count)
        st.markdown(f"{words}{of_tokens} {where}. They are drawn large; everything else fades.")
        return
    st.markdown(
        f"{words} {where}, among all {facts.tokens:,} tokens; {search.matches.count:,} of them in"
        f" the sample of {len(source.sample.tokens):,} tokens, which are drawn large."
    )
    _show_matches(found, source)


def _show_matches(found: Matches, source: Source) -> None:
    """The first matches in their sentences, and more of them in a file."""
    with st.expander(f"The first {min(_ROWS, found.indices.size):,} matches in their sentences"):
        st.dataframe(
            matches_table(source, found, _ROWS),
            key="atlas_everywhere",
            hide_index=True,
            height=320,
        )
        name = f"search-{source.facts.tokens}-tokens"
        held = contents("atlas", source.facts.model, name, text=False)
        make = python.later("table", matches_table, source, found, _ROWS_SAVED)
        cut = (
            f" It has the first {_ROWS_SAVED:,} tokens." if found.indices.size > _ROWS_SAVED else ""
        )
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(f"A row is a token that matches, or is a part of a match.{cut}")
            offer_csv(make, held, index=False)


def show_spread(screen: Screen, colours: Palette) -> None:
    """Heads from those where the matches lie together to those where they are scattered."""
    search = screen.search
    if search is None or not np.isfinite(search.spread).any():
        return
    st.header("In which heads do matches cluster?", anchor=False)
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
        matches = search.matches.indices.size
        clusters = cluster_count(matches)
        words = _words("dispersion", matches=matches, clusters=clusters, sample=MAX_MATCHES)
        st.caption(words)


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
