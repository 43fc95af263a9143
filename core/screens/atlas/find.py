"""The search over the whole corpus: the query and its matches."""

from __future__ import annotations

from weakref import ref

import streamlit as st

from core.atlas.source import MATCH_KINDS, MAX_QUERY, MatchKind, SearchError, Source
from core.records import RecordError
from core.screens.atlas.screen import TokenSearch
from core.screens.atlas.wording import whole
from core.ui import controls
from core.ui.cache import remembered
from core.ui.frame import first_row
from core.ui.words.messages import escape, quote
from core.ui.words.prose import Prose

_KINDS = {
    "token": "a token",
    "substring": "part of a token",
    "phrase": "a phrase",
}
_CACHED = "_atlas_found"
_words = Prose(__file__)
_ROWS = 100  # matches in the table below the result, which has a button to save it


def draw_search(*, images: bool) -> str:
    """Draw the search box in the first row."""
    with first_row.place_of_search():
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


def find_tokens(source: Source, query: str) -> TokenSearch | str | None:
    """The matches, or why the search failed; None without a query. Draws the match options."""
    atlas = source.sample
    kind: MatchKind = "token"
    if atlas.images is None:
        kind = controls.choice(
            "kind",
            MATCH_KINDS,
            "Match what is found as",
            subject="One can search for",
            names=_KINDS.__getitem__,
            menu=True,
            help=_words("kinds"),
        )
    if not query:
        return None
    question = (ref(atlas), query, kind)
    return remembered(_CACHED, question, lambda: _search(source, query, kind))


def _search(source: Source, query: str, kind: MatchKind) -> TokenSearch | str:
    """The matches, or why the search failed."""
    try:
        everywhere = matches = source.search(query, kind)
        if everywhere.size > len(source.sample.tokens):
            matches = Source(source.sample).search(query, kind)
    except (SearchError, RecordError) as error:
        return str(error)
    return TokenSearch(query, matches, everywhere)


def show_result(search: TokenSearch | str | None, source: Source) -> None:
    """Show how many tokens match, or why the search failed."""
    if search is None:
        return
    if isinstance(search, str):
        st.warning(escape(search))
        return
    hits = search.everywhere
    query = quote(search.query)
    if not hits.count:
        st.info(f"{query} is not among the {hits.size:,} tokens of this corpus.")
        return
    where = f"in {hits.sentences:,} of {source.sample.corpus_size[1]:,} {whole(source.sample)}"
    st.markdown(
        f"{query}: **{hits.count:,}** match{'es' * (hits.count != 1)} {where}; drawn large:"
        f" {search.matches.indices.size:,} tokens."
    )
    if source.groups:
        rows = min(_ROWS, hits.indices.size)
        with st.expander(f"The first {rows:,} matches in their sentences"):
            table = source.table(hits, _ROWS)
            st.dataframe(table, key="atlas_everywhere", hide_index=True, height=320)
            st.caption("A row is a token that matches, or is a part of a match.")
