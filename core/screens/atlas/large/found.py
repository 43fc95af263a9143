"""What a search found among all tokens of a large atlas."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from core.ui.downloads import contents, csv_later, offer_file
from core.ui.messages import quote

if TYPE_CHECKING:
    from core.analysis.atlas.files import LargeAtlas
    from core.analysis.atlas.search_parts import PartMatches
    from core.screens.atlas.screen import Search

LISTED = 100  # matches in the table below the result
SAVED = 20_000  # matches in its file


def show_everywhere(search: Search, found: PartMatches, large: LargeAtlas) -> None:
    """How much was found in all of the corpus and in its sample, and where."""
    tokens = large.facts.tokens
    if not found.count:
        st.info(f"{quote(search.query)} is not among the {tokens:,} tokens of this corpus.")
        return
    sampled = search.matches.count
    st.markdown(
        f"{quote(search.query)}: **{found.count:,}** match{'es' * (found.count != 1)} in"
        f" {found.sentences:,} of {large.facts.sentences:,} sentences, among all {tokens:,} tokens;"
        f" {sampled:,} of them in the sample of {len(large.sample.tokens):,} tokens, which are"
        " drawn large."
    )
    with st.expander(f"The first {min(LISTED, found.tokens.size):,} matches in their sentences"):
        st.dataframe(
            _table(large, found, LISTED), key="atlas_everywhere", hide_index=True, height=320
        )
        held = contents("atlas", large.facts.model, f"search-{tokens}-tokens", text=False)
        make = partial(_table, large, found, SAVED)
        cut = f" It has the first {SAVED:,} tokens." if found.tokens.size > SAVED else ""
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(f"A row is a token that matches, or is a part of a match.{cut}")
            offer_file("CSV", csv_later(make, held, index=False), held, ".csv")


def _table(large: LargeAtlas, found: PartMatches, rows: int) -> pd.DataFrame:
    tokens = large.tokens_at(found.tokens[:rows])
    return pd.DataFrame(
        {
            "token": tokens.displays,
            "position": tokens.position + 1,
            "sentence": tokens.sentence + 1,
            "text": large.sentences_at(tokens.sentence),
        }
    )
